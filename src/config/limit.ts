import type { JsonObject } from "../core/json.ts";
import { pointed } from "../core/json.ts";
import type { Limit } from "../core/limits.ts";
import {
  choiceOf,
  countOf,
  itemsOf,
  objectOf,
  positiveOf,
  refuse,
  textOf,
  type Written,
} from "../core/written.ts";
import { numberOf, orDefault, settingsOf } from "./member.ts";
import { TOOL } from "./tool-settings.ts";

const LIMITS_MAX = 8;
const COUNT_MAX = 1_000_000;
const SHARERS = ["principal", "client", "resource"] as const;

/** How much of one tool may happen in a while. Two limits never have one name: they would share what they counted. */
export function limitsOf(written: Written, schema: JsonObject): readonly Limit[] {
  const items = itemsOf(written);
  if (items.length > LIMITS_MAX) refuse(written, `at most ${LIMITS_MAX} limits`);
  const limits = items.map((item) => limitOf(item, schema));
  for (const [index, limit] of limits.entries()) {
    const item = items[index];
    if (item !== undefined && limits.findIndex(({ name }) => name === limit.name) !== index)
      refuse(item, `another limit is "${limit.name}" too; give one of them a name of its own`);
  }
  return limits;
}

function limitOf(written: Written, schema: JsonObject): Limit {
  const given = settingsOf(written, TOOL, "limits[]");
  const { count, sum, max, per = written, window, name, by } = given;
  if ((count === undefined) === (sum === undefined))
    refuse(written, "write either count, how many operations, or sum with max, how much of an argument");
  if ((sum === undefined) !== (max === undefined))
    refuse(written, 'a sum has its "max" beside it, and a count is its own maximum');
  const sharers = by === undefined ? [] : itemsOf(by, true).map((one) => choiceOf(one, SHARERS));
  const of = sum === undefined ? "operations" : { sum: argumentOf(sum, schema) };
  const kind = choiceOf(orDefault(window, TOOL["limits[].window"].default, `${written.at}/window`), [
    "sliding",
    "fixed",
  ]);
  return {
    name: name === undefined ? nameFor(of, textOf(per), sharers) : textOf(name),
    by: [...new Set(sharers)],
    of,
    max:
      count === undefined ? numberOf(max ?? written, 0, Number.MAX_SAFE_INTEGER) : countOf(count, COUNT_MAX),
    window: { kind, forMs: positiveOf(per) },
  };
}

/** Without its maximum: a limit that is raised goes on counting what it counted. */
function nameFor(of: Limit["of"], per: string, by: readonly string[]): string {
  const what = of === "operations" ? "operations" : `sum of ${of.sum}`;
  return by.length === 0 ? `${what} per ${per}` : `${what} per ${per} by ${by.join(" and ")}`;
}

/** What is summed must be there and must be a number that is not negative: anything else would make room. */
function argumentOf(written: Written, schema: JsonObject): string {
  const pointer = textOf(written);
  if (!/^\/[^/~]+$/.test(pointer)) refuse(written, 'write one argument as a JSON Pointer, such as "/amount"');
  const name = pointer.slice(1);
  const rule = pointed(schema, `/properties/${name}`);
  const { required } = schema;
  if (rule === undefined) return refuse(written, `the input has no argument "${name}"`);
  const { type, minimum } = objectOf({ value: rule, at: written.at });
  if (type !== "integer" && type !== "number")
    refuse(written, `"${name}" is summed, so it must be of type integer or number`);
  if (typeof minimum !== "number" || minimum < 0)
    refuse(written, `"${name}" is summed, so the input must give it a minimum of at least 0`);
  if (!Array.isArray(required) || !required.includes(name))
    refuse(written, `"${name}" is summed, so the input must require it`);
  return pointer;
}
