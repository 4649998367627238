import { expect, test } from "vitest";
import type { Attempt, Outcome } from "../../src/core/attempt.ts";
import { explain, type Known } from "../../src/core/explain.ts";
import type { ClaimId, OperationId, TenantId } from "../../src/core/ids.ts";
import { NO_INQUIRY } from "../../src/core/inquiry.ts";
import { canonicalJson } from "../../src/core/json.ts";
import type { Operation } from "../../src/core/operation.ts";
import type { Plan } from "../../src/core/recovery.ts";

const T0 = Date.parse("2026-11-30T12:00:00Z");
const action = canonicalJson({
  arguments: { available: 18 },
  delegation: [{ id: "dlg_1", by: "client", delegator: "a", holder: "b" }],
});

const PROPOSED: Operation = {
  tenantId: "acme" as TenantId,
  id: `op_${"0".repeat(32)}` as OperationId,
  revision: 1,
  state: "proposed",
  tool: "inventory.set_available",
  toolDigest: "sha-256:tool",
  provider: "stock",
  resource: "Item:main/widget",
  principalId: "https://issuer.example#ada",
  clientId: "agent-1",
  digest: "sha-256:digest",
  action,
  execute: "now",
  attempts: [],
  inquiry: NO_INQUIRY,
  expectedVersion: "42",
  createdAt: T0,
  updatedAt: T0,
  expiresAt: T0 + 60_000,
};
const AUTHORIZED: Operation = {
  ...PROPOSED,
  state: "authorized",
  authorization: {
    digest: PROPOSED.digest,
    policyVersion: "sha-256:policy",
    epoch: 1,
    authorizedAt: T0,
    expiresAt: T0 + 60_000,
    roles: ["agent"],
    policies: ["role.agent"],
    obligations: [],
    approvals: [],
  },
};

function attempt(n: number, outcome?: Outcome): Attempt {
  const base = {
    n,
    claimId: `claim-${n}` as ClaimId,
    worker: "w",
    claimedAt: T0 + n * 1000,
    leaseUntil: T0 + n * 1000 + 5000,
  };
  return outcome === undefined ? base : { ...base, outcome, learnedAt: T0 + n * 1000 + 500 };
}

const LOST = attempt(1, { kind: "lost", cause: "no answer within 2 s" });
const known = (more: Partial<Known> = {}): Known => ({ eventCount: 3, clock: T0 + 10_000, ...more });

test("there are exactly four parts, and while it is unsettled what happens next", () => {
  const settled: Operation = {
    ...AUTHORIZED,
    state: "succeeded",
    settledAt: T0 + 2_000,
    attempts: [attempt(1, { kind: "confirmed", evidence: { kind: "row", data: { version: 43 } } })],
    evidence: { kind: "row", data: { version: 43 } },
  };

  const parts = ["against", "attempts", "authorizedBy", "evidence", "operationId", "state", "summary"];
  expect(Object.keys(explain(settled, known())).sort()).toEqual(parts);
  expect(Object.keys(explain(AUTHORIZED, known())).sort()).toEqual([...parts, "next"].sort());
});

test("a success names who, against which version, how often, and what confirms it", () => {
  const told = explain(
    {
      ...AUTHORIZED,
      state: "succeeded",
      settledAt: T0 + 2_000,
      attempts: [LOST, attempt(2, { kind: "confirmed", evidence: { kind: "answer", data: {} } })],
      evidence: { kind: "answer", data: { etag: "43" } },
    },
    known({ promise: ["A repeat is recognized by its key."] }),
  );

  expect(told.authorizedBy.lines).toEqual([
    "agent-1 asked for it on behalf of https://issuer.example#ada, through 1 delegation.",
    "a gave b a part of what it held (dlg_1).",
    "role.agent permitted it at 2026-11-30T12:00:00.000Z, under policy version sha-256:policy.",
    "No person had to approve it.",
    "The permission covers exactly sha-256:digest and ends at 2026-11-30T12:01:00.000Z.",
  ]);
  expect(told.against.lines).toEqual([
    "inventory.set_available on Item:main/widget, at the provider stock.",
    'It was decided against version "42".',
    'Exactly this is what sha-256:digest names: {"available":18}.',
    "A repeat is recognized by its key.",
  ]);
  expect(told.attempts.lines).toEqual([
    "It was attempted 2 times, under one identity.",
    "Attempt 1, claimed at 2026-11-30T12:00:01.000Z, lost its answer: no answer within 2 s. It may have had its effect.",
    "Attempt 2, claimed at 2026-11-30T12:00:02.000Z, was confirmed.",
  ]);
  expect(told.evidence.lines).toEqual([
    'The provider answered our own request: {"etag":"43"}.',
    "Its 3 events form an unbroken chain.",
    "A signed receipt is kept for ever.",
  ]);
  expect(told.evidence.data).toMatchObject({ attributes: "effect", chain: "whole", receipt: true });
});

test("where nothing is known, it says so, and a broken history is not hidden", () => {
  const told = explain(
    { ...AUTHORIZED, state: "unknown", attempts: [LOST] },
    known({ chainBroken: "event 2 was changed after it was stored" }),
  );

  expect(told.summary).toBe("The change may have been applied; Writ is finding out.");
  expect(told.evidence.lines).toEqual([
    "Nothing confirms an effect, or its absence, yet.",
    "Its history does not hold: event 2 was changed after it was stored.",
  ]);
  expect(told.evidence.data).toMatchObject({ attributes: "nothing", chain: "broken", receipt: false });
});

test.each<[string, Partial<Operation>, string]>([
  ["never sent", { reason: "denied" }, "It was never sent, so there is nothing to confirm."],
  [
    "refused",
    {
      reason: "provider_refused",
      attempts: [attempt(1, { kind: "refused", reason: "provider_refused", detail: "no" })],
    },
    "Every attempt ended with a definite no.",
  ],
  [
    "looked up",
    {
      reason: "not_applied",
      attempts: [LOST],
      inquiry: { ...NO_INQUIRY, looked: 1, absentSince: T0 + 9_000 },
    },
    "Whoever looked at 2026-11-30T12:00:09.000Z found nothing, after everything sent had ended.",
  ],
  [
    "barred",
    {
      reason: "not_applied",
      attempts: [LOST],
      inquiry: { ...NO_INQUIRY, looked: 1, absentSince: T0 + 9_000, barred: true },
    },
    "A barrier at the provider makes every late attempt fail for ever.",
  ],
])("a rejection that was %s says what excludes an effect", (_how, change, line) => {
  expect(
    explain({ ...AUTHORIZED, state: "rejected", settledAt: T0, ...change }, known()).evidence.lines[0],
  ).toBe(line);
});

test("the version that stands there instead is named", () => {
  const attempts = [
    attempt(1, { kind: "refused", reason: "precondition_failed", detail: "no row", currentVersion: "43" }),
  ];
  const told = explain(
    { ...AUTHORIZED, state: "rejected", reason: "precondition_failed", currentVersion: "43", attempts },
    known(),
  );

  expect(told.against.lines).toContain('The provider said that version "43" stands there.');
});

const UNKNOWN: Partial<Operation> = { state: "unknown", attempts: [LOST], dueAt: T0 + 20_000 };
const AT = T0 + 30_000;
const PLANS: readonly [Partial<Operation>, Plan | undefined, string, string][] = [
  [{ state: "proposed" }, undefined, "person", "People have to decide."],
  [{ state: "authorized", dueAt: AT }, undefined, "writ", "A worker claims it at 2026-11-30T12:00:30.000Z."],
  [
    { state: "authorized", execute: "later" },
    undefined,
    "caller",
    "It waits until somebody asks for its execution, at the latest 2026-11-30T12:01:00.000Z; then its permission ends.",
  ],
  [{ state: "executing", attempts: [attempt(1)] }, undefined, "writ", "An attempt is under way."],
  [UNKNOWN, undefined, "writ", "Writ goes on finding out at 2026-11-30T12:00:20.000Z."],
  [
    { ...UNKNOWN, attention: "nobody can tell" },
    undefined,
    "person",
    "A person has to find out: nobody can tell.",
  ],
  [
    UNKNOWN,
    { do: "look_up", row: 8, lookup: "by_key", at: AT },
    "writ",
    'Writ asks the provider ("by_key") at 2026-11-30T12:00:30.000Z.',
  ],
  [
    UNKNOWN,
    { do: "poll", row: 6, at: AT },
    "writ",
    "The provider accepted it; Writ asks whether it has finished at 2026-11-30T12:00:30.000Z.",
  ],
  [
    UNKNOWN,
    { do: "repeat", row: 11, at: AT },
    "writ",
    "Writ sends the same request again, under the same identity at 2026-11-30T12:00:30.000Z: the provider recognizes it.",
  ],
  [
    UNKNOWN,
    { do: "bar", row: 8 },
    "writ",
    "Writ raises a barrier at the provider that makes every late attempt fail at 2026-11-30T12:00:20.000Z.",
  ],
  [
    UNKNOWN,
    { do: "authorize", row: 9, at: AT },
    "writ",
    "It is permitted again, and claimed at 2026-11-30T12:00:30.000Z.",
  ],
  [
    UNKNOWN,
    { do: "succeed", row: 3, evidence: { kind: "duplicate_answer", data: {} } },
    "writ",
    "What is known confirms the effect; that is recorded at 2026-11-30T12:00:20.000Z.",
  ],
  [
    UNKNOWN,
    { do: "reject", row: 10, reason: "not_applied" },
    "writ",
    "What is known excludes an effect; that is recorded at 2026-11-30T12:00:20.000Z.",
  ],
  [
    UNKNOWN,
    { do: "person", row: 13, why: "nothing to ask" },
    "person",
    "A person has to find out: nothing to ask.",
  ],
];

test.each(PLANS)("what happens next, when and by whom: %#", (change, plan, by, line) => {
  const told = explain({ ...AUTHORIZED, ...change }, known({ plan }));

  expect(told.next?.lines[0]).toBe(line);
  expect(told.next?.data).toMatchObject({ by });
});
