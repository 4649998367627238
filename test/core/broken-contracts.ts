import type { Json, JsonObject } from "../../src/core/json.ts";

const BASE = "{{base}}/orders";
/** It contradicts nothing. */
export const SOUND: JsonObject = {
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
const request = (changes: JsonObject) => ({ request: { ...(SOUND.request as JsonObject), ...changes } });
export const lookup = (changes: JsonObject) => ({
  lookup: [{ ...((SOUND.lookup as readonly JsonObject[])[0] ?? {}), ...changes }],
});
const ETAG = { kind: "etag", atomic: "probed", versions: "never_return" };
const IF_MATCH = { headers: { "If-Match": "{{expected.version}}" } };

/** One way to break it for each rule: where that is said, and a part of what is said. */
export const BROKEN: readonly (readonly [rule: string, at: string, changes: JsonObject, says: string])[] = [
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
