import type { Json } from "../core/json.ts";
import { pointerStep } from "../core/template.ts";
import { objectOf, refuse, type Written } from "../core/written.ts";
import { namesAt, type Table } from "./settings.ts";

/** The members at a place of the table. What the table does not know is refused, with the nearest name that it does. */
export function settingsOf(written: Written, table: Table, path: string): Readonly<Record<string, Written>> {
  const known = namesAt(table, path);
  const members: Record<string, Written> = {};
  for (const [name, value] of Object.entries(objectOf(written))) {
    const here = { value, at: `${written.at}/${pointerStep(name)}` };
    if (!known.includes(name)) refuse(here, unknownName(name, known));
    members[name] = here;
  }
  const missing = known.find(
    (name) => table[path === "" ? name : `${path}.${name}`]?.must === true && members[name] === undefined,
  );
  if (missing !== undefined && !onlyForOthers(table, path, missing, members)) {
    refuse(
      written,
      `"${missing}" is missing: ${lower(table[path === "" ? missing : `${path}.${missing}`]?.sentence ?? "")}`,
    );
  }
  return members;
}

/** What only another kind of provider needs is not missing here. */
function onlyForOthers(
  table: Table,
  path: string,
  name: string,
  members: Readonly<Record<string, Written>>,
): boolean {
  const kinds: readonly Json[] | undefined = table[`${path}.${name}`]?.kinds;
  return kinds !== undefined && !kinds.includes(members.kind?.value ?? null);
}

function lower(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

/** Entries under names that the operator chose, each matching `name`. */
export function namedOf(
  written: Written,
  name: RegExp,
  how: string,
): readonly (readonly [string, Written])[] {
  return Object.entries(objectOf(written)).map(([key, value]) => {
    const here = { value, at: `${written.at}/${pointerStep(key)}` };
    return name.test(key) ? ([key, here] as const) : refuse(here, `"${key}" is not a name; ${how}`);
  });
}

export function unknownName(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== undefined) return `"${name}" is not known here; did you mean "${near}"?`;
  return known.length === 0
    ? `"${name}" is not known here; there is none`
    : `"${name}" is not known here; ${known.join(", ")} are`;
}

/** The one that a slip of the finger would have meant. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, away: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((one, other) => one.away - other.away);
  return best !== undefined && best.away <= Math.max(1, Math.floor(name.length / 3))
    ? best.candidate
    : undefined;
}

/** How many insertions, deletions and replacements lie between two words (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (to[column - 1] === character ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** What was written, or the table's default standing at the same place. */
export function orDefault(written: Written | undefined, value: Json, at: string): Written {
  return written ?? { value, at };
}

/** A whole number within bounds. */
export function numberOf(written: Written, least: number, most: number): number {
  const { value } = written;
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most)
    refuse(written, `write a whole number from ${least} to ${most}`);
  return value;
}

export function flagOf(written: Written): boolean {
  return typeof written.value === "boolean" ? written.value : refuse(written, "write true or false");
}
