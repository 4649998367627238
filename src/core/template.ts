import type { Json, JsonObject } from "./json.ts";
import { Problem } from "./problem.ts";

/** Applied from right to left: `{{b64 json args}}` is the base64 of the JSON text. */
export type Encoder = "b64" | "httpdate" | "json" | "uri";

/** One `{{…}}` of a template. */
export interface Variable {
  readonly name: string;
  readonly encoders: readonly Encoder[];
  /** Written `{{name?}}`: the member, header or query entry that consists of it is left out when the value is absent. */
  readonly optional: boolean;
}

export type Part = { readonly text: string } | { readonly variable: Variable };

const HOLE = /\{\{([^{}]*)\}\}/g;
// What a hole holds: encoders, then a name, then perhaps "?".
const INSIDE = /^\s*((?:[a-z0-9]+\s+)*)([A-Za-z][^\s?]*)(\??)\s*$/;

/** The template in pieces. Throws `invalid` for a hole that is no variable, and for a brace without its partner. */
export function partsOf(template: string): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const hole of template.matchAll(HOLE)) {
    if (hole.index > from) parts.push({ text: template.slice(from, hole.index) });
    parts.push({ variable: variable(hole[1] ?? "") });
    from = hole.index + hole[0].length;
  }
  if (from < template.length) parts.push({ text: template.slice(from) });
  const loose = parts.find((part) => "text" in part && /\{\{|\}\}/.test(part.text));
  if (loose !== undefined)
    throw new Problem("invalid", `"${template}" has a "{{" or "}}" without its partner`);
  return parts;
}

function variable(inside: string): Variable {
  const found = INSIDE.exec(inside);
  const [, encoders = "", name = "", optional = ""] = found ?? [];
  if (found === null)
    throw new Problem("invalid", `"{{${inside}}}" is not a variable; write {{name}} or {{encoder name}}`);
  return { name, encoders: encoders.split(/\s+/).filter(Boolean).map(encoder), optional: optional === "?" };
}

function encoder(word: string): Encoder {
  if (word === "b64" || word === "httpdate" || word === "json" || word === "uri") return word;
  throw new Problem("invalid", `"${word}" is no encoder; use b64, httpdate, json or uri`);
}

/** The one variable that the text consists of, if it is exactly one hole. Then its value keeps its JSON type. */
export function soleVariable(template: string): Variable | undefined {
  const [part, ...more] = partsOf(template);
  return part !== undefined && more.length === 0 && "variable" in part ? part.variable : undefined;
}

/** Every variable in a value, with the JSON Pointer of the string that holds it. Member names hold none. */
export function variablesIn(
  value: Json | undefined,
  at = "",
): readonly { readonly variable: Variable; readonly at: string }[] {
  if (typeof value === "string") {
    return partsOf(value).flatMap((part) => ("variable" in part ? [{ variable: part.variable, at }] : []));
  }
  if (value === undefined || value === null || typeof value !== "object") return [];
  const steps = Array.isArray(value) ? [...value.entries()] : Object.entries(value as JsonObject);
  return steps.flatMap(([step, member]) => variablesIn(member as Json, `${at}/${pointerStep(String(step))}`));
}

/** One step of a JSON Pointer (RFC 6901). */
export function pointerStep(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

const NAMES: readonly RegExp[] = [
  /^args(\.[A-Za-z0-9_$-]+)*$/,
  /^args(\/[^{}\s]*)+$/,
  /^(resource|tenant|base)$/,
  /^expected\.version$/,
  /^op\.(id|key|digest|authorized_at|first_sent_at)$/,
  /^writ\.[A-Za-z][A-Za-z0-9_]*$/,
  /^secret:[A-Za-z][A-Za-z0-9_-]*$/,
];

/** Is the name one that the stored action, the pinned settings or a declared secret answers? Nothing else may be sent. */
export function knownName(name: string, vars: Readonly<Record<string, string>> = {}): boolean {
  if (name.startsWith("vars.")) return Object.hasOwn(vars, name.slice(5));
  return NAMES.some((known) => known.test(name));
}

/** Does the value hold something that only this operation has: its id, key or digest, or a var built from one? */
export function namesOperation(
  value: Json | undefined,
  vars: Readonly<Record<string, string>> = {},
): boolean {
  return variablesIn(value).some(({ variable: { name } }) => {
    if (name.startsWith("vars."))
      return namesOperation(Object.hasOwn(vars, name.slice(5)) ? vars[name.slice(5)] : undefined);
    return name === "op.id" || name === "op.key" || name === "op.digest";
  });
}
