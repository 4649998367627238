import { schemaValidator } from "../catalog/schema.ts";
import type { Contract } from "../core/contract.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import { variablesIn } from "../core/template.ts";
import type { ResourceRule, Tool } from "../core/tool.ts";
import { LEDGER, type Transports } from "../core/transport.ts";
import { choiceOf, itemsOf, objectOf, positiveOf, refuse, textOf, type Written } from "../core/written.ts";
import { contractOf } from "./contract-source.ts";
import { limitsOf } from "./limit.ts";
import { flagOf, orDefault, settingsOf, unknownName } from "./member.ts";
import { type ProviderConfiguration, spokenBy } from "./provider.ts";
import type { CommonSettings } from "./provider-common.ts";
import { TOOL } from "./tool-settings.ts";
import type { YamlFile } from "./yaml-file.ts";

/** What a tool's file may refer to. */
export interface Shelf {
  readonly folder: string;
  readonly providers: Readonly<Record<string, ProviderConfiguration>>;
  readonly transports: Transports;
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/;
const NAME_MAX = 128;
/** Surfaces offer these beside a tool's own arguments. */
const TAKEN = ["expectedVersion", "intent"];

/** One tool, whole and checked against what it refers to. */
export function toolOf(file: YamlFile, shelf: Shelf): Tool {
  const { written } = file;
  const given = settingsOf(written, TOOL, "");
  const {
    tool = written,
    title = written,
    description,
    provider = written,
    input = written,
    resource = written,
    sql,
    contract = written,
  } = given;
  const by = <
    Name extends "expectedVersion" | "permissionFor" | "reviewFor" | "autonomy" | "lookalikes" | "intentKey",
  >(
    name: Name,
  ) => orDefault(given[name], TOOL[name].default, `/${name}`);
  const settings = providerNamed(provider, shelf);
  const terms = contractOf(contract, file, shelf);
  const statements = statementsOf(sql, settings, written);
  fits(contract, terms, settings);
  const permissionForMs = positiveOf(by("permissionFor"));
  refuseShortPermission(by("permissionFor"), permissionForMs, terms);
  return {
    name: nameOf(tool),
    title: textOf(title),
    ...(description === undefined ? {} : { description: textOf(description) }),
    provider: textOf(provider),
    input: schemaOf(input),
    resource: resourceOf(resource, objectOf(input)),
    expectedVersion: choiceOf(by("expectedVersion"), ["required", "optional", "none"]),
    ...(statements === undefined ? {} : { sql: statements }),
    contract: terms,
    ...(given.limits === undefined ? {} : { limits: limitsOf(given.limits, objectOf(input)) }),
    permissionForMs,
    reviewForMs: positiveOf(by("reviewFor")),
    autonomy: choiceOf(by("autonomy"), ["drilled", "allowed", "never"]),
    lookalikes: choiceOf(by("lookalikes"), ["principal", "tenant", "off"]),
    intentKey: choiceOf(by("intentKey"), ["required", "optional"]),
    reversible: reversibleOf(given.approval),
    ...(given.probe === undefined ? {} : { probe: scratchOf(given.probe) }),
  };
}

/** The send gate wants the whole request to end within the permission: a shorter one permits nothing. */
function refuseShortPermission(
  written: Written,
  forMs: number,
  { maxPauseMs, requestLifeMs }: Contract,
): void {
  if (forMs <= maxPauseMs + requestLifeMs)
    refuse(
      written,
      `a permission must last longer than one request may (the contract's maxPause + requestLife = ${maxPauseMs + requestLifeMs} ms), or nothing is ever sent`,
    );
}

function nameOf(written: Written): string {
  const name = textOf(written);
  if (!NAME.test(name) || name.length > NAME_MAX)
    refuse(
      written,
      "write a name such as inventory.set_available: letters, digits, - and _, in parts divided by dots",
    );
  if (name.startsWith("writ.")) refuse(written, "names that begin with writ. are Writ's own");
  return name;
}

function providerNamed(written: Written, { providers }: Shelf): ProviderConfiguration {
  const name = textOf(written);
  const found = Object.hasOwn(providers, name) ? providers[name] : undefined;
  return found ?? refuse(written, unknownName(name, Object.keys(providers)));
}

function schemaOf(written: Written): JsonObject {
  const schema = objectOf(written);
  if (schema.type !== "object") refuse(written, "the arguments are an object: write type: object");
  const taken = TAKEN.find((name) => Object.hasOwn(propertiesOf(schema), name));
  if (taken !== undefined)
    refuse(
      { value: null, at: `${written.at}/properties/${taken}` },
      `"${taken}" is what Writ itself takes beside the arguments; give it another name`,
    );
  try {
    schemaValidator(schema);
  } catch (error) {
    // Ajv says what it cannot compile by throwing.
    return refuse(
      written,
      `this is not a JSON Schema that can be checked: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return schema;
}

function propertiesOf(schema: JsonObject): JsonObject {
  const properties = schema.properties;
  return properties !== null && typeof properties === "object" && !Array.isArray(properties)
    ? (properties as JsonObject)
    : {}; // Neither null nor an array.
}

function resourceOf(written: Written, schema: JsonObject): ResourceRule {
  const { type = written, id = written, parents } = settingsOf(written, TOOL, "resource");
  return {
    type: typeOf(type),
    id: templateOf(id, schema),
    parents:
      parents === undefined
        ? []
        : itemsOf(parents).map((parent) => {
            const { type: kind = parent, id: name = parent } = settingsOf(parent, TOOL, "resource.parents[]");
            return { type: typeOf(kind), id: templateOf(name, schema) };
          }),
  };
}

function typeOf(written: Written): string {
  return /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(textOf(written))
    ? textOf(written)
    : refuse(written, "write a name such as Item");
}

/** Every argument that names a resource must be there, and must be a text or a whole number. */
function templateOf(written: Written, schema: JsonObject): string {
  const template = textOf(written);
  const rest = template.replaceAll(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const rule = propertiesOf(schema)[name];
    const type =
      rule !== null && typeof rule === "object" && !Array.isArray(rule)
        ? (rule as JsonObject).type
        : undefined; // Neither null nor an array.
    const required = schema.required;
    if (rule === undefined) refuse(written, `the input has no argument "${name}"`);
    if (type !== "string" && type !== "integer")
      refuse(written, `"${name}" names the resource, so it must be of type string or integer`);
    if (!Array.isArray(required) || !required.includes(name))
      refuse(written, `"${name}" names the resource, so the input must require it`);
    return "";
  });
  // "{a}:{b}" has two readings of one name: an argument may hold the ":" itself.
  if (template.split("/").some((segment) => (segment.match(/\{/g) ?? []).length > 1))
    refuse(
      written,
      'only "/" may stand between two arguments: write {a}/{b}, so that the name has one reading',
    );
  return /^[A-Za-z0-9_.:@~/-]*$/.test(rest)
    ? template
    : refuse(written, "write letters, digits, _ . : @ ~ - /, and arguments in { }");
}

function statementsOf(
  written: Written | undefined,
  provider: ProviderConfiguration,
  tool: Written,
): Tool["sql"] {
  if (provider.kind !== "postgres")
    return written === undefined
      ? undefined
      : refuse(written, `a provider of kind ${provider.kind} takes no statements`);
  if (written === undefined)
    return refuse(tool, '"sql" is missing: say what performing means on this provider');
  const { perform = written, read } = settingsOf(written, TOOL, "sql");
  return { perform: textOf(perform), ...(read === undefined ? {} : { read: textOf(read) }) };
}

function reversibleOf(written: Written | undefined): boolean {
  const { reversible } = written === undefined ? {} : settingsOf(written, TOOL, "approval");
  return reversible === undefined ? TOOL["approval.reversible"].default : flagOf(reversible);
}

function scratchOf(written: Written): NonNullable<Tool["probe"]> {
  const { arguments: args = written } = settingsOf(written, TOOL, "probe");
  return { arguments: objectOf(args) };
}

/** The contract speaks the provider's language, and of secrets and texts that the provider has. */
function fits(written: Written, contract: Contract, provider: ProviderConfiguration): void {
  const wanted = spokenBy(provider);
  if (contract.transport !== wanted)
    refuse(
      written,
      `this contract is for transport ${contract.transport}, and the provider speaks ${wanted}`,
    );
  if (provider.transport === LEDGER) return;
  const { secrets = {}, writ = {} } = provider.settings as Partial<CommonSettings>; // Every other kind has them.
  // A contract is plain JSON by construction; the type only names its members.
  for (const { variable } of variablesIn(contract as unknown as Json)) {
    const [, kind, name = ""] = /^(secret:|writ\.)(.+)$/.exec(variable.name) ?? [];
    if (kind === undefined) continue;
    const known = kind === "writ." ? writ : secrets;
    if (!Object.hasOwn(known, name))
      refuse(
        written,
        `the contract uses {{${variable.name}}}, and the provider has no "${name}" under ${kind === "writ." ? "writ" : "secrets"}`,
      );
  }
}

/** Throws when two files offer one name. */
export function refuseTwice(tools: readonly { readonly tool: Tool; readonly file: YamlFile }[]): void {
  const seen = new Map<string, string>();
  for (const { tool, file } of tools) {
    const before = seen.get(tool.name);
    if (before !== undefined)
      throw new Problem(
        "invalid",
        `${file.placeOf("/tool")}: ${tool.name} is already the tool of ${before}`,
        { at: file.placeOf("/tool") },
      );
    seen.set(tool.name, file.name);
  }
}
