import type { CedarValueJson } from "@cedar-policy/cedar-wasm/nodejs";
import type { Json, JsonObject } from "../core/json.ts";
import { CEDAR_ESCAPES, type Kind } from "./schema.ts";

/** A value that Cedar would not see as it is. Whoever meets one denies. */
class Unspeakable extends Error {
  constructor(at: string, why: string) {
    super(`${at === "" ? "the arguments" : at} ${why}`);
    this.name = "Unspeakable";
  }
}

// Cedar's decimal: a 64-bit integer of ten-thousandths.
const DECIMAL = /^-?\d{1,15}(?:\.\d{1,4})?$/;

/**
 * Arguments as a Cedar record: walked along the kinds, never copied, so that nothing in them can be read as an entity, a function or an
 * expression. Throws `Unspeakable` where a value is not exactly of its kind.
 */
export function cedarRecord(
  kind: Extract<Kind, { kind: "Record" }>,
  value: JsonObject,
): Record<string, CedarValueJson> {
  refuseEscapes(value, "");
  return recordOf(kind, value, "");
}

/** The members that are there and of their kind, and no others: for what nobody validated before, such as a provider's answer. */
export function cedarParts(
  kind: Extract<Kind, { kind: "Record" }>,
  value: JsonObject,
): Record<string, CedarValueJson> {
  const parts: Record<string, CedarValueJson> = {};
  for (const [name, { is }] of kind.members) {
    const held = Object.hasOwn(value, name) ? value[name] : undefined;
    if (held === undefined) continue;
    try {
      refuseEscapes(held, "");
      parts[name] = cedarValue(is, held, `/${name}`);
    } catch (error) {
      if (!(error instanceof Unspeakable)) throw error;
    }
  }
  return parts;
}

/** A text without half a character, which Cedar's binding would not take. Throws `Unspeakable` for any other. */
export function wellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  throw new Unspeakable("a name", "is no well-formed text");
}

function recordOf(
  kind: Extract<Kind, { kind: "Record" }>,
  value: JsonObject,
  at: string,
): Record<string, CedarValueJson> {
  const record: Record<string, CedarValueJson> = {};
  for (const [name, { is, required }] of kind.members) {
    const held = Object.hasOwn(value, name) ? value[name] : undefined;
    if (held !== undefined) record[name] = cedarValue(is, held, `${at}/${name}`);
    else if (required) throw new Unspeakable(`${at}/${name}`, "is missing");
  }
  return record;
}

function cedarValue(kind: Kind, value: Json, at: string): CedarValueJson {
  switch (kind.kind) {
    case "String":
      if (typeof value === "string" && value.isWellFormed()) return value;
      throw new Unspeakable(at, "is no well-formed text");
    case "Boolean":
      if (typeof value === "boolean") return value;
      throw new Unspeakable(at, "is neither true nor false");
    case "Long":
      // Beyond 2^53 - 1 the number that was written is not the one that arrived.
      if (Number.isSafeInteger(value) && !Object.is(value, -0)) return value as number; // Just tested.
      throw new Unspeakable(at, "is no exact integer");
    case "decimal":
      return decimalOf(value, at);
    case "Set":
      if (!Array.isArray(value)) throw new Unspeakable(at, "is no list");
      return value.map((item: Json, index) => cedarValue(kind.element, item, `${at}/${index}`));
    case "Record":
      if (typeof value !== "object" || value === null || Array.isArray(value))
        throw new Unspeakable(at, "is no object");
      return recordOf(kind, value as JsonObject, at); // No array and not null: an object.
  }
}

function decimalOf(value: Json, at: string): CedarValueJson {
  const text = typeof value === "number" && !Object.is(value, -0) ? String(value) : "";
  const whole = Math.abs(Number(value));
  // A double holds 15 digits: eleven before the point, four behind it.
  if (!DECIMAL.test(text) || whole >= 1e11)
    throw new Unspeakable(at, "has no exact decimal of at most 4 places");
  return { __extn: { fn: "decimal", arg: text.includes(".") ? text : `${text}.0` } };
}

/** Anywhere, also where policy does not look: nobody sends these names by accident. */
function refuseEscapes(value: Json, at: string): void {
  if (Array.isArray(value)) value.forEach((item: Json, index) => refuseEscapes(item, `${at}/${index}`));
  else if (typeof value === "object" && value !== null)
    for (const [name, held] of Object.entries(value)) {
      if (CEDAR_ESCAPES.has(name)) throw new Unspeakable(`${at}/${name}`, "is a name of Cedar's own");
      refuseEscapes(held, `${at}/${name}`);
    }
}
