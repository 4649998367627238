import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Installation, installationOf } from "./config/installation.ts";
import { unknownName } from "./config/member.ts";
import type { ForeignKind } from "./config/provider.ts";
import type { Surroundings } from "./config/secret.ts";
import { refuseTwice, toolOf } from "./config/tool-file.ts";
import { mistake, placed, readYaml, type YamlFile } from "./config/yaml-file.ts";
import { Problem } from "./core/problem.ts";
import type { Tool } from "./core/tool.ts";
import { TRANSPORTS } from "./core/transport.ts";

/** A whole configuration, checked; there is no half of one. It holds secrets: never printed, logged or answered. */
export interface Configuration extends Installation {
  /** Absolute. */
  readonly folder: string;
  readonly tools: readonly Tool[];
  /** The texts of `policies/`, in the order of their names. */
  readonly policies: readonly { readonly name: string; readonly text: string }[];
}

export type { ProviderConfiguration, SettingsByTransport } from "./config/provider.ts";
export type { HttpProvider } from "./config/provider-http.ts";

const TOOLS_MAX = 1_000;

/**
 * Reads a configuration folder. Throws one `invalid` Problem whose message is `file:line:column: the sentence that mends it`, or
 * `VARIABLE: …` for a mistake in the environment. Secrets are read now, and shown nowhere. `foreign` are kinds of connectors that somebody
 * else defined (`defineConnector`).
 */
export function loadConfiguration(
  folder: string,
  environment: Surroundings["environment"],
  foreign: readonly ForeignKind[] = [],
): Configuration {
  const around: Surroundings = { folder: resolve(folder), environment };
  const file = fileIn(around.folder, "writ.yaml");
  const installation = placed(file, () => installationOf(file.written, around, foreign));
  refuseTakenKinds(foreign);
  const others = Object.fromEntries(foreign.map(({ kind, transport }) => [kind, transport]));
  const transports = { ...TRANSPORTS, ...others };
  const shelf = { folder: around.folder, providers: installation.providers, transports };
  const tools = toolFiles(around.folder).map((each) => ({
    file: each,
    tool: placed(each, () => toolOf(each, shelf)),
  }));
  refuseTwice(tools);
  refuseUnknownTools(
    file,
    installation,
    tools.map(({ tool }) => tool.name),
  );
  const policies = policyFiles(around.folder);
  return { ...installation, folder: around.folder, tools: tools.map(({ tool }) => tool), policies };
}

const POLICIES_MAX = 500;

/** What they say is checked where the tools are known. */
function policyFiles(folder: string): Configuration["policies"] {
  const path = join(folder, "policies");
  if (!existsSync(path)) return [];
  const names = readdirSync(path)
    .sort()
    .filter((name) => !name.startsWith("."));
  const odd = names.find((name) => !name.endsWith(".cedar"));
  if (odd !== undefined)
    throw mistake(
      `policies/${odd}:1:1`,
      "what stands in policies/ is Cedar and ends in .cedar; move or rename this one",
    );
  if (names.length > POLICIES_MAX) throw mistake("policies:1:1", `there are more than ${POLICIES_MAX} files`);
  return names.map((name) => ({
    name: `policies/${name}`,
    text: textIn(join(path, name), `policies/${name}`),
  }));
}

function textIn(path: string, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch {
    throw mistake(`${name}:1:1`, "it is no text in UTF-8 that can be read");
  }
}

/** A name that Writ's own transports have would take their proofs and rules away. */
function refuseTakenKinds(foreign: readonly ForeignKind[]): void {
  const names = foreign.map(({ kind }) => kind);
  const taken = names.find((name, index) => Object.hasOwn(TRANSPORTS, name) || names.indexOf(name) !== index);
  if (taken !== undefined)
    throw new Problem(
      "invalid",
      `there is a kind of connector named ${taken} already; define it under another name`,
    );
}

/** An empty file and no file say the same: every setting has its default. */
function fileIn(folder: string, name: string): YamlFile {
  const path = join(folder, name);
  const none: YamlFile = { name, written: { value: {}, at: "" }, placeOf: () => `${name}:1:1` };
  if (!existsSync(path)) return none;
  const file = readYaml(path, name);
  return file.written.value === null ? none : file;
}

function toolFiles(folder: string): readonly YamlFile[] {
  const path = join(folder, "tools");
  if (!existsSync(path)) return [];
  const names = readdirSync(path).sort();
  const odd = names.find((name) => !name.startsWith(".") && !name.endsWith(".yaml"));
  if (odd !== undefined)
    throw mistake(
      `tools/${odd}:1:1`,
      "what stands in tools/ is a tool's file and ends in .yaml; move or rename this one",
    );
  const files = names.filter((name) => name.endsWith(".yaml") && !name.startsWith("."));
  if (files.length > TOOLS_MAX) throw mistake("tools:1:1", `there are more than ${TOOLS_MAX} tools`);
  return files.map((name) => readYaml(join(path, name), `tools/${name}`));
}

/** A role that may use a tool which nobody offers is a slip of the finger. */
function refuseUnknownTools(file: YamlFile, { roles }: Installation, tools: readonly string[]): void {
  for (const [role, patterns] of Object.entries(roles)) {
    for (const [index, pattern] of patterns.entries()) {
      if (!pattern.endsWith("*") && !tools.includes(pattern))
        throw mistake(file.placeOf(`/roles/${role}/${index}`), unknownName(pattern, tools));
    }
  }
}
