import { describe, expect, test } from "vitest";
import { CONTRACT_DEFAULTS } from "../../src/core/contract-defaults.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { Problem } from "../../src/core/problem.ts";

const LEAST: JsonObject = { contract: "shop.set_available/v1", transport: "http" };
const GET = { method: "GET", url: "{{base}}/x/{{op.id}}" };
const LOOKUP = { name: "l", request: GET, found: { status: 200 }, absent: { status: 404 } };

test("a contract that says nothing promises nothing, with the stated defaults", () => {
  expect(parseContract(LEAST)).toEqual({
    contract: "shop.set_available/v1",
    transport: "http",
    requestLifeMs: 30_000,
    maxPauseMs: 5_000,
    leaseMs: 40_000,
    attemptsMax: 5,
    backoff: { firstMs: 1_000, maxMs: 300_000 },
    settle: { kind: "unbounded" },
    precondition: { kind: "none" },
    identity: { kind: "none" },
    lookup: [],
    barrier: { kind: "none" },
    outcomes: [],
    unclearMax: 5,
  });
  expect(CONTRACT_DEFAULTS.attemptsMax).toBe(5);
});

test("what is written is what is read", () => {
  const contract = parseContract({
    ...LEAST,
    requestLife: "250ms",
    maxPause: "1.5s",
    lease: "2m",
    attemptsMax: 3,
    unclearMax: 2,
    backoff: { first: "1s", max: "1h" },
    settle: { bounded: "1d" },
    precondition: { kind: "etag", atomic: "probed", versions: "never_return", replay: "dedup_first" },
    identity: {
      kind: "key",
      window: { opens: "first_effect", for: "24h", margin: "0s", after: "refuses" },
      duplicateMeans: "marker_only",
    },
    lookup: [
      {
        ...LOOKUP,
        strength: "authoritative",
        lag: "0s",
        horizon: "2d",
        digestAt: "/d",
        barrier: { status: 410 },
        receipt: { id: "/id" },
      },
    ],
    barrier: { kind: "fence", request: GET, raised: { status: "2xx" } },
    outcomes: [
      {
        when: { status: 200, headers: { "X-A": "b" }, body: { "/a": { present: true } } },
        is: "effect",
        receipt: { "v?": "header:ETag" },
      },
    ],
    completion: { request: GET, every: "10s", done: { status: 200 }, refused: { status: 410 } },
    read: { request: GET, version: { body: "/version" }, require: "opaque" },
    request: {
      ...GET,
      method: "PUT",
      headers: { "If-Match": "{{expected.version}}" },
      query: { a: "1" },
      encode: "form",
      body: { a: "{{args.a?}}" },
    },
    vars: { marker: "w/{{op.id}}" },
  });

  expect(contract).toMatchObject({
    requestLifeMs: 250,
    maxPauseMs: 1500,
    leaseMs: 120_000,
    attemptsMax: 3,
    unclearMax: 2,
    backoff: { firstMs: 1000, maxMs: 3_600_000 },
    settle: { kind: "bounded", forMs: 86_400_000 },
    identity: {
      kind: "key",
      window: { opens: "first_effect", forMs: 86_400_000, marginMs: 0, after: "refuses" },
      duplicateMeans: "marker_only",
    },
    lookup: [
      {
        strength: "authoritative",
        lagMs: 0,
        horizonMs: 172_800_000,
        found: { status: [200] },
        digestAt: "/d",
      },
    ],
    completion: { everyMs: 10_000 },
    read: { version: { body: "/version" }, require: "opaque" },
  });
});

test("what is created once is remembered as long as it is there; a key says how long", () => {
  const identity = (written: Json) => parseContract({ ...LEAST, identity: written }).identity;

  expect(identity({ kind: "create_once" })).toMatchObject({
    window: { forMs: null, after: "refuses" },
    duplicateMeans: "effect_or_in_flight",
  });
  expect(identity({ kind: "key", window: { for: "permanent" } })).toMatchObject({
    window: { forMs: null, marginMs: 0, after: "executes" },
  });
  expect(identity({ kind: "key", window: { for: "unknown", after: "refuses" } })).toMatchObject({
    window: { forMs: null, after: "refuses" },
  });
  expect(identity({ kind: "key", window: { for: "1h" } })).toMatchObject({
    window: { marginMs: 60_000, after: "executes" },
  });
});

test("an authoritative lookup's horizon reaches by default as far as what settles an absence", () => {
  const horizon = (settle: Json) =>
    parseContract({ ...LEAST, settle, lookup: [{ ...LOOKUP, strength: "authoritative", lag: "1h" }] })
      .lookup[0]?.horizonMs;

  expect([horizon({ bounded: "2h" }), horizon("unbounded")]).toEqual([3 * 3_600_000, 3_600_000]);
});

const REFUSED: readonly (readonly [at: string, written: Json, says: string])[] = [
  ["", "text", "write an object"],
  ["", { transport: "http" }, '"contract" is missing'],
  ["", { contract: "a/v1" }, '"transport" is missing'],
  ["/contract", { ...LEAST, contract: "Shop" }, "a name and a version"],
  [
    "/request",
    { ...LEAST, request: [{ method: "POST", url: "{{base}}/a" }] },
    "an operation is one request with one effect; write one, and make each of the others an operation of its own",
  ],
  [
    "/outcomes/0/when",
    { ...LEAST, outcomes: [{ when: { phase: "sent", status: 200 }, is: "unknown" }] },
    '"phase" is about an answer that did not come; leave everything else out',
  ],
  ["/transport", { ...LEAST, transport: "carrier-pigeon" }, "write one of http, "],
  ["/request_life", { ...LEAST, request_life: "5s" }, '"request_life" is written "requestLife"'],
  ["/retries", { ...LEAST, retries: 3 }, '"retries" is not known here'],
  ["/requestLife", { ...LEAST, requestLife: 5 }, "write a number and a unit"],
  ["/requestLife", { ...LEAST, requestLife: "5 s" }, "write a number and a unit"],
  ["/requestLife", { ...LEAST, requestLife: "0s" }, "longer than none"],
  ["/requestLife", { ...LEAST, requestLife: "0.0001s" }, "write a number and a unit"],
  ["/requestLife", { ...LEAST, requestLife: "1.5ms" }, "a whole number of milliseconds"],
  ["/requestLife", { ...LEAST, requestLife: "9999d" }, "at most ten years"],
  ["/attemptsMax", { ...LEAST, attemptsMax: 0 }, "a whole number from 1 to 100"],
  ["/backoff", { ...LEAST, backoff: { first: "1m", max: "1s" } }, '"max" must not be shorter'],
  ["/settle", { ...LEAST, settle: "60s" }, "write unbounded, or how long"],
  ["/settle", { ...LEAST, settle: {} }, '"bounded" is missing'],
  ["/precondition", { ...LEAST, precondition: {} }, '"kind" is missing'],
  [
    "/precondition/atomic",
    { ...LEAST, precondition: { kind: "etag", atomic: "verified" } },
    "claimed, probed",
  ],
  ["/identity", { ...LEAST, identity: { kind: "key" } }, "a key without a window promises nothing"],
  ["/identity/window", { ...LEAST, identity: { kind: "key", window: {} } }, '"for" is missing'],
  [
    "/identity/window/for",
    { ...LEAST, identity: { kind: "key", window: { for: "unknown" } } },
    "an unknown window that executes again",
  ],
  [
    "/identity/duplicate_means",
    { ...LEAST, identity: { kind: "key", duplicate_means: "effect" } },
    'written "duplicateMeans"',
  ],
  ["/lookup", { ...LEAST, lookup: LOOKUP }, "write a list"],
  [
    "/lookup/0",
    { ...LEAST, lookup: [{ ...LOOKUP, strength: "authoritative" }] },
    '"authoritative" without a lag',
  ],
  ["/lookup/0/digestAt", { ...LEAST, lookup: [{ ...LOOKUP, digestAt: "digest" }] }, "write a JSON Pointer"],
  ["/barrier", { ...LEAST, barrier: { kind: "tombstone", request: GET } }, '"raised" is missing'],
  [
    "/outcomes/0/is",
    { ...LEAST, outcomes: [{ when: { status: 200 }, is: "ok" }] },
    "write one of effect, duplicate",
  ],
  [
    "/outcomes/0/when",
    { ...LEAST, outcomes: [{ when: {}, is: "effect" }] },
    "an empty condition matches everything",
  ],
  [
    "/outcomes/0/when/status/0",
    { ...LEAST, outcomes: [{ when: { status: ["2x"] }, is: "effect" }] },
    "a status from 200 to 599",
  ],
  [
    "/outcomes/0/when/status",
    { ...LEAST, outcomes: [{ when: { status: "200" }, is: "effect" }] },
    "a status from 200 to 599",
  ],
  [
    "/outcomes/0/when/body/a~1b",
    { ...LEAST, outcomes: [{ when: { body: { "a/b": 1 } }, is: "effect" }] },
    "is not a JSON Pointer",
  ],
  [
    "/outcomes/0/when/body/~1a",
    { ...LEAST, outcomes: [{ when: { body: { "/a": { present: "yes" } } }, is: "effect" }] },
    "{ present: true }",
  ],
  [
    "/outcomes/0/receipt",
    { ...LEAST, outcomes: [{ when: { status: 200 }, is: "effect", receipt: { id: "id" } }] },
    "neither a JSON Pointer",
  ],
  [
    "/outcomes/0/receipt",
    { ...LEAST, outcomes: [{ when: { status: 200 }, is: "effect", receipt: { status: "/s" } }] },
    "is kept by Writ itself",
  ],
  [
    "/read/version",
    { ...LEAST, read: { request: GET, version: { header: "ETag", body: "/v" } } },
    "write either",
  ],
  [
    "/request/url",
    { ...LEAST, request: { method: "GET", url: "https://evil.example/" } },
    'begin with "{{base}}/"',
  ],
  [
    "/request/url",
    { ...LEAST, request: { method: "GET", url: "{{base}}.evil.example/" } },
    'begin with "{{base}}/"',
  ],
  ["/request/url", { ...LEAST, request: { method: "GET", url: "{{base}}/#x" } }, "never sent"],
  ["/request/url", { ...LEAST, request: { method: "GET", url: "{{base}}/{{args.a" } }, "without its partner"],
  ["/request/method", { ...LEAST, request: { ...GET, method: "get" } }, "GET, POST, PUT"],
  ["/request/headers", { ...LEAST, request: { ...GET, headers: { "{{args.h}}": "x" } } }, "holds a variable"],
  [
    "/request/headers",
    { ...LEAST, request: { ...GET, headers: { "Transfer-Encoding": "chunked" } } },
    "written by Writ itself",
  ],
  ["/request/headers", { ...LEAST, request: { ...GET, headers: { A: "1", a: "2" } } }, "stands there twice"],
  ["/request/body", { ...LEAST, request: { ...GET, body: { "{{args.a}}": 1 } } }, "holds a variable"],
  ["/request/body", { ...LEAST, request: { ...GET, body: "{{md5 args}}" } }, "is no encoder"],
  ["/request/body", { ...LEAST, request: { ...GET, body: "{{ }}" } }, "is not a variable"],
];

describe("one precise sentence names the place and the mend", () => {
  test.each(REFUSED)("at %j of %j: %s", (at, written, says) => {
    try {
      parseContract(written);
      expect.unreachable("it was read");
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      expect(problem.code).toBe("invalid");
      expect(problem.details.at).toBe(at);
      expect(problem.message).toContain(says);
    }
  });
});
