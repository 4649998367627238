import type { Call } from "../support/exchange.ts";

const WIDGET = { warehouse: "main", item: "widget", available: 18 };
export const BODY = { tool: "inventory.set_available", arguments: WIDGET, expectedVersion: 42 };
const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const raw = (args: string, more = ""): string =>
  `{"tool": "inventory.set_available", "expectedVersion": 42, "arguments": ${args}${more}}`;
const withItem = (item: unknown) => ({ ...BODY, arguments: { ...WIDGET, item } });
const key = (...values: string[]): Call => ({
  body: BODY,
  headers: { "idempotency-key": values.length === 1 ? (values[0] ?? "") : values },
});

/** What is sent, and the status, the code and the place that it is refused with. */
export type Case = readonly [name: string, call: Call, status: number, code: string, at?: string];

export const BYTES: readonly Case[] = [
  ["nothing", {}, 400, "invalid_request", ""],
  [
    "no bytes under a type",
    { body: "", headers: { "content-type": "application/json" } },
    400,
    "invalid_request",
    "",
  ],
  ["half a document", { body: '{"tool": "x"' }, 400, "malformed"],
  ["two documents", { body: "{} {}" }, 400, "malformed"],
  ["a duplicate member", { body: raw('{"item": "a", "item": "b"}') }, 400, "malformed", "/arguments/item"],
  [
    "a duplicate behind an escape",
    { body: raw('{"item": "a", "\\u0069tem": "b"}') },
    400,
    "malformed",
    "/arguments/item",
  ],
  ["__proto__", { body: raw('{"__proto__": {"a": 1}}') }, 400, "malformed", "/arguments/__proto__"],
  ["__proto__ in the envelope", { body: '{"__proto__": {"tool": "x"}}' }, 400, "malformed", "/__proto__"],
  [
    "an integer beyond 2^53-1",
    { body: raw('{"available": 9007199254740993}') },
    400,
    "malformed",
    "/arguments/available",
  ],
  ["minus zero", { body: raw('{"available": -0}') }, 400, "malformed", "/arguments/available"],
  [
    "a number that no double holds",
    { body: raw('{"available": 0.1000000000000000000001}') },
    400,
    "malformed",
    "/arguments/available",
  ],
  ["infinity", { body: raw('{"available": 1e999}') }, 400, "malformed", "/arguments/available"],
  ["a lone surrogate", { body: raw('{"item": "\\ud800"}') }, 400, "malformed", "/arguments/item"],
  ["33 levels", { body: raw(`{"item": ${deep(33)}}`) }, 400, "malformed"],
  ["100,000 levels", { body: raw(`{"item": ${deep(100_000)}}`) }, 400, "malformed"],
  [
    "a byte order mark",
    { body: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from("{}")]) },
    400,
    "malformed",
  ],
  [
    "bytes that are not UTF-8",
    { body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) },
    400,
    "malformed",
  ],
  ["UTF-16", { body: Buffer.from(JSON.stringify(BODY), "utf16le") }, 400, "malformed"],
  ["too many bytes", { body: `${JSON.stringify(BODY)}${" ".repeat(262_144)}` }, 413, "too_large"],
];

export const ENVELOPE: readonly Case[] = [
  ["a list", { body: "[]" }, 400, "invalid_request", ""],
  ["null", { body: "null" }, 400, "invalid_request", ""],
  ["an unknown member", { body: { ...BODY, dryRun: true } }, 400, "invalid_request", "/dryRun"],
  ["an identity of its own", { body: { ...BODY, tenantId: "globex" } }, 400, "invalid_request", "/tenantId"],
  ["no tool", { body: { arguments: {} } }, 400, "invalid_request", "/tool"],
  ["a tool that is no text", { body: { ...BODY, tool: 7 } }, 400, "invalid_request", "/tool"],
  [
    "a tool of 10,000 letters",
    { body: { ...BODY, tool: "t".repeat(10_000) } },
    400,
    "invalid_request",
    "/tool",
  ],
  ["no arguments", { body: { tool: BODY.tool } }, 400, "invalid_request", "/arguments"],
  [
    "a version that is no version",
    { body: { ...BODY, expectedVersion: true } },
    400,
    "invalid_request",
    "/expectedVersion",
  ],
  [
    "a version of null",
    { body: { ...BODY, expectedVersion: null } },
    400,
    "invalid_request",
    "/expectedVersion",
  ],
  ["half a version", { body: { ...BODY, expectedVersion: 1.5 } }, 400, "invalid_request", "/expectedVersion"],
  ["another moment of execution", { body: { ...BODY, execute: "soon" } }, 400, "invalid_request", "/execute"],
  ["a note of 2,001 letters", { body: { ...BODY, note: "n".repeat(2001) } }, 400, "invalid_request", "/note"],
  ["an unknown parameter", { body: BODY }, 400, "invalid_request", "dry_run"],
];

export const MEANING: readonly Case[] = [
  ["an unknown tool", { body: { ...BODY, tool: "inventory.set" } }, 422, "unknown_tool", "/tool"],
  [
    "a tool by its prototype's name",
    { body: { ...BODY, tool: "constructor" } },
    422,
    "unknown_tool",
    "/tool",
  ],
  ["arguments that are a list", { body: { ...BODY, arguments: [] } }, 422, "invalid", "/arguments"],
  ["arguments that are a text", { body: { ...BODY, arguments: "{}" } }, 422, "invalid", "/arguments"],
  [
    "an unknown argument",
    { body: { ...BODY, arguments: { ...WIDGET, extra: 1 } } },
    422,
    "invalid",
    "/arguments/extra",
  ],
  [
    "a missing argument",
    { body: { ...BODY, arguments: { item: "widget", available: 1 } } },
    422,
    "invalid",
    "/arguments/warehouse",
  ],
  [
    "a number in quotes",
    { body: { ...BODY, arguments: { ...WIDGET, available: "18" } } },
    422,
    "invalid",
    "/arguments/available",
  ],
  [
    "a number below the least",
    { body: { ...BODY, arguments: { ...WIDGET, available: -1 } } },
    422,
    "invalid",
    "/arguments/available",
  ],
  [
    "a part of a whole number",
    { body: { ...BODY, arguments: { ...WIDGET, available: 1.5 } } },
    422,
    "invalid",
    "/arguments/available",
  ],
  [
    "no version where one is required",
    { body: { tool: BODY.tool, arguments: WIDGET } },
    422,
    "version_required",
    "/expectedVersion",
  ],
  ["a negative version", { body: { ...BODY, expectedVersion: -1 } }, 422, "invalid", "/expectedVersion"],
  ["any version", { body: { ...BODY, expectedVersion: "*" } }, 422, "invalid", "/expectedVersion"],
  ["a weak version", { body: { ...BODY, expectedVersion: 'W/"1"' } }, 422, "invalid", "/expectedVersion"],
  ["an empty version", { body: { ...BODY, expectedVersion: "" } }, 422, "invalid", "/expectedVersion"],
  ["a traversal", { body: withItem("..") }, 422, "invalid", "/arguments/item"],
  ["a traversal behind a name", { body: withItem("a/../b") }, 422, "invalid", "/arguments/item"],
  ["an encoded separator", { body: withItem("a%2Fb") }, 422, "invalid", "/arguments/item"],
  ["a backslash", { body: withItem("a\\b") }, 422, "invalid", "/arguments/item"],
  ["a zero byte", { body: withItem("a\u0000b") }, 422, "invalid", "/arguments/item"],
  ["an empty name", { body: withItem("") }, 422, "invalid", "/arguments/item"],
  ["a look-alike", { body: withItem("wıdget") }, 422, "invalid", "/arguments/item"],
  ["a fullwidth letter", { body: withItem("ｗidget") }, 422, "invalid", "/arguments/item"],
  ["a name of 129 letters", { body: withItem("w".repeat(129)) }, 422, "invalid", "/arguments/item"],
  [
    "a made-up operation to compensate",
    { body: { ...BODY, compensates: "op_1" } },
    422,
    "invalid",
    "/compensates",
  ],
  [
    "an absent operation to compensate",
    { body: { ...BODY, compensates: `op_${"a".repeat(32)}` } },
    409,
    "not_settled",
    "/compensates",
  ],
  [
    "an absent operation to supersede",
    { body: { ...BODY, supersedes: `op_${"a".repeat(32)}` } },
    409,
    "not_cancellable",
    "/supersedes",
  ],
];

export const HEADERS: readonly Case[] = [
  ["an empty key", key(""), 400, "invalid_request", "Idempotency-Key"],
  ["a key with a space", key("a b"), 400, "invalid_request", "Idempotency-Key"],
  ["half a quoted key", key('"abc'), 400, "invalid_request", "Idempotency-Key"],
  ["a key of 201 letters", key("k".repeat(201)), 400, "invalid_request", "Idempotency-Key"],
  ["two keys", key("one", "two"), 400, "invalid_request", "idempotency-key"],
  ["two equal keys", key("one", "one"), 400, "invalid_request", "idempotency-key"],
  ...["-1", "31", "1.5", "abc", "99999999999", "", '"'].map(
    (wait): Case => [
      `a wait of "${wait}"`,
      { body: BODY, headers: { prefer: `wait=${wait}` } },
      400,
      "invalid_request",
      "Prefer",
    ],
  ),
  [
    "a form",
    { body: "tool=x", headers: { "content-type": "application/x-www-form-urlencoded" } },
    415,
    "unsupported_media_type",
    "Content-Type",
  ],
  [
    "text",
    { body: JSON.stringify(BODY), headers: { "content-type": "text/plain" } },
    415,
    "unsupported_media_type",
    "Content-Type",
  ],
  [
    "JSON in another alphabet",
    { body: JSON.stringify(BODY), headers: { "content-type": "application/json; charset=latin1" } },
    415,
    "unsupported_media_type",
    "Content-Type",
  ],
  [
    "a patch",
    { body: BODY, headers: { "content-type": "application/merge-patch+json" } },
    415,
    "unsupported_media_type",
    "Content-Type",
  ],
  [
    "a compressed body",
    { body: BODY, headers: { "content-encoding": "gzip" } },
    415,
    "unsupported_media_type",
    "Content-Encoding",
  ],
];
