import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { placed, readYaml, type YamlFile } from "../config/yaml-file.ts";
import type { Contract } from "../core/contract.ts";
import { lintContract } from "../core/contract-lint.ts";
import { parseContract } from "../core/contract-parse.ts";
import { promise } from "../core/contract-promise.ts";
import { Problem } from "../core/problem.ts";
import type { Context } from "./context.ts";
import { EXIT, type ExitCode, Stop } from "./exit.ts";
import { wrapped } from "./print.ts";

interface Complaint {
  /** `file:line:column`. */
  readonly place: string;
  readonly rule: string;
  readonly says: string;
}

/** `writ contract lint`: what each contract says against itself, with its line and what mends it. */
export function contractLint({ screen }: Context, names: readonly string[]): ExitCode {
  const results = orPresets(names).map((name) => {
    const opened = open(name);
    return { file: opened.path, complaints: complaintsOf(opened) };
  });
  const complaints = results.flatMap((result) => result.complaints);
  if (!screen.machine(screen.format === "jsonl" ? complaints : results)) {
    for (const { file, complaints: found } of results) {
      if (found.length === 0) screen.data(`${screen.paint.green("ok")}    ${file}`);
      for (const { place, rule, says } of found)
        screen.data(`${screen.paint.red("wrong")} ${place}  ${says}  ${screen.paint.dim(rule)}`);
    }
  }
  return complaints.length === 0 ? EXIT.ok : EXIT.error;
}

/** `writ contract explain`: what people may rely on, and what not. */
export function contractExplain({ screen }: Context, names: readonly string[]): ExitCode {
  const told = orPresets(names).map((name) => {
    const contract = contractOf(open(name).file);
    if (!("contract" in contract)) throw new Stop(EXIT.error, `${contract.place}: ${contract.says}`);
    return { contract: contract.contract, promise: promise(contract) };
  });
  const [first, ...more] = told;
  if (screen.machine(more.length === 0 && first !== undefined ? first : told)) return EXIT.ok;
  for (const { contract, promise: sentences } of told) {
    screen.data(screen.paint.bold(contract));
    for (const sentence of sentences)
      wrapped(sentence, screen.width - 4).forEach((text, index) =>
        screen.data(index === 0 ? `  · ${text}` : `    ${text}`),
      );
  }
  return EXIT.ok;
}

function orPresets(names: readonly string[]): readonly string[] {
  if (names.length > 0) return names;
  return readdirSync(PRESETS, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => `presets/${name.replaceAll("\\", "/").replace(/\.yaml$/, "")}`)
    .sort();
}

interface Opened {
  readonly path: string;
  readonly file: YamlFile | Complaint;
}

const PRESETS = fileURLToPath(new URL("../../presets/", import.meta.url));

/** A file, or one of the contracts that come with Writ: `presets/http/idempotency-key`. */
function open(name: string): Opened {
  const preset = `${PRESETS}${name.replace(/^presets\//, "").replace(/\.yaml$/, "")}.yaml`;
  const path = existsSync(name) ? name : preset;
  if (!existsSync(path))
    throw new Stop(EXIT.usage, `there is no contract "${name}": neither a file nor one of presets/`);
  try {
    return { path, file: readYaml(path, path) };
  } catch (error) {
    return { path, file: complaintOf(error, "yaml", path) };
  }
}

function complaintsOf({ path, file }: Opened): readonly Complaint[] {
  const contract = contractOf(file);
  if (!("contract" in contract)) return [contract];
  return lintContract(contract).map(({ rule, at, says }) => ({
    place: "placeOf" in file ? file.placeOf(at) : path,
    rule,
    says,
  }));
}

function contractOf(file: YamlFile | Complaint): Contract | Complaint {
  if (!("placeOf" in file)) return file;
  try {
    return placed(file, () => parseContract(file.written.value));
  } catch (error) {
    return complaintOf(error, "form", file.name);
  }
}

/** A mistake of the file as the reader words it: its place, a colon, and what mends it. */
function complaintOf(error: unknown, rule: string, path: string): Complaint {
  if (!(error instanceof Problem)) throw error;
  const place = error.details.at ?? path;
  return { place, rule, says: error.message.replace(`${place}: `, "") };
}
