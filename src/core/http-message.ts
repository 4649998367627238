import type { Json } from "./json.ts";
import type { LintFinding } from "./lint-finding.ts";
import { checkHoles, type Message, type MessageForm, type MessagePart } from "./message.ts";
import { choiceOf, membersOf, refuse, required, textOf, textsOf, type Written } from "./written.ts";

/** One HTTP request. */
export interface HttpMessage {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** `text` sends the body as it is written: a text whose values hold no line ends. */
  readonly encode?: "json" | "form" | "text";
  readonly body?: Json;
}

/** `{ method, url, headers, query, encode, body }`. */
export const HTTP_MESSAGE: MessageForm = {
  parse,
  parts,
  lint,
  schema: {
    type: "object",
    additionalProperties: false,
    required: ["method", "url"],
    properties: {
      method: { enum: ["GET", "POST", "PUT", "PATCH", "DELETE"] },
      url: {
        type: "string",
        pattern: "^\\{\\{\\s*base\\s*\\}\\}",
        examples: ["{{base}}/items/{{resource}}"],
      },
      headers: { type: "object", additionalProperties: { type: "string" } },
      query: { type: "object", additionalProperties: { type: "string" } },
      encode: { enum: ["json", "form", "text"], default: "json" },
      body: {},
    },
  },
};

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

function parse(written: Written): Message {
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
  if (given.encode?.value === "text" && given.body !== undefined) textOf(given.body);
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
    ...(given.encode === undefined ? {} : { encode: choiceOf(given.encode, ["json", "form", "text"]) }),
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

function parts({ url, query, headers, body }: Message): readonly MessagePart[] {
  return [
    { at: "/url", value: url, secrets: false },
    { at: "/query", value: query, secrets: false },
    { at: "/headers", value: headers, secrets: true },
    { at: "/body", value: body, secrets: true },
  ];
}

/** RFC 9110 13.1.1: If-Match compares strongly; "*" matches whatever is there. */
function lint({ headers = {} }: Message, at: string): readonly LintFinding[] {
  return Object.entries(headers as Readonly<Record<string, string>>).flatMap(([name, written]) => {
    // `parse` made them texts.
    const value = written.trim();
    const here = `${at}/headers/${name}`;
    if (name.toLowerCase() !== "if-match") return [];
    if (value === "*")
      return [
        {
          rule: "if-match-any",
          at: here,
          says: 'If-Match: * matches every version and protects nothing; write "{{expected.version}}"',
        },
      ];
    if (/^W\//i.test(value))
      return [
        {
          rule: "weak-validator",
          at: here,
          says: "a weak validator never matches If-Match; send the strong one that was read",
        },
      ];
    return [];
  });
}
