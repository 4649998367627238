import { createHash } from "node:crypto";

/** One statement, ready to send. `text` holds $1…, `values` fill them; the same `name` always means the same `text`. */
export interface Query {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What one statement answered. `rowCount` counts the rows that it returned or changed. */
export interface Rows<R> {
  readonly rows: readonly R[];
  readonly rowCount: number;
}

/**
 * Writes a statement: every ${value} becomes a parameter ($1…) and never text, so no value can change what the
 * statement says. `null` is NULL; `undefined` and a nested statement are refused, for both are mistakes of the
 * author. The name is derived from the text, so a connection plans a statement once.
 */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Query {
  values.forEach(refuseMistake);
  const { name, text } = written(strings);
  return marked({ name, text, values });
}

/** A statement whose text is not in our sources, such as the SQL of a tool: it already holds its own $1…. */
export function statement(text: string, values: readonly unknown[]): Query {
  values.forEach(refuseMistake);
  return marked({ name: nameOf(text), text, values });
}

const MADE = new WeakSet<Query>();
/** A call site passes the same strings array each time, so its text is joined and hashed once. */
const WRITTEN = new WeakMap<TemplateStringsArray, { readonly name: string; readonly text: string }>();

function written(strings: TemplateStringsArray): { readonly name: string; readonly text: string } {
  const known = WRITTEN.get(strings);
  if (known !== undefined) return known;
  const text = strings.reduce((left, right, position) => `${left}$${position}${right}`);
  const made = { name: nameOf(text), text };
  WRITTEN.set(strings, made);
  return made;
}

function refuseMistake(value: unknown, position: number): void {
  if (value === undefined)
    throw new TypeError(`parameter $${position + 1} is undefined; write null for NULL`);
  if (typeof value === "object" && value !== null && MADE.has(value as Query))
    throw new TypeError(`parameter $${position + 1} is a statement; a statement is never part of another`);
}

function marked(query: Query): Query {
  MADE.add(query);
  return query;
}

/** The name of every text of this process: as many as there are statements, which the server keeps too. */
const NAMES = new Map<string, string>();

/** PostgreSQL cuts a name after 63 bytes; 96 bits of the digest are short, and two texts do not meet. */
function nameOf(text: string): string {
  const known = NAMES.get(text);
  if (known !== undefined) return known;
  const name = `w_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
  NAMES.set(text, name);
  return name;
}
