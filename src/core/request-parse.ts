import type { Match, Picks, RequestTemplate } from "./contract.ts";
import type { Json } from "./json.ts";
import { asksPresence } from "./match.ts";
import { Problem } from "./problem.ts";
import { partsOf, variablesIn } from "./template.ts";
import {
  choiceOf,
  itemsOf,
  membersOf,
  objectOf,
  refuse,
  required,
  textOf,
  textsOf,
  type Written,
} from "./written.ts";

const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
// The client writes these itself, or they would change how many requests the provider sees.
const OURS = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "expect",
  "te",
  "trailer",
  "accept-encoding",
]);

/** How one request is written from the stored action. */
export function parseTemplate(written: Written): RequestTemplate {
  const given = membersOf(written, ["method", "url", "headers", "query", "encode", "body"]);
  const url = required(
    written,
    given.url,
    "url",
    'write where it goes, such as "{{base}}/items/{{resource}}"',
  );
  // The operator names the host, once; an argument never does.
  if (!/^\{\{\s*base\s*\}\}(?:[/?]|$)/.test(textOf(url)))
    refuse(url, 'begin with "{{base}}/": the provider\'s settings name the host');
  if (textOf(url).includes("#")) refuse(url, 'a "#…" is never sent; leave it out');
  for (const part of [url, given.headers, given.query, given.body]) if (part !== undefined) checkHoles(part);
  return {
    method: choiceOf(required(written, given.method, "method", "write GET, POST, PUT, PATCH or DELETE"), [
      "GET",
      "POST",
      "PUT",
      "PATCH",
      "DELETE",
    ]),
    url: textOf(url),
    ...(given.headers === undefined ? {} : { headers: parseHeaders(given.headers) }),
    ...(given.query === undefined ? {} : { query: textsOf(given.query) }),
    ...(given.encode === undefined ? {} : { encode: choiceOf(given.encode, ["json", "form"]) }),
    ...(given.body === undefined ? {} : { body: given.body.value }),
  };
}

function parseHeaders(written: Written): Record<string, string> {
  const headers = textsOf(written);
  const seen = new Set<string>();
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase();
    if (!TOKEN.test(name)) refuse(written, `"${name}" is not a header's name`);
    if (OURS.has(lower) || lower.startsWith("proxy-"))
      refuse(written, `"${name}" is written by Writ itself; leave it out`);
    if (seen.has(lower)) refuse(written, `"${name}" stands there twice`);
    seen.add(lower);
  }
  return headers;
}

const STATUS_CLASS = /^[1-5]xx$/;

/** What an answer must look like. At least one condition: what matches everything decides nothing. */
export function parseMatch(written: Written): Match {
  const given = membersOf(written, ["status", "headers", "body"]);
  if (Object.keys(given).length === 0)
    refuse(written, "name a status, a header or a place in the body: an empty condition matches everything");
  if (given.body !== undefined) checkBody(given.body);
  for (const part of [given.headers, given.body]) if (part !== undefined) checkHoles(part);
  return {
    ...(given.status === undefined ? {} : { status: itemsOf(given.status, true).map(statusOf) }),
    ...(given.headers === undefined ? {} : { headers: textsOf(given.headers) }),
    ...(given.body === undefined ? {} : { body: objectOf(given.body) }),
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

/** Every hole can be read, and no member's name holds one: arguments never name headers, fields or parameters. */
function checkHoles(written: Written): void {
  try {
    variablesIn(written.value);
    checkNames(written.value);
  } catch (problem) {
    if (problem instanceof Problem) refuse(written, problem.message);
    throw problem;
  }
}

function checkNames(value: Json): void {
  if (value === null || typeof value !== "object") return;
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value) && partsOf(name).some((part) => "variable" in part))
      throw new Problem("invalid", `the name "${name}" holds a variable; only values may`);
    checkNames(member as Json); // Object.entries of a JSON value gives JSON values.
  }
}
