import { Problem } from "./problem.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** Bounds on one document. Sizes in bytes or UTF-16 units, counts in values. */
export interface JsonBounds {
  readonly bytesMax: number;
  readonly depthMax: number;
  readonly valuesMax: number;
  readonly stringMax: number;
}
export const JSON_BOUNDS: JsonBounds = {
  bytesMax: 262_144,
  depthMax: 32,
  valuesMax: 20_000,
  stringMax: 131_072,
};

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const HEX4 = /^[0-9a-fA-F]{4}$/;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/**
 * One strict reading of a document (RFC 8259 within RFC 7493, I-JSON): what two readers could understand differently is refused with
 * `malformed` and the place: duplicate members, `__proto__`, lone surrogates, numbers that a double cannot hold exactly, `-0`,
 * a byte order mark, trailing text, and anything over the bounds.
 */
export function parseJson(input: Uint8Array | string, bounds: JsonBounds = JSON_BOUNDS): Json {
  return new Reader(decode(input, bounds), bounds).document();
}

function decode(input: Uint8Array | string, bounds: JsonBounds): string {
  if (typeof input === "string") {
    if (input.length > bounds.bytesMax) throw tooLarge(bounds);
    return input;
  }
  if (input.byteLength > bounds.bytesMax) throw tooLarge(bounds);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(input);
  } catch {
    throw new Problem("malformed", "the body is not valid UTF-8");
  }
}

function tooLarge(bounds: JsonBounds): Problem {
  return new Problem("too_large", `the document is larger than ${bounds.bytesMax} bytes`);
}

/** Holds the position; made for one document and thrown away. */
class Reader {
  private at = 0;
  private values = 0;
  private readonly path: (string | number)[] = [];
  private readonly text: string;
  private readonly bounds: JsonBounds;
  constructor(text: string, bounds: JsonBounds) {
    this.text = text;
    this.bounds = bounds;
  }

  document(): Json {
    const value = this.value(0);
    this.space();
    if (this.at !== this.text.length) this.refuse("text after the end of the document");
    return value;
  }

  private refuse(what: string): never {
    const pointer = this.path
      .map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`)
      .join("");
    const place = pointer === "" ? `character ${this.at}` : `${pointer} (character ${this.at})`;
    throw new Problem("malformed", `${what} at ${place}`, { at: pointer });
  }

  private space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at++;
    }
  }

  private value(depth: number): Json {
    if (++this.values > this.bounds.valuesMax) this.refuse(`more than ${this.bounds.valuesMax} values`);
    if (depth > this.bounds.depthMax) this.refuse(`deeper than ${this.bounds.depthMax} levels`);
    this.space();
    const first = this.text[this.at];
    if (first === "{") return this.object(depth);
    if (first === "[") return this.array(depth);
    if (first === '"') return this.string();
    for (const [word, value] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ] as const) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return this.number();
  }

  private object(depth: number): JsonObject {
    const object: Record<string, Json> = {};
    this.at++;
    this.space();
    if (this.text[this.at] === "}") {
      this.at++;
      return object;
    }
    for (;;) {
      this.space();
      if (this.text[this.at] !== '"') this.refuse("a member name was expected");
      const name = this.string();
      this.path.push(name);
      if (name === "__proto__") this.refuse("the member name __proto__ is refused");
      if (Object.hasOwn(object, name)) this.refuse("a duplicate member");
      this.space();
      if (this.text[this.at] !== ":") this.refuse('":" was expected');
      this.at++;
      object[name] = this.value(depth + 1);
      this.path.pop();
      this.space();
      const next = this.text[this.at++];
      if (next === "}") return object;
      if (next !== ",") this.refuse('"," or "}" was expected');
    }
  }

  private array(depth: number): Json[] {
    const array: Json[] = [];
    this.at++;
    this.space();
    if (this.text[this.at] === "]") {
      this.at++;
      return array;
    }
    for (;;) {
      this.path.push(array.length);
      array.push(this.value(depth + 1));
      this.path.pop();
      this.space();
      const next = this.text[this.at++];
      if (next === "]") return array;
      if (next !== ",") this.refuse('"," or "]" was expected');
    }
  }

  private string(): string {
    let out = "";
    this.at++;
    for (;;) {
      PLAIN.lastIndex = this.at;
      const plain = PLAIN.exec(this.text)?.[0] ?? "";
      out += plain;
      this.at += plain.length;
      if (out.length > this.bounds.stringMax)
        this.refuse(`a string longer than ${this.bounds.stringMax} characters`);
      const next = this.text[this.at];
      if (next === '"') break;
      if (next === undefined) this.refuse("a string without its end");
      if (next !== "\\") this.refuse("a control character inside a string");
      out += this.escape();
    }
    this.at++;
    if (!out.isWellFormed()) this.refuse("a lone surrogate");
    return out;
  }

  private escape(): string {
    const kind = this.text[this.at + 1] ?? "";
    if (kind === "u") {
      const hex = this.text.slice(this.at + 2, this.at + 6);
      if (!HEX4.test(hex)) this.refuse("a bad \\u escape");
      this.at += 6;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const plain = Object.hasOwn(ESCAPES, kind) ? ESCAPES[kind] : undefined;
    if (plain === undefined) this.refuse("a bad escape");
    this.at += 2;
    return plain;
  }

  private number(): number {
    NUMBER.lastIndex = this.at;
    const text = NUMBER.exec(this.text)?.[0];
    if (text === undefined) this.refuse("a value was expected");
    const value = Number(text);
    if (!Number.isFinite(value)) this.refuse("a number out of range");
    if (Object.is(value, -0)) this.refuse("the number -0");
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      this.refuse("an integer beyond 2^53-1 (send it as a string)");
    if (!sameDecimal(text, String(value)))
      this.refuse("a number that a double cannot hold exactly (send it as a string)");
    this.at += text.length;
    return value;
  }
}

/** Does `text` write exactly the shortest decimal that names the double, up to zeros and exponent form? */
function sameDecimal(text: string, shortest: string): boolean {
  return text === shortest || plainDecimal(text) === plainDecimal(shortest);
}

function plainDecimal(text: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  const fraction = parts?.[3] ?? "";
  const digits = `${parts?.[2] ?? ""}${fraction}`;
  const significant = digits.replace(/0+$/, "");
  const exponent = Number(parts?.[4] ?? 0) - fraction.length + (digits.length - significant.length);
  const bare = significant.replace(/^0+/, "");
  return bare === "" ? "0" : `${parts?.[1] ?? ""}${bare}e${exponent}`;
}

/** The canonical text of a value (RFC 8785, JSON Canonicalization Scheme): members by UTF-16 code units, numbers as ECMAScript writes them. */
export function canonicalJson(value: Json): string {
  if (typeof value === "string") return quoted(value);
  if (value === null || typeof value === "boolean" || typeof value === "number") return String(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const object = value as JsonObject;
  const members = sorted(Object.keys(object));
  let text = "";
  for (const name of members) {
    const member = object[name];
    if (member !== undefined) text += `${text === "" ? "" : ","}${quoted(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/** RFC 8785 3.2.3 sorts by UTF-16 code units, which is what "<" and sort() without a comparer do. Most objects are in order already. */
function sorted(names: string[]): readonly string[] {
  let before = "";
  for (const name of names) {
    if (name < before) return names.sort();
    before = name;
  }
  return names;
}

// Nothing in these needs an escape, and most texts are like that.
const UNESCAPED = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

function quoted(text: string): string {
  return UNESCAPED.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Freezes a value and everything in it, and gives it back. */
export function deepFreeze<T extends Json>(value: T): T {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    for (const member of Object.values(value)) deepFreeze(member as Json);
    Object.freeze(value);
  }
  return value;
}

/** The value at a JSON Pointer (RFC 6901), or undefined. */
export function pointed(value: Json | undefined, pointer: string): Json | undefined {
  if (pointer === "") return value;
  let here: Json | undefined = value;
  for (const raw of pointer.slice(1).split("/")) {
    const step = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    if (here === null || typeof here !== "object") return undefined;
    if (Array.isArray(here)) here = /^(0|[1-9]\d*)$/.test(step) ? here[Number(step)] : undefined;
    else here = Object.hasOwn(here, step) ? (here as JsonObject)[step] : undefined;
  }
  return here;
}
