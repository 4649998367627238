import type { HttpMessage } from "../core/http-message.ts";
import { canonicalJson, type Json } from "../core/json.ts";
import { partsOf, type Variable } from "../core/template.ts";
import {
  plainText,
  renderOptional,
  renderValue,
  type Subject,
  unwritable,
  variableValue,
} from "./variable.ts";

export type { Subject } from "./variable.ts";

/** One request, ready to send. Written from the stored action alone: every attempt gives these bytes again. */
export interface RenderedRequest {
  readonly method: HttpMessage["method"];
  /** Scheme, host and port: the provider's, never an argument's. */
  readonly origin: string;
  readonly path: string;
  /** Sorted by name. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

const CONTENT_TYPES = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  text: "text/plain; charset=utf-8",
} as const;
const PATH_MAX = 8192;
const HEADER_MAX = 8192;
const SEGMENT = /^[A-Za-z0-9_.:@~-]+$/;
const ALLOWED = "A-Z a-z 0-9 _ . : @ ~ -";

/** Throws `invalid` when an argument would change where the request goes or what it consists of. */
export function renderRequest(template: HttpMessage, subject: Subject): RenderedRequest {
  const base = new URL(subject.base);
  // Addresses are logged and kept: a secret has no value there.
  const path = renderPath(template, { ...subject, secrets: {} }, base.pathname.replace(/\/$/, ""));
  if (path.length > PATH_MAX) unwritable(`the address is longer than ${PATH_MAX} characters`);
  // What the URL parser would rewrite (dots, backslashes, tabs) is not the path that was authorized.
  const parsed = new URL(base.origin + path);
  if (parsed.origin !== base.origin || parsed.pathname + parsed.search !== path)
    unwritable("the address changes when it is read as a URL");
  const body = renderBody(template, subject);
  const type = CONTENT_TYPES[template.encode ?? "json"];
  const headers = renderHeaders(template.headers ?? {}, subject);
  if (body !== undefined && !headers.some(([name]) => name === "content-type"))
    headers.push(["content-type", type]);
  headers.sort(([left], [right]) => (left < right ? -1 : 1));
  return {
    method: template.method,
    origin: base.origin,
    path,
    headers,
    ...(body === undefined ? {} : { body }),
  };
}

/** The path and query after `{{base}}`. Values are percent-encoded; none may add, remove or climb a segment. */
function renderPath(template: HttpMessage, subject: Subject, basePath: string): string {
  const [base, ...parts] = partsOf(template.url);
  if (base === undefined || !("variable" in base) || base.variable.name !== "base") {
    unwritable('the url does not begin with "{{base}}"');
  }
  let path = "";
  let query: string | undefined;
  for (const part of parts) {
    if ("text" in part) {
      const [before = "", ...after] = query === undefined ? part.text.split("?") : ["", part.text];
      path += before;
      if (query !== undefined || after.length > 0) query = (query ?? "") + after.join("?");
    } else if (query === undefined) {
      path += pathValue(part.variable, subject);
    } else {
      query += queryText(present(part.variable, subject));
    }
  }
  const climber = path.split("/").find((segment) => /^(\.|%2e){1,2}$/i.test(segment));
  if (climber !== undefined) unwritable(`the segment "${climber}" of the address would climb`);
  const entries = Object.entries(template.query ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
  const rendered = entries.flatMap(([name, value]) => {
    const text = renderOptional(value, subject);
    return text === undefined ? [] : [`${queryText(name)}=${queryText(text)}`];
  });
  const search = [...(query === undefined || query === "" ? [] : [query]), ...rendered].join("&");
  return `${basePath}${path === "" && basePath === "" ? "/" : path}${search === "" ? "" : `?${search}`}`;
}

function queryText(text: string): string {
  // The URL standard encodes the apostrophe in a query, encodeURIComponent does not.
  return encodeURIComponent(text).replaceAll("'", "%27");
}

/** The value of a variable in the address, where nothing can be left out. */
function present(variable: Variable, subject: Subject): string {
  const value = variableValue(variable, subject);
  if (value === undefined) return unwritable(`{{${variable.name}}} cannot be left out where it stands`);
  return plainText(value, variable.name);
}

/** A value inside the path: one segment or a part of one. Only `resource` may hold several: its own segments were checked when it was bound. */
function pathValue(variable: Variable, subject: Subject): string {
  const text = present(variable, subject);
  const several = variable.name === "resource" && variable.encoders.length === 0;
  // The rule under which a resource was bound (core/action): asked again where it becomes an address.
  if (several && !text.split("/").every((segment) => SEGMENT.test(segment)))
    unwritable(`{{resource}} would change the path: only "/" may stand between segments of ${ALLOWED}`);
  return (several ? text.split("/") : [text]).map((segment) => pathSegment(segment, variable.name)).join("/");
}

function pathSegment(text: string, name: string): string {
  // Servers decode once or twice, and some fold look-alikes (U+FF0F, U+2024): what could become a separator or a dot segment stays out.
  const folded = text.normalize("NFKC");
  const climbs = [text, folded].some(
    (form) => form === "" || form === "." || form === ".." || /[/\\]|%[0-9a-f]{2}/i.test(form),
  );
  if (climbs || !text.isWellFormed() || /\p{Cc}/u.test(text)) {
    unwritable(
      `{{${name}}} would change the path: it is empty, a dot segment, or holds a separator, an escape or a control character`,
    );
  }
  return encodeURIComponent(text);
}

function renderHeaders(templates: Readonly<Record<string, string>>, subject: Subject): [string, string][] {
  return Object.entries(templates).flatMap(([written, template]): [string, string][] => {
    const name = written.toLowerCase();
    const value = renderOptional(template, subject);
    if (value === undefined) return [];
    // RFC 9110 5.5: visible characters with spaces inside. CR, LF and NUL would end the field; anything else reads differently elsewhere.
    if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) || value.length > HEADER_MAX) {
      unwritable(
        `the header ${written} would hold something that is not visible ASCII; encode it (b64, uri)`,
      );
    }
    if (name === "if-match") strongTag(value);
    return [[name, value]];
  });
}

/** RFC 9110 13.1.1: "*" matches anything, a weak tag matches nothing, a list matches one of several. None of them is the version that was authorized. */
function strongTag(value: string): void {
  if (!/^"[\x21\x23-\x7e]*"$/.test(value) && !/^[A-Za-z0-9._:+=-]+$/.test(value)) {
    unwritable(
      'If-Match takes exactly one strong validator, such as "v42" in its quotes; not *, not W/…, no list',
    );
  }
}

/** JSON in its canonical form: the same bytes whatever order the contract was kept in. */
function renderBody(template: HttpMessage, subject: Subject): string | undefined {
  if (template.body === undefined) return undefined;
  if (template.encode === "text") return plainBody(template.body, subject);
  const value = renderValue(template.body, subject);
  if (value === undefined) return undefined;
  return template.encode === "form" ? form(value) : canonicalJson(value);
}

/** A text in a grammar that we do not know, where a line of an argument's own could be a statement of its own: values hold none. */
function plainBody(template: Json, subject: Subject): string {
  const parts = partsOf(plainText(template, "body"));
  return parts
    .map((part) => {
      if ("text" in part) return part.text;
      const value = present(part.variable, subject);
      if (/[\p{Cc}\u2028\u2029]/u.test(value))
        unwritable(
          `{{${part.variable.name}}} holds a line end or a control character; encode it (json, b64, uri)`,
        );
      return value;
    })
    .join("");
}

function form(value: Json): string {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    return unwritable("a form takes an object of plain values");
  const fields = Object.entries(value).map(([name, member]): [string, string] => [
    name,
    plainText(member as Json, name),
  ]); // Members of a JSON value.
  return new URLSearchParams(fields.sort(([left], [right]) => (left < right ? -1 : 1))).toString();
}
