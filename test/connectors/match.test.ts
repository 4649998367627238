import { describe, expect, test } from "vitest";
import type { Reply } from "../../src/connectors/exchange.ts";
import { cleaner, TEXT_MAX } from "../../src/connectors/hygiene.ts";
import { matches, outcomeOf, type Reading, retryAfterMs, versionIn } from "../../src/connectors/match.ts";
import type { Contract, Match, OutcomeMeaning } from "../../src/core/contract.ts";
import { preset } from "./errand.ts";

const READING: Reading = { bind: (expected) => expected, clean: cleaner([]) };
const reply = (parts: Partial<Reply> = {}): Reply => ({ status: 200, headers: {}, at: 0, ...parts });

describe("a match", () => {
  const rows: readonly (readonly [Match, Partial<Reply>, boolean])[] = [
    [{ status: [200, 201] }, { status: 201 }, true],
    [{ status: ["5xx"] }, { status: 503 }, true],
    [{ status: ["5xx"] }, { status: 499 }, false],
    [{ headers: { "X-State": "done" } }, { headers: { "x-state": "done" } }, true],
    [{ headers: { "X-State": "done" } }, {}, false],
    [{ body: { "/a/0/b": "x" } }, { body: { a: [{ b: "x" }] } }, true],
    [{ body: { "/a": 1 } }, { body: { a: "1" } }, false],
    [{ body: { "/a": { b: [1] } } }, { body: { a: { b: [1] } } }, true],
    [{ body: { "/a": { present: true } } }, { body: { a: false } }, true],
    [{ body: { "/a": { present: true } } }, { body: { a: null } }, false],
    [{ body: { "/a": { present: false } } }, { body: {} }, true],
    [{ body: { "/a": { present: false } } }, {}, false],
    [{ body: { "/a": null } }, { body: { a: null } }, true],
    [{ body: { "/constructor": { present: true } } }, { body: {} }, false],
    [{ status: [200], body: { "/a": 1 } }, { status: 201, body: { a: 1 } }, false],
  ];

  test.each(rows)("%j of %j is %s", (match, parts, expected) => {
    expect(matches(match, reply(parts), READING)).toBe(expected);
  });

  test("whose expected text has no value in the action matches nothing", () => {
    expect(
      matches({ body: { "/a": "{{expected.version}}" } }, reply({ body: { a: "{{expected.version}}" } }), {
        bind: () => undefined,
      }),
    ).toBe(false);
  });
});

function meaning(is: OutcomeMeaning, parts: Partial<Reply> = {}): ReturnType<typeof outcomeOf> {
  const contract: Contract = {
    ...preset("http/etag-document"),
    outcomes: [{ when: { status: ["2xx", "4xx"] }, is, receipt: { "id?": "/id" } }],
  };
  return outcomeOf(contract, reply(parts), 3, READING);
}

describe("the meaning of an answer", () => {
  test.each<[OutcomeMeaning, object]>([
    [
      "effect",
      { kind: "confirmed", evidence: { kind: "answer", data: { attempt: 3, status: 200, id: "x" } } },
    ],
    ["duplicate", { kind: "lost", answer: "duplicate", seen: { status: 200, id: "x" } }],
    ["in_flight", { kind: "lost", answer: "in_flight", retryAfterMs: 7000 }],
    ["mismatch", { kind: "lost", answer: "mismatch" }],
    ["accepted", { kind: "lost", answer: "accepted" }],
    [
      "final_no",
      { kind: "refused", reason: "provider_refused", detail: "the provider answered 200: no way" },
    ],
    ["not_found", { kind: "refused", reason: "not_found" }],
    ["precondition_failed", { kind: "refused", reason: "precondition_failed", currentVersion: '"v7"' }],
    ["transient_no", { kind: "absent", retryAfterMs: 7000 }],
    ["not_sent", { kind: "absent" }],
    ["unknown", { kind: "lost" }],
  ])("%s", (is, expected) => {
    expect(
      meaning(is, { body: { id: "x", message: "no way" }, headers: { "retry-after": "7", etag: '"v7"' } }),
    ).toMatchObject(expected);
  });

  test("is lost when no rule matches", () => {
    expect(meaning("effect", { status: 500 })).toEqual({
      kind: "lost",
      cause: "no rule of the contract knows this answer: the provider answered 500",
      seen: { status: 500 },
    });
  });

  test("is decided by the first rule that matches", () => {
    const outcomes = [
      { when: { status: [409], body: { "/e": "busy" } }, is: "in_flight" as const },
      { when: { status: ["4xx"] }, is: "final_no" as const },
    ];
    const of = (body: { e: string }) =>
      outcomeOf({ ...preset("http/no-guarantees"), outcomes }, reply({ status: 409, body }), 1, READING);

    expect(of({ e: "busy" })).toMatchObject({ kind: "lost", answer: "in_flight" });
    expect(of({ e: "gone" })).toMatchObject({ kind: "refused" });
  });
});

test.each([
  ['W/"7"', undefined],
  ["*", undefined],
  ['"a b"', undefined],
  ['"7"', '"7"'],
])("a current version %s is told as %s", (etag, expected) => {
  expect(versionIn(preset("http/etag-document"), reply({ headers: { etag } }))).toBe(expected);
});

test("a version in the body is told as text", () => {
  const request = { method: "GET" as const, url: "{{base}}/x" };
  const contract: Contract = {
    ...preset("http/etag-document"),
    read: { request, version: { body: "/meta/version" }, require: "strong" },
  };

  expect(versionIn(contract, reply({ body: { meta: { version: 42 } } }))).toBe("42");
  expect(versionIn(contract, reply({ body: { meta: {} } }))).toBeUndefined();
});

test.each<[Record<string, string>, number | undefined]>([
  [{ "retry-after": "30" }, 30_000],
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": "99999999" }, 86_400_000],
  [{ "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 08:49:07 GMT" }, 30_000],
  [{ "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-1" }, undefined],
  [{}, undefined],
])("Retry-After in %j waits %s ms", (headers, expected) => {
  expect(retryAfterMs(reply({ headers, at: Date.UTC(2026, 0, 1) }))).toBe(expected);
});

describe("a provider's text", () => {
  const clean = cleaner(["s3cr3t-token", "abc"]);

  test("becomes one bounded line without unseen characters", () => {
    expect(clean("a\r\n\u0000b\u202ec\u200bd\u2028e   f")).toBe("a b c d e f");
    expect(clean("x".repeat(10_000))).toHaveLength(TEXT_MAX + 1);
    expect(clean("\ud800")).toBe("\ufffd");
  });

  test("holds no secret in any usual form, also across the cut", () => {
    const text = clean(
      `${"y".repeat(TEXT_MAX - 6)}s3cr3t-token ${Buffer.from("s3cr3t-token").toString("base64")}`,
    );

    expect(text).not.toContain("s3cr");
    expect(clean("abc is too short to hide")).toContain("abc");
  });
});
