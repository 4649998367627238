import type { Query } from "./sql.ts";

/** A value as it crosses the wire. */
export type Parameter = string | Buffer | null;

/** A statement that can no longer be refused on our side: whatever is wrong with it, the server says. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
  readonly values: readonly Parameter[];
}

// The count of a Bind message is sixteen bits wide.
const PARAMETERS_MAX = 65_535;

/**
 * Encodes a statement before anything is sent. A value that cannot be encoded, or a name that already means
 * another text, is found here: inside a flight the driver would skip that statement and commit the others.
 */
export function prepare(query: Query): Prepared {
  if (query.values.length > PARAMETERS_MAX)
    throw new RangeError(`${query.values.length} parameters; PostgreSQL takes ${PARAMETERS_MAX}`);
  const known = TEXTS.get(query.name);
  if (known === undefined) TEXTS.set(query.name, query.text);
  else if (known !== query.text) throw new TypeError(`the statement name ${query.name} means another text`);
  return { name: query.name, text: query.text, values: query.values.map(encode) };
}

/** Text of every statement name of this process; as many as there are statements, which the server keeps too. */
const TEXTS = new Map<string, string>();

/** Arrays become PostgreSQL arrays; other objects become JSON, so a JSON array is passed as its own text. */
export function encode(value: unknown): Parameter {
  if (value === null) return null;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return arrayLiteral(value);
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
    return String(value);
  throw new TypeError(`a value of type ${typeof value} cannot be a parameter`);
}

function arrayLiteral(values: readonly unknown[]): string {
  const elements = values.map((value) => {
    if (Array.isArray(value)) return arrayLiteral(value);
    const encoded = encode(value);
    if (encoded === null) return "NULL";
    const text = typeof encoded === "string" ? encoded : `\\x${encoded.toString("hex")}`;
    return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  });
  return `{${elements.join(",")}}`;
}
