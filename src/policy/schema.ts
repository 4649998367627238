import type { Json, JsonObject } from "../core/json.ts";

/** What policy can see of one place of the arguments. */
export type Kind =
  | { readonly kind: "String" | "Long" | "Boolean" | "decimal" }
  | { readonly kind: "Set"; readonly element: Kind }
  | { readonly kind: "Record"; readonly members: ReadonlyMap<string, Member> };

interface Member {
  readonly is: Kind;
  readonly required: boolean;
}

/** The arguments as policy sees them, and what it cannot see, each by JSON Pointer and reason. */
export interface Visible {
  readonly record: Extract<Kind, { kind: "Record" }>;
  readonly omitted: readonly { readonly at: string; readonly why: string }[];
}

/** Cedar reads these members of a record as something else than a record's. */
export const CEDAR_ESCAPES: ReadonlySet<string> = new Set(["__entity", "__extn", "__expr"]);

const DEPTH_MAX = 8;
const MEMBERS_MAX = 500;
const REFERENCES_MAX = 16;

/**
 * The part of a tool's input schema that policy can speak about. What has no one kind in Cedar (unions, null, free-form objects, tuples)
 * is left out and listed: a policy that names it does not validate, and its values never reach Cedar.
 */
export function visible(input: JsonObject): Visible {
  const mapper: Mapper = { root: input, omitted: [], members: 0 };
  const mapped = objectKind(mapper, input, "", 0);
  const record = typeof mapped === "string" ? { kind: "Record" as const, members: new Map() } : mapped;
  if (typeof mapped === "string") mapper.omitted.push({ at: "", why: mapped });
  return { record, omitted: mapper.omitted };
}

interface Mapper {
  readonly root: JsonObject;
  readonly omitted: { at: string; why: string }[];
  members: number;
}

/** A kind, or why there is none. */
type Mapped<K = Kind> = K | string;

const UNIONS = ["anyOf", "oneOf", "allOf", "not", "if", "dependentSchemas"] as const;

function kindOf(mapper: Mapper, given: Json | undefined, at: string, depth: number): Mapped {
  if (depth > DEPTH_MAX) return `nested deeper than ${DEPTH_MAX}`;
  const rule = resolved(mapper.root, given);
  if (typeof rule === "string") return rule;
  const union = UNIONS.find((word) => Object.hasOwn(rule, word));
  if (union !== undefined) return `"${union}" may be of more than one kind`;
  const type = typeOf(rule);
  switch (type) {
    case "string":
      return { kind: "String" };
    case "boolean":
      return { kind: "Boolean" };
    case "integer":
      return { kind: "Long" };
    case "number":
      return { kind: "decimal" };
    case "array":
      return setKind(mapper, rule, at, depth);
    case "object":
      return objectKind(mapper, rule, at, depth);
    default:
      return type === undefined ? "the schema names no one type" : `policy knows no "${type}"`;
  }
}

/** The one type that values here have, from `type`, or from what `const` and `enum` list. */
function typeOf(rule: JsonObject): string | undefined {
  const { type } = rule;
  if (typeof type === "string") return type;
  if (Array.isArray(type)) return type.length === 1 && typeof type[0] === "string" ? type[0] : undefined;
  const values = Object.hasOwn(rule, "const") ? [rule.const] : rule.enum;
  if (!Array.isArray(values) || values.length === 0) return undefined;
  const types = new Set(values.map(typeOfValue));
  const [first] = types;
  return types.size === 1 ? first : undefined;
}

function typeOfValue(value: Json | undefined): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? "integer" : "number";
  return typeof value === "string" || typeof value === "boolean" ? typeof value : undefined;
}

function setKind(mapper: Mapper, rule: JsonObject, at: string, depth: number): Mapped {
  if (Object.hasOwn(rule, "prefixItems") || Array.isArray(rule.items)) return "a tuple has no one kind";
  const element = kindOf(mapper, rule.items, `${at}/items`, depth + 1);
  return typeof element === "string" ? `its items: ${element}` : { kind: "Set", element };
}

function objectKind(
  mapper: Mapper,
  rule: JsonObject,
  at: string,
  depth: number,
): Mapped<Extract<Kind, { kind: "Record" }>> {
  const union = UNIONS.find((word) => Object.hasOwn(rule, word));
  // The root's own members are what they are, whatever else a union asks of them.
  if (union !== undefined && at !== "") return `"${union}" may be of more than one kind`;
  const { properties, required } = rule;
  if (!isObject(properties)) return "an object without named properties";
  const must = new Set(Array.isArray(required) ? required : []);
  const members = new Map<string, Member>();
  for (const [name, value] of Object.entries(properties)) {
    const place = `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const mapped = memberOf(mapper, name, value, place, depth);
    if (typeof mapped === "string") mapper.omitted.push({ at: place, why: mapped });
    // Declared defaults of the top are filled in before anybody decides.
    else members.set(name, { is: mapped, required: must.has(name) || (at === "" && hasDefault(value)) });
  }
  return { kind: "Record", members };
}

function memberOf(mapper: Mapper, name: string, value: Json, at: string, depth: number): Mapped {
  if (name.startsWith("__")) return "names that begin with __ are Cedar's own";
  mapper.members += 1;
  if (mapper.members > MEMBERS_MAX) return `more than ${MEMBERS_MAX} members`;
  return kindOf(mapper, value, at, depth + 1);
}

function hasDefault(value: Json): boolean {
  return isObject(value) && value.default !== undefined;
}

/** A rule with its local references followed. */
function resolved(root: JsonObject, given: Json | undefined): JsonObject | string {
  let rule = given;
  for (let steps = 0; steps <= REFERENCES_MAX; steps++) {
    if (!isObject(rule)) return "the schema says nothing about it";
    const reference = rule.$ref ?? rule.$dynamicRef;
    if (reference === undefined) return rule;
    if (typeof reference !== "string" || !reference.startsWith("#/")) return "a reference elsewhere";
    rule = pointed(root, reference.slice(2));
  }
  return "references in a circle";
}

function pointed(root: JsonObject, pointer: string): Json | undefined {
  let value: Json | undefined = root;
  for (const step of pointer.split("/")) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
