import type { Json, JsonObject } from "./json.ts";
import { Problem } from "./problem.ts";
import { pointerStep } from "./template.ts";

/** A value with the place where somebody wrote it, as a JSON Pointer: so that every "no" names what to mend. */
export interface Written {
  readonly value: Json;
  readonly at: string;
}

/** Refuses a written value: one sentence that says what is wrong and what to write. */
export function refuse(written: Written, says: string): never {
  throw new Problem("invalid", `${written.at === "" ? "the document" : written.at}: ${says}`, {
    at: written.at,
  });
}

/** The members of an object by name. A member that is not in `known` is refused: a misspelt guarantee must not be ignored. */
export function membersOf<Name extends string>(
  written: Written,
  known: readonly Name[],
): Partial<Record<Name, Written>> {
  const members: Partial<Record<Name, Written>> = {};
  for (const [name, value] of Object.entries(objectOf(written))) {
    const here = { value, at: `${written.at}/${pointerStep(name)}` };
    const match = known.find((candidate) => candidate === name);
    if (match === undefined) refuse(here, unknownMember(name, known));
    members[match] = here;
  }
  return members;
}

function unknownMember(name: string, known: readonly string[]): string {
  const plain = (text: string) => text.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase();
  const near = known.find((candidate) => plain(candidate) === plain(name));
  if (near !== undefined) return `"${name}" is written "${near}"`;
  return `"${name}" is not known here; ${known.join(", ")} are`;
}

/** The member, which must be there. */
export function required(written: Written, member: Written | undefined, name: string, how: string): Written {
  return member ?? refuse(written, `"${name}" is missing; ${how}`);
}

export function objectOf(written: Written): JsonObject {
  const { value } = written;
  if (value === null || typeof value !== "object" || Array.isArray(value)) refuse(written, "write an object");
  return value as JsonObject; // Neither null nor an array: the two other things that typeof calls an object.
}

/** The items of a list; a single value counts as a list of one where `orOne` says so. */
export function itemsOf(written: Written, orOne = false): readonly Written[] {
  if (!Array.isArray(written.value)) return orOne ? [written] : refuse(written, "write a list");
  return (written.value as readonly Json[]).map((value, index) => ({ value, at: `${written.at}/${index}` })); // See above.
}

export function textOf(written: Written): string {
  if (typeof written.value !== "string" || written.value === "")
    refuse(written, "write a text that is not empty");
  return written.value;
}

/** Texts by name. */
export function textsOf(written: Written): Record<string, string> {
  const entries = Object.entries(objectOf(written));
  return Object.fromEntries(
    entries.map(([name, value]) => [name, textOf({ value, at: `${written.at}/${pointerStep(name)}` })]),
  );
}

export function choiceOf<Choice extends string>(written: Written, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === written.value);
  return choice ?? refuse(written, `write one of ${choices.join(", ")}`);
}

export function countOf(written: Written, max: number): number {
  const { value } = written;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > max)
    refuse(written, `write a whole number from 1 to ${max}`);
  return value;
}

const DURATION = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
// Longer than any provider promises anything, and far from where sums of milliseconds lose exactness.
const DURATION_MAX_MS = 10 * 366 * 86_400_000;

/** A duration such as "250ms", "5s", "15m", "24h" or "30d", in milliseconds. */
export function durationOf(written: Written): number {
  const found = typeof written.value === "string" ? DURATION.exec(written.value) : null;
  if (found === null)
    refuse(written, 'write a number and a unit, such as "250ms", "5s", "15m", "24h" or "30d"');
  const ms = Number(found[1]) * (UNITS[found[2] ?? ""] ?? Number.NaN);
  if (!Number.isInteger(ms)) refuse(written, "write a whole number of milliseconds");
  if (ms > DURATION_MAX_MS) refuse(written, "write at most ten years, or permanent where that is allowed");
  return ms;
}

/** A duration longer than none. */
export function positiveOf(written: Written): number {
  const ms = durationOf(written);
  return ms > 0 ? ms : refuse(written, "write a time longer than none");
}
