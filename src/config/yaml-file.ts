import { readFileSync, statSync } from "node:fs";
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from "yaml";
import type { Json } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import type { Written } from "../core/written.ts";

/** A file of the configuration: its value, and where each part of it was written. */
export interface YamlFile {
  /** As operators name it: relative to the folder. */
  readonly name: string;
  readonly written: Written;
  /** `name:line:column` of what a JSON Pointer names, or of the nearest part of it that is there. */
  placeOf(pointer: string): string;
}

const FILE_MAX_BYTES = 1_048_576;
const DEPTH_MAX = 64;

/** Reads one strict YAML 1.2 document as JSON. Throws one mistake with its place. */
export function readYaml(path: string, name: string): YamlFile {
  const text = readText(path, name);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    version: "1.2",
    schema: "core",
    uniqueKeys: true,
    stringKeys: true,
    strict: true,
    merge: false,
    intAsBigInt: true,
    prettyErrors: false,
  });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  // What is odd enough for a warning (an unknown tag, say) would be read as something else than it says.
  const wrong = document.errors[0] ?? document.warnings[0];
  if (wrong !== undefined) throw mistake(at(wrong.pos[0]), sentence(wrong.message));
  const placeOf = (pointer: string): string => at(offsetOf(document, pointer));
  return {
    name,
    placeOf,
    written: { value: plain(document.toJS({ maxAliasCount: 100 }), "", placeOf), at: "" },
  };
}

/** The one form of a mistake: place, and the sentence that mends it. */
export function mistake(place: string, says: string): Problem {
  return new Problem("invalid", `${place}: ${says}`, { at: place });
}

/** Runs what reads a part of the file; a refusal that names a pointer becomes one that names the line. */
export function placed<T>(file: YamlFile, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem) || !/^(?:\/|$)/.test(error.details.at ?? "")) throw error;
    const pointer = error.details.at ?? "";
    const says = error.message.replace(`${pointer === "" ? "the document" : pointer}: `, "");
    throw mistake(file.placeOf(pointer), says);
  }
}

function readText(path: string, name: string): string {
  try {
    if (statSync(path).size > FILE_MAX_BYTES)
      throw mistake(`${name}:1:1`, `the file is larger than ${FILE_MAX_BYTES} bytes`);
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw mistake(
      `${name}:1:1`,
      error instanceof TypeError
        ? "the file is not valid UTF-8"
        : `the file cannot be read: ${String(error)}`,
    );
  }
}

function sentence(message: string): string {
  return message.replaceAll(/\s+/g, " ").trim();
}

/** As JSON, or the first part that JSON cannot say exactly. */
function plain(value: unknown, at: string, placeOf: (pointer: string) => string, depth = 0): Json {
  if (depth > DEPTH_MAX) throw mistake(placeOf(at), `nothing here is deeper than ${DEPTH_MAX} levels`);
  if (typeof value === "bigint") {
    if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER))
      throw mistake(placeOf(at), "a number beyond 2^53-1 is not exact; write it in quotes");
    return Number(value);
  }
  if (typeof value === "number" && !Number.isFinite(value))
    throw mistake(placeOf(at), "write a finite number");
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number")
    return value;
  if (Array.isArray(value))
    return value.map((item, index) => plain(item, `${at}/${index}`, placeOf, depth + 1));
  // A tag could make something of a text that JSON has no word for.
  if (typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype)
    throw mistake(placeOf(at), "write a text, a number, true, false, a list or members");
  const entries = Object.entries(value).map(([name, member]): [string, Json] => {
    const here = `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (name === "__proto__") throw mistake(placeOf(here), "this name is refused");
    return [name, plain(member, here, placeOf, depth + 1)];
  });
  return Object.fromEntries(entries);
}

function offsetOf(document: Document, pointer: string): number {
  let node = resolved(document, document.contents);
  let offset = startOf(node) ?? 0;
  for (const raw of pointer.split("/").slice(1)) {
    const step = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    const [place, next] = stepInto(node, step);
    if (place === undefined) return offset;
    offset = place;
    node = resolved(document, next);
  }
  return offset;
}

/** Where the name or the item stands, and what is under it. */
function stepInto(
  node: Node | null | undefined,
  step: string,
): readonly [number | undefined, Node | null | undefined] {
  if (isMap<Node, Node | null>(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
    return [startOf(pair?.key), pair?.value];
  }
  if (isSeq<Node>(node)) {
    const item = node.items[Number(step)];
    return [startOf(item), item];
  }
  return [undefined, undefined];
}

function startOf(node: Node | null | undefined): number | undefined {
  return node?.range?.[0];
}

function resolved(document: Document, node: Node | null | undefined): Node | null | undefined {
  if (isAlias(node)) return node.resolve(document);
  return isCollection(node) || isScalar(node) ? node : undefined;
}
