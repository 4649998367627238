import type { Match, Picks } from "./contract.ts";
import { asksPresence } from "./match.ts";
import { checkHoles } from "./message.ts";
import { itemsOf, membersOf, objectOf, refuse, textOf, textsOf, type Written } from "./written.ts";

const STATUS_CLASS = /^[1-5]xx$/;

/** What an answer must look like. At least one condition: what matches everything decides nothing. */
export function parseMatch(written: Written): Match {
  return matchOf(written, membersOf(written, ["status", "headers", "body", "contains"]));
}

/** What an answer, or the place of a silence, must look like. */
export function parseWhen(written: Written): Match {
  const { phase, ...given } = membersOf(written, ["status", "headers", "body", "contains", "phase"]);
  if (phase === undefined) return matchOf(written, given);
  if (Object.keys(given).length > 0)
    refuse(written, '"phase" is about an answer that did not come; leave everything else out');
  return { phase: itemsOf(phase, true).map(textOf) };
}

function matchOf(
  written: Written,
  given: Partial<Record<"status" | "headers" | "body" | "contains", Written>>,
): Match {
  if (Object.keys(given).length === 0)
    refuse(written, "name a status, a header or a place in the body: an empty condition matches everything");
  if (given.body !== undefined) checkBody(given.body);
  for (const part of [given.headers, given.body, given.contains]) if (part !== undefined) checkHoles(part);
  return {
    ...(given.status === undefined ? {} : { status: itemsOf(given.status, true).map(statusOf) }),
    ...(given.headers === undefined ? {} : { headers: textsOf(given.headers) }),
    ...(given.body === undefined ? {} : { body: objectOf(given.body) }),
    ...(given.contains === undefined ? {} : { contains: itemsOf(given.contains, true).map(textOf) }),
  };
}

function statusOf(written: Written): number | string {
  const { value } = written;
  if (typeof value === "string" && STATUS_CLASS.test(value)) return value;
  if (typeof value === "number" && Number.isInteger(value) && value >= 200 && value <= 599) return value;
  return refuse(written, 'write a status from 200 to 599, or a class such as "5xx"');
}

function checkBody(written: Written): void {
  const entries = Object.entries(objectOf(written));
  if (entries.length === 0) refuse(written, "name at least one place in the body");
  for (const [pointer, wanted] of entries) {
    const here: Written = {
      value: wanted,
      at: `${written.at}/${pointer.replaceAll("~", "~0").replaceAll("/", "~1")}`,
    };
    if (!pointer.startsWith("/")) refuse(here, `"${pointer}" is not a JSON Pointer; write "/${pointer}"`);
    if (
      asksPresence(wanted) === undefined &&
      wanted !== null &&
      typeof wanted === "object" &&
      "present" in wanted
    ) {
      refuse(here, "write { present: true } or { present: false }, alone");
    }
  }
}

// What Writ itself keeps beside them.
const TAKEN = new Set(["attempt", "status", "lookup", "completion", "digest"]);

/** What is kept as evidence: name → JSON Pointer, or `header:Name`. */
export function parsePicks(written: Written): Picks {
  const picks = textsOf(written);
  for (const [name, from] of Object.entries(picks)) {
    if (!/^[A-Za-z][A-Za-z0-9_]{0,31}\??$/.test(name))
      refuse(written, `"${name}" is not a name for evidence; use letters, digits and "_"`);
    if (TAKEN.has(name.replace("?", "")))
      refuse(written, `"${name}" is kept by Writ itself; choose another name`);
    if (!from.startsWith("/") && !/^header:[A-Za-z0-9-]+$/.test(from))
      refuse(written, `"${from}" is neither a JSON Pointer nor "header:Name"`);
  }
  return picks;
}
