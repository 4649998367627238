import { describe, expect, test } from "vitest";
import type { Attempt, Outcome } from "../../src/core/attempt.ts";
import type { ClaimId } from "../../src/core/ids.ts";
import { NO_INQUIRY } from "../../src/core/inquiry.ts";
import { identityUsable, maySend } from "../../src/core/sending.ts";
import { errandOf, living, preset } from "./errand.ts";
import { connectorTo, shop } from "./rig.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SHORT = preset("http/idempotency-key", {
  ...living("5s"),
  identity: { kind: "key", window: { for: "60s", margin: "1s" }, duplicateMeans: "effect" },
});
const KEY = preset("http/idempotency-key", living("5s"));

const lostAt = (claimedAt: number): Attempt => ({
  n: 1,
  claimId: "c1" as ClaimId,
  worker: "w",
  claimedAt,
  leaseUntil: claimedAt + 6000,
  outcome: { kind: "lost", cause: "silence" },
});

test("the key is the operation's own id in the quoted form of the IETF draft, the same on every attempt and another for every operation", async () => {
  const provider = await shop({ key: { retentionMs: null, after: "executes" } });
  const connector = connectorTo(provider.url);

  for (const [operation, attempt] of [
    [1, 1],
    [1, 2],
    [2, 1],
  ] as const)
    await connector.perform(errandOf(KEY, { operation, attempt }));

  const [first, second] = [1, 2].map((operation) => errandOf(KEY, { operation }).action.operationId);
  expect(provider.requests().map(({ headers }) => headers["idempotency-key"])).toEqual([
    `"${first}"`,
    `"${first}"`,
    `"${second}"`,
  ]);
});

test("a key is bare where the contract writes it bare, and both forms name the same key", async () => {
  const provider = await shop({ key: { retentionMs: null, after: "executes" } });
  const request = {
    method: "POST",
    url: "{{base}}/orders",
    headers: { "Idempotency-Key": "{{op.key}}" },
    body: "{{args}}",
  };
  const bare = preset("http/idempotency-key", { ...living("5s"), request });
  const connector = connectorTo(provider.url);
  await connector.perform(errandOf(KEY));

  const again = await connector.perform(errandOf(bare, { attempt: 2 }));

  expect(again).toMatchObject({ kind: "confirmed", evidence: { data: { id: "ord_1", replayed: "true" } } });
  expect(provider.journal().filter(({ kind }) => kind === "order")).toHaveLength(1);
});

describe("C071 the same key doubles the quantity once the provider has forgotten it", () => {
  test("inside the window a repeat is one effect; after it the provider would execute again, and the contract permits no repeat", async () => {
    const provider = await shop({ key: { retentionMs: MINUTE, after: "executes" } });
    const connector = connectorTo(provider.url);
    const repeat = (attempt: number) => connector.perform(errandOf(SHORT, { attempt }));
    const effects = () => provider.effectsOf(errandOf(SHORT).action.operationId).length;
    const usable = (clock: number) =>
      identityUsable({ attempts: [lostAt(0)], inquiry: NO_INQUIRY }, SHORT, clock);
    provider.fault("drop_after");
    await repeat(1);

    provider.advance(30_000);
    const inside = [usable(30_000), (await repeat(2)).kind, effects()];
    provider.advance(60_000);
    const outside = [usable(90_000), effects(), (await repeat(3)).kind, effects()];

    expect(inside).toEqual([true, "confirmed", 1]);
    // The last repeat shows what would happen if it were permitted.
    expect(outside).toEqual([false, 1, "confirmed", 2]);
  });

  test("a key without a declared window is refused when the contract is loaded", () => {
    expect(() => preset("http/idempotency-key", { identity: { kind: "key" } })).toThrow(
      "a key without a window promises nothing",
    );
  });
});

test("C072 the window counts from the first send, not from the approval that took 29 hours", () => {
  const firstSend = 29 * HOUR;
  const progress = { attempts: [lostAt(firstSend)], inquiry: NO_INQUIRY };
  const sending = { n: 2, leaseUntil: 100 * HOUR, expiresAt: 100 * HOUR };

  expect(maySend(progress, sending, KEY, firstSend + 23 * HOUR, 0)).toEqual({ open: true });
  expect(maySend(progress, sending, KEY, firstSend + 24 * HOUR - MINUTE, 0)).toEqual({
    open: false,
    why: "window",
  });
});

test("a provider that refuses an old key leaves the first effect alone", async () => {
  const provider = await shop({ key: { retentionMs: MINUTE, after: "refuses" } });
  const connector = connectorTo(provider.url);
  await connector.perform(errandOf(SHORT));
  provider.advance(MINUTE);

  expect((await connector.perform(errandOf(SHORT, { attempt: 2 }))).kind).toBe("refused");
  expect(provider.effectsOf(errandOf(SHORT).action.operationId)).toHaveLength(1);
});

test("a second request while the first is being processed is in flight, says when to come back, and has no effect of its own", async () => {
  const provider = await shop({ key: { retentionMs: null, after: "executes" } });
  const connector = connectorTo(provider.url);
  provider.fault("slow", { ms: 150 });
  const first = connector.perform(errandOf(KEY));
  await expect.poll(() => provider.requests()).toHaveLength(1);

  const second = await connector.perform(errandOf(KEY, { attempt: 2 }));

  expect(second).toMatchObject({ kind: "lost", answer: "in_flight", retryAfterMs: 1000 });
  expect((await first).kind).toBe("confirmed");
  expect(provider.effectsOf(errandOf(KEY).action.operationId)).toHaveLength(1);
});

test("the same key with another content is a mismatch, and not executed", async () => {
  const provider = await shop({ key: { retentionMs: null, after: "executes" } });
  const connector = connectorTo(provider.url);
  await connector.perform(errandOf(KEY));

  const other = await connector.perform(errandOf(KEY, { arguments: { item: "main/bolt", quantity: 5 } }));

  expect(other).toMatchObject({ kind: "lost", answer: "mismatch" });
  expect(provider.effectsOf(errandOf(KEY).action.operationId)).toHaveLength(1);
});

describe("C115 what exists already is ours only by our reference", () => {
  const outcomes = [
    { when: { status: 201 }, is: "effect" },
    {
      when: { status: 409, body: { "/writ/operation": "{{op.id}}" } },
      is: "duplicate",
      receipt: { id: "/id" },
    },
    { when: { status: 409, body: { "/writ/operation": { present: true } } }, is: "final_no" },
  ];
  const contract = preset("http/marker-lookup", {
    ...living("5s"),
    outcomes,
    identity: { kind: "create_once", duplicateMeans: "effect" },
  });
  const ours = errandOf(contract).action.operationId;
  const cases: readonly (readonly [string, object | undefined, Partial<Outcome>])[] = [
    [
      "our own reference: a duplicate of ours",
      { operation: ours },
      { kind: "lost", answer: "duplicate", seen: { status: 409, id: "user-7" } },
    ],
    ["somebody else's reference: refused", { operation: "op_other" }, { kind: "refused" }],
    ["no reference at all: unknown", undefined, { kind: "lost" }],
  ];

  test.each(cases)("%s", async (_name, writ, expected) => {
    const provider = await shop();
    provider.fault("answer", {
      status: 409,
      body: { id: "user-7", ...(writ === undefined ? {} : { writ: { ...writ } }) },
    });

    const learned = await connectorTo(provider.url).perform(errandOf(contract));

    expect(learned).toMatchObject(expected);
    if (writ === undefined) expect(learned).not.toHaveProperty("answer");
  });
});

test.each([
  ["an empty body", { text: "" }],
  ["an empty object", { body: {} }],
  ["ok: false", { body: { ok: false } }],
  ["HTML", { text: "<html></html>" }],
  ["two readings", { text: '{"id":"a","id":"b"}' }],
  ["null", { body: { id: null } }],
])(
  "C118 a 200 with %s is no success: the evidence that the contract names is missing",
  async (_name, setting) => {
    const provider = await shop();
    provider.fault("answer", { status: 200, ...setting });
    const outcomes = [{ when: { status: 200 }, is: "effect", receipt: { id: "/id" } }];

    const learned = await connectorTo(provider.url).perform(
      errandOf(preset("http/no-guarantees", { ...living("5s"), outcomes })),
    );

    expect(learned).toMatchObject({ kind: "lost", cause: expect.stringContaining('lacks "id"') });
  },
);
