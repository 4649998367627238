import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { lintContract } from "../../src/core/contract-lint.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { TRANSPORTS, type Transports } from "../../src/core/transport.ts";

const BASE = "{{base}}/orders";
const SOUND: JsonObject = {
  contract: "shop.order/v1",
  transport: "http",
  requestLife: "30s",
  maxPause: "5s",
  settle: { bounded: "1m" },
  identity: { kind: "key", window: { for: "24h", margin: "1m", after: "executes" } },
  vars: { marker: "writ/{{tenant}}/{{op.id}}" },
  request: {
    method: "POST",
    url: BASE,
    headers: { "Idempotency-Key": '"{{op.key}}"' },
    body: { quantity: "{{args.quantity}}" },
  },
  lookup: [
    {
      name: "operation",
      strength: "authoritative",
      lag: "5s",
      horizon: "1h",
      request: { method: "GET", url: "{{base}}/operations/{{op.id}}" },
      found: { status: 200 },
      absent: { status: 404 },
    },
  ],
  barrier: {
    kind: "tombstone",
    request: { method: "PUT", url: "{{base}}/operations/{{op.id}}/tombstone" },
    raised: { status: 201 },
  },
  outcomes: [{ when: { status: 201 }, is: "effect" }],
};
const lint = (changes: JsonObject) => lintContract(parseContract({ ...SOUND, ...changes }));
const request = (changes: JsonObject) => ({ request: { ...(SOUND.request as JsonObject), ...changes } });
const lookup = (changes: JsonObject) => ({
  lookup: [{ ...((SOUND.lookup as readonly JsonObject[])[0] ?? {}), ...changes }],
});
const ETAG = { kind: "etag", atomic: "probed", versions: "never_return" };
const IF_MATCH = { headers: { "If-Match": "{{expected.version}}" } };

test("a sound contract contradicts nothing", () => {
  expect(lint({})).toEqual([]);
});

const BROKEN: readonly (readonly [rule: string, at: string, changes: JsonObject, says: string])[] = [
  [
    "request-missing",
    "/request",
    { request: undefined as unknown as Json },
    "write the one that changes the resource",
  ],
  [
    "ledger-has-no-request",
    "/transport",
    { transport: "postgres-ledger" },
    "leave request, outcomes and lookup out",
  ],
  ["lease-too-short", "/lease", { lease: "34s" }, "make it at least that long"],
  ["settle-too-short", "/settle", { settle: { bounded: "34s" } }, "settle must be at least that"],
  [
    "window-too-short",
    "/identity/window",
    { identity: { kind: "key", window: { for: "95s", margin: "1m" } } },
    "or write identity: none",
  ],
  ["identity-not-sent", "/request", request({ headers: {} }), "put {{op.key}} or {{op.id}}"],
  ["precondition-not-sent", "/request", { precondition: ETAG }, "put {{expected.version}}"],
  [
    "same-version-unproved",
    "/identity/kind",
    {
      ...request(IF_MATCH),
      identity: { kind: "same_version" },
      precondition: { ...ETAG, atomic: "claimed" },
    },
    "run `writ probe`",
  ],
  [
    "same-version-unproved",
    "/identity/kind",
    {
      ...request(IF_MATCH),
      identity: { kind: "same_version" },
      precondition: { ...ETAG, versions: "may_return" },
    },
    "never_return",
  ],
  [
    "same-version-unproved",
    "/identity/kind",
    { ...request(IF_MATCH), identity: { kind: "same_version" } },
    "only under a precondition",
  ],
  [
    "if-match-any",
    "/request/headers/If-Match",
    request({ headers: { "Idempotency-Key": "{{op.key}}", "If-Match": "*" } }),
    'write "{{expected.version}}"',
  ],
  [
    "weak-validator",
    "/request/headers/if-match",
    request({ headers: { "Idempotency-Key": "{{op.key}}", "if-match": 'W/"{{expected.version}}"' } }),
    "send the strong one",
  ],
  [
    "weak-validator",
    "/read/require",
    {
      ...request({ headers: { "Idempotency-Key": "{{op.key}}", ...IF_MATCH.headers } }),
      precondition: ETAG,
      read: { request: { method: "GET", url: "{{base}}/x" }, version: { header: "ETag" }, require: "opaque" },
    },
    "require: strong",
  ],
  [
    "lookup-by-resemblance",
    "/lookup/0/request",
    lookup({ request: { method: "GET", url: BASE, query: { amount: "{{args.amount}}" } } }),
    "put {{op.id}}, {{op.key}} or {{op.digest}} into it",
  ],
  [
    "lookup-by-resemblance",
    "/lookup/0/request",
    lookup({ request: { method: "GET", url: BASE }, found: { body: { "/op": "{{op.id}}" } } }),
    "only a question about this operation",
  ],
  [
    "lookup-by-resemblance",
    "/lookup/0/request",
    {
      ...lookup({
        strength: "positive",
        request: { method: "GET", url: "{{base}}/payments/{{args.providerId}}" },
      }),
      barrier: "none",
    },
    'compare the answer with it in "found"',
  ],
  [
    "horizon-too-short",
    "/lookup/0/horizon",
    lookup({ horizon: "1m" }),
    "make the horizon at least that long",
  ],
  [
    "barrier-unnamed",
    "/barrier/request",
    {
      barrier: { kind: "fence", request: { method: "PUT", url: "{{base}}/fence" }, raised: { status: 200 } },
    },
    "could stop another's",
  ],
  [
    "barrier-without-lookup",
    "/barrier",
    lookup({ strength: "positive" }),
    "add a lookup with strength: authoritative",
  ],
  [
    "completion-unnamed",
    "/completion/request",
    {
      completion: {
        request: { method: "GET", url: "{{base}}/jobs/last" },
        done: { status: 200 },
        refused: { status: 410 },
      },
    },
    "does not name our operation",
  ],
  [
    "nothing-confirms",
    "/outcomes",
    { lookup: [], barrier: "none", outcomes: [{ when: { status: 400 }, is: "final_no" }] },
    "add an outcome that is: effect",
  ],
  [
    "duplicate-without-identity",
    "/outcomes/0",
    { identity: "none", outcomes: [{ when: { status: 409 }, is: "duplicate" }] },
    "declare the identity",
  ],
  [
    "unknown-variable",
    "/request/body/at",
    request({ body: { at: "{{now}}", key: "{{op.key}}" } }),
    "nobody authorized what it would send",
  ],
  [
    "unknown-variable",
    "/request/body/n/1",
    request({ body: { n: [1, "{{attempt}}"], key: "{{op.key}}" } }),
    "{{attempt}}",
  ],
  [
    "unknown-variable",
    "/request/url",
    request({ url: "{{base}}/{{vars.nothing}}" }),
    'declare "nothing" under vars',
  ],
  ["unknown-variable", "/vars/b", { vars: { a: "{{op.id}}", b: "{{vars.a}}" } }, "let vars use none"],
  [
    "unknown-variable",
    "/outcomes/0/when/body/~1a",
    { outcomes: [{ when: { body: { "/a": "{{op.attempt}}" } }, is: "effect" }] },
    "{{op.attempt}}",
  ],
  [
    "secret-in-the-open",
    "/request/url",
    request({ url: "{{base}}/{{secret:token}}" }),
    "a header or a body only",
  ],
  [
    "secret-in-the-open",
    "/lookup/0/found/body/~1t",
    lookup({ found: { body: { "/t": "{{secret:token}}" } } }),
    "logged and kept",
  ],
  ["transport-unknown", "/transport", { transport: "telegraph" }, "nobody here speaks telegraph"],
  [
    "phase-unknown",
    "/outcomes/0/when/phase",
    { outcomes: [{ when: { phase: "before_dot" }, is: "not_sent" }] },
    "it reports sent",
  ],
  [
    "silence-read-as-answer",
    "/outcomes/0/is",
    { outcomes: [{ when: { phase: "sent" }, is: "not_sent" }] },
    "write is: unknown",
  ],
  [
    "status-alone",
    "/outcomes/1/when",
    {
      outcomes: [
        { when: { status: 201 }, is: "effect" },
        { when: { status: [404, 409] }, is: "final_no" },
      ],
    },
    "look for the no in its body or a header",
  ],
  [
    "several-effects",
    "/outcomes/0/when",
    { outcomes: [{ when: { status: "2xx" }, is: "effect" }] },
    "an operation has no half",
  ],
  [
    "replay-without-identity",
    "/precondition/replay",
    {
      ...request(IF_MATCH),
      identity: { kind: "same_version" },
      precondition: { ...ETAG, replay: "dedup_first" },
    },
    "or write precondition_first",
  ],
  [
    "marker-not-read",
    "/outcomes",
    {
      ...request({ headers: { "Idempotency-Key": "{{op.key}}", ...IF_MATCH.headers } }),
      precondition: { ...ETAG, replay: "marker_visible" },
    },
    "add one that is: duplicate",
  ],
  [
    "fence-behind-a-lag",
    "/barrier/kind",
    {
      barrier: {
        kind: "fence",
        request: { method: "PUT", url: "{{base}}/fence/{{op.id}}" },
        raised: { status: 200 },
      },
    },
    "a fence leaves nothing that shows what came before it",
  ],
  [
    "retry-after-the-window",
    "/identity/minRetryDelay",
    { identity: { kind: "key", window: { for: "2m", margin: "1m" }, minRetryDelay: "60s" } },
    "before a repeat that waits could arrive",
  ],
  [
    "read-before-operation",
    "/read/request/url",
    { read: { request: { method: "GET", url: "{{base}}/{{op.id}}" }, version: { header: "ETag" } } },
    "has no value when the resource is read",
  ],
];

/** As somebody who also speaks other transports would read it: the rules know only those that are there. */
function parse(written: JsonObject): ReturnType<typeof parseContract> {
  const given = Object.entries(written).filter(([, value]) => value !== undefined);
  return parseContract(Object.fromEntries(given), { ...TRANSPORTS, telegraph: TRANSPORTS.http });
}

describe("a contract that contradicts itself is told what to mend", () => {
  test.each(BROKEN)("%s at %s", (rule, at, changes, says) => {
    const found = lintContract(parse({ ...SOUND, ...changes }));

    expect(found).toContainEqual({ rule, at, says: expect.stringContaining(says) });
  });

  test("in these very words (vitest -u writes the file)", async () => {
    const words = BROKEN.flatMap(([rule, at, changes]) =>
      lintContract(parse({ ...SOUND, ...changes }))
        .filter((found) => found.rule === rule && found.at === at)
        .map(({ says }) => `${rule} ${at}\n  ${says}\n`),
    );

    await expect(words.join("\n")).toMatchFileSnapshot("contract-lint.says.txt");
  });

  test("and every rule that there is has a contract that breaks it", () => {
    const folder = new URL("../../src/core/", import.meta.url);
    const text = [
      "contract-lint",
      "transport-lint",
      "certainty-lint",
      "outcome-shadow",
      "variable-lint",
      "http-message",
    ]
      .map((name) => readFileSync(new URL(`${name}.ts`, folder), "utf8"))
      .join("\n");
    const rules = [...text.matchAll(/(?:finding\(\s*|rule: )"([a-z-]+)"/g)].map(([, rule]) => rule);

    expect([...new Set(rules)].sort()).toEqual(
      [...new Set(BROKEN.map(([rule]) => rule)), "headers-unknown", "shadowed-outcome"].sort(),
    );
  });
});

// A transport with answers that have no headers, and with a phase in which nothing can have happened.
const POST: Transports = {
  ...TRANSPORTS,
  post: { ...TRANSPORTS.http, headers: false, phases: { before_dot: "nothing", after_dot: "unknown" } },
};

describe("what a transport does not have, or does not prove", () => {
  const found = (changes: JsonObject) =>
    lintContract(parseContract({ ...SOUND, ...changes, transport: "post" }, POST), POST);

  test("no headers to look into", () => {
    const says = "an answer of transport post has no headers; look into its body";

    expect(
      found({
        read: { request: { method: "GET", url: "{{base}}/x" }, version: { header: "ETag" } },
        outcomes: [{ when: { headers: { Done: "yes" } }, is: "effect", receipt: { id: "header:Id" } }],
      }),
    ).toEqual([
      { rule: "headers-unknown", at: "/outcomes/0/when/headers", says },
      { rule: "headers-unknown", at: "/outcomes/0/receipt/id", says },
      { rule: "headers-unknown", at: "/read/version/header", says },
    ]);
  });

  test("a phase in which nothing can have happened may be a no, and is never a yes", () => {
    const is = (meaning: string) =>
      found({
        outcomes: [
          { when: { phase: "before_dot" }, is: meaning },
          { when: { status: 201 }, is: "effect" },
        ],
      });

    expect(["not_sent", "transient_no", "final_no", "unknown"].flatMap(is)).toEqual([]);
    expect(is("effect")).toEqual([
      {
        rule: "silence-read-as-answer",
        at: "/outcomes/0/is",
        says: 'no answer came, so it cannot mean "effect"; write one of not_sent, transient_no, final_no, or unknown',
      },
    ]);
  });

  test("a phase of which nobody knows", () => {
    const two = { when: { phase: ["before_dot", "after_dot"] }, is: "not_sent" };

    expect(found({ outcomes: [two, { when: { status: 201 }, is: "effect" }] })).toEqual([
      {
        rule: "silence-read-as-answer",
        at: "/outcomes/0/is",
        says: 'an answer that is lost in phase "after_dot" says nothing about the effect; write is: unknown',
      },
    ]);
  });
});

test("C112 a lookup by an id that only the lost answer had is refused as a lookup", () => {
  const found = lint({
    ...lookup({
      strength: "positive",
      request: { method: "GET", url: "{{base}}/payments/{{args.paymentId}}" },
    }),
    barrier: "none",
  });

  expect(found.map(({ rule }) => rule)).toEqual(["lookup-by-resemblance"]);
});
