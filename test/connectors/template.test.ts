import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderRequest, type Subject } from "../../src/connectors/template.ts";
import type { HttpMessage } from "../../src/core/http-message.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { Problem } from "../../src/core/problem.ts";

const SUBJECT: Subject = {
  base: "https://shop.example/api",
  tenantId: "acme",
  resourceId: "main/bolt",
  arguments: {
    name: "Ann",
    count: 3,
    on: true,
    none: null,
    list: [1, 2],
    deep: { "a/b": { c: "d" } },
    document: { title: "T", writ: "forged" },
  },
  expectedVersion: '"v1"',
  operation: {
    id: "op_1",
    digest: "sha-256:abc",
    authorizedAt: 1_767_225_600_000,
    firstSentAt: 1_767_225_601_000,
  },
  vars: { marker: "writ/{{tenant}}/{{op.id}}" },
  writ: { author: "Writ" },
  secrets: { token: "tok_verysecret" },
};

function rendered(template: Partial<HttpMessage>, args?: JsonObject): ReturnType<typeof renderRequest> {
  return renderRequest(
    { method: "POST", url: "{{base}}/x", ...template },
    args === undefined ? SUBJECT : { ...SUBJECT, arguments: args },
  );
}

function body(value: Json): Json {
  return JSON.parse(rendered({ body: value }).body ?? "null") as Json;
}

describe("a JSON body", () => {
  test("keeps the type of a value that stands alone, and makes text of one inside a text", () => {
    const template = {
      a: "{{args.count}}",
      b: "n={{args.count}}",
      c: "{{args.list}}",
      d: "{{args.on}}",
      e: "{{args.none}}",
      f: ["{{args.name}}", 1],
    };

    expect(body(template)).toEqual({ a: 3, b: "n=3", c: [1, 2], d: true, e: null, f: ["Ann", 1] });
  });

  test("knows every variable of the protocol", () => {
    const names = [
      "resource",
      "tenant",
      "expected.version",
      "op.id",
      "op.key",
      "op.digest",
      "op.authorized_at",
      "op.first_sent_at",
      "httpdate op.first_sent_at",
      "vars.marker",
      "base",
      "writ.author",
      "secret:token",
    ];

    expect(body(names.map((name) => `{{${name}}}`))).toEqual([
      "main/bolt",
      "acme",
      '"v1"',
      "op_1",
      "op_1",
      "sha-256:abc",
      "2026-01-01T00:00:00.000Z",
      "2026-01-01T00:00:01.000Z",
      "Thu, 01 Jan 2026 00:00:01 GMT",
      "writ/acme/op_1",
      "https://shop.example/api",
      "Writ",
      "tok_verysecret",
    ]);
  });

  test("reaches into arguments by names, by JSON Pointer, and as a whole", () => {
    expect(body(["{{args.list.1}}", "{{args/deep/a~1b/c}}", "{{args}}"])).toEqual([
      2,
      "d",
      SUBJECT.arguments,
    ]);
  });

  test("encodes from right to left", () => {
    expect(
      body(["{{b64 args.name}}", "{{json args.list}}", "{{uri vars.marker}}", "{{b64 json args.list}}"]),
    ).toEqual(["QW5u", "[1,2]", "writ%2Facme%2Fop_1", "WzEsMl0="]);
  });

  test("merges objects, the later over the earlier: an argument cannot forge our marker", () => {
    expect(body({ $merge: ["{{args.document}}", { writ: "{{op.id}}" }] })).toEqual({
      title: "T",
      writ: "op_1",
    });
  });

  test("leaves out what is optional and absent, and refuses what is required and absent", () => {
    expect(body({ a: "{{args.missing?}}", b: "{{args.name?}}", c: ["{{args.missing?}}"] })).toEqual({
      b: "Ann",
      c: [],
    });
    expect(() => body({ a: "{{args.missing}}" })).toThrow("has no value in this action");
    expect(() => body({ a: "x{{args.missing?}}" })).toThrow("stands alone");
  });

  test("is canonical: the order in which a contract was kept changes no byte", () => {
    expect(rendered({ body: { b: 1, a: { d: 2, c: 3 } } }).body).toBe('{"a":{"c":3,"d":2},"b":1}');
  });

  test.each([
    "x{{args.list}}",
    "{{args.deep.nothing}}",
    "{{uri args.list}}",
    "{{now}}",
    "{{attempt}}",
    "{{secret:other}}",
    "{{args.constructor}}",
    "{{writ.toString}}",
  ])("refuses %s", (template) => {
    expect(() => body(template)).toThrow(Problem);
  });
});

test("a form is sorted, encoded, and takes plain values only", () => {
  const form = (value: Json) => rendered({ encode: "form", body: value });

  expect(form({ b: "{{args.count}}", a: "x&y=z", "metadata[op]": "{{op.id}}" }).body).toBe(
    "a=x%26y%3Dz&b=3&metadata%5Bop%5D=op_1",
  );
  expect(form({ a: "1" }).headers).toContainEqual(["content-type", "application/x-www-form-urlencoded"]);
  expect(() => form({ a: "{{args.list}}" })).toThrow("not a plain value");
});

test("a text is sent as it is written, and no value adds a line to it", () => {
  const text = (body: string, args?: JsonObject) => rendered({ encode: "text", body }, args);

  const sent = text("UID:{{op.id}}\r\nSUMMARY:{{args.title}}\r\n", { title: "Fit; the bolt" });
  expect(sent.body).toBe("UID:op_1\r\nSUMMARY:Fit; the bolt\r\n");
  expect(sent.headers).toContainEqual(["content-type", "text/plain; charset=utf-8"]);
  for (const title of ["a\r\nATTENDEE:b", "a\nb", "a\u2028b", "a\u0000b"])
    expect(() => text("{{args.title}}", { title })).toThrow("holds a line end");
  expect(() => text("{{args.list}}", { list: [1] })).toThrow("not a plain value");
});

describe("the address", () => {
  const path = (url: string, args?: JsonObject) => rendered({ url }, args).path;

  test("stands under the base; a resource keeps its segments, an argument is one", () => {
    expect(path("{{base}}/items/{{resource}}/stock")).toBe("/api/items/main/bolt/stock");
    expect(path("{{base}}/n/{{args.name}}?q={{args.name}}&r=1", { name: "a b?&c#'ü" })).toBe(
      "/api/n/a%20b%3F%26c%23'%C3%BC?q=a%20b%3F%26c%23%27%C3%BC&r=1",
    );
    expect(path("{{base}}")).toBe("/api");
  });

  test.each([
    "",
    ".",
    "..",
    "a/b",
    "../admin",
    "a\\b",
    "%2e%2e",
    "%2F",
    "x%5cy",
    "a\r\nX: y",
    "\u0000",
    "\u2025",
    "\uff0e\uff0e",
    "a\uff0fb",
    "\ud800",
    "\u2024\u2024",
  ])("a value %j that would change the path is refused", (name) => {
    expect(() => path("{{base}}/n/{{args.name}}", { name })).toThrow("would change the path");
  });

  test.each([
    "main/../admin",
    "main//bolt",
    "./x",
    "main/%2e%2e",
    "main bolt",
    "main;a/x",
    "m\u00e4in/x",
    "main?x",
  ])("a resource %j that would change the path is refused", (resourceId) => {
    expect(() =>
      renderRequest({ method: "GET", url: "{{base}}/items/{{resource}}" }, { ...SUBJECT, resourceId }),
    ).toThrow("would change the path");
  });

  test("two values together cannot climb either", () => {
    expect(() => path("{{base}}/{{args.a}}{{args.b}}/x", { a: ".", b: "." })).toThrow(
      "would change the path",
    );
    expect(() => path("{{base}}/.{{args.a}}/x", { a: "." })).toThrow("would change the path");
    expect(() => path("{{base}}/%2e%2e/{{args.a}}", { a: "x" })).toThrow("climb");
  });

  test("has no place for a secret, and an argument never names the host", () => {
    expect(() => path("{{base}}/{{secret:token}}")).toThrow("has no value");
    expect(() => rendered({ query: { t: "{{secret:token}}" } })).toThrow("has no value");
    expect(() => path("{{args.name}}/x")).toThrow("does not begin with");
    expect(() =>
      renderRequest(
        { method: "GET", url: "{{base}}{{args.name}}" },
        { ...SUBJECT, base: "https://shop.example" },
      ),
    ).toThrow("changes when it is read");
  });

  test("any value is refused or comes back whole, in the one segment where it belongs", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 20 }), (name) => {
        try {
          const segments = path("{{base}}/n/{{args.name}}/end", { name }).split("/");
          expect(segments.map(decodeURIComponent)).toEqual(["", "api", "n", name, "end"]);
        } catch (problem) {
          expect(problem).toBeInstanceOf(Problem);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("query entries are sorted, encoded, and left out when optional and absent", () => {
    expect(rendered({ query: { z: "{{args.missing?}}", b: "{{args.name}}", a: "1&2" } }).path).toBe(
      "/api/x?a=1%262&b=Ann",
    );
  });
});

describe("a header", () => {
  const header = (value: string, args?: JsonObject) =>
    rendered({ headers: { "X-Note": value } }, args).headers;

  test("is written in lower case, with its value filled in", () => {
    expect(header('"{{op.key}}"')).toEqual([["x-note", '"op_1"']]);
    expect(header("{{args.missing?}}")).toEqual([]);
    expect(header("{{b64 args.name}}", { name: "a\r\nb" })).toEqual([["x-note", "YQ0KYg=="]]);
  });

  test.each([
    "a\r\nInjected: 1",
    "a\nb",
    "a\rb",
    "a\u0000b",
    "\u007f",
    "é",
    "€",
    "\u010a",
    " a",
    "a ",
    "",
    "\t",
    "x".repeat(9000),
  ])("refuses %j", (name) => {
    expect(() => header("{{args.name}}", { name })).toThrow("visible ASCII");
  });

  test("a content type of the contract's own is kept", () => {
    expect(
      rendered({ headers: { "Content-Type": "application/merge-patch+json" }, body: {} }).headers,
    ).toEqual([["content-type", "application/merge-patch+json"]]);
  });
});
