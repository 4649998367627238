import { expect, test } from "vitest";
import type { Outcome } from "../../src/core/attempt.ts";
import type { Window } from "../../src/core/contract.ts";
import type { Finding, Inquiry } from "../../src/core/inquiry.ts";
import { judgeAbsence, standingOf } from "../../src/core/recovery.ts";
import { identityUsable, maySend } from "../../src/core/sending.ts";
import { ABSENT, authoritative, doubt, KEY, NOTHING, positive, SILENCE } from "./doubt.ts";

test.each([
  ["lease", { leaseUntil: 2000 }, 0],
  ["pause", {}, 5],
  ["expiry", { expiresAt: 2035 }, 0],
] as const)("the gate is shut at the very moment of: %s", (why, change, since) => {
  const sending = { n: 1, leaseUntil: 2001, expiresAt: 2036, ...change };

  expect(maySend(doubt([]), sending, NOTHING, 2000, since)).toEqual({ open: false, why });
  expect(maySend(doubt([]), { ...sending, leaseUntil: 2001, expiresAt: 2036 }, NOTHING, 2000, 4)).toEqual({
    open: true,
  });
});

test("the standing that the clock can tell asks the same as the gate", () => {
  const authorization = {
    digest: "",
    policyVersion: "",
    epoch: 0,
    authorizedAt: 0,
    expiresAt: 2036,
    roles: [],
    policies: [],
    obligations: [],
    approvals: [],
  };

  expect(standingOf({ ...doubt([]), authorization }, NOTHING, 2000)).toEqual({ live: true });
  expect(standingOf({ ...doubt([]), authorization }, NOTHING, 2001)).toEqual({ live: false, why: "expired" });
  expect(standingOf({ ...doubt([SILENCE, SILENCE, SILENCE]), authorization }, NOTHING, 2000)).toEqual({
    live: false,
    why: "attempts_spent",
  });
});

test.each<[string, readonly Outcome[], Partial<Window>, boolean]>([
  ["inside", [SILENCE], { forMs: 1146 }, true],
  ["at its end", [SILENCE], { forMs: 1145 }, false],
  ["refuses afterwards", [SILENCE], { forMs: 1, after: "refuses" }, true],
  ["nothing was sent", [ABSENT], { forMs: 1 }, true],
  ["opened by what was proved absent", [ABSENT, SILENCE], { forMs: 1145, opens: "first_send" }, false],
  [
    "opens with the effect, so not by what was proved absent",
    [ABSENT, SILENCE],
    { forMs: 1145, opens: "first_effect" },
    true,
  ],
])("a repeat under a key's window: %s", (_name, outcomes, change, open) => {
  const window: Window = { opens: "first_send", forMs: 0, marginMs: 110, after: "executes", ...change };
  const contract = { ...NOTHING, identity: { ...KEY, window } };
  const sending = { n: outcomes.length + 1, leaseUntil: 9000, expiresAt: 9000 };

  expect(maySend(doubt(outcomes), sending, contract, 2000, 0).open).toBe(open);
  expect(identityUsable(doubt(outcomes), contract, 2000)).toBe(open);
});

test.each<
  [string, Partial<Inquiry>, Partial<Extract<Finding, { kind: "absent" }>>, "settled" | "barred" | "no"]
>([
  ["asked when a request may still act", {}, { startedAt: 1057 }, "no"],
  ["asked after that and the lag", {}, { startedAt: 1058 }, "settled"],
  ["by one that only finds", {}, { startedAt: 9000, authoritative: false }, "no"],
  ["by a person, who sees no lag", {}, { startedAt: 1051, by: { ruling: "ada" } }, "settled"],
  ["by a person, too early", {}, { startedAt: 1050, by: { ruling: "ada" } }, "no"],
  ["before the barrier's lag has passed", { barrier: "raised", barrierAt: 1020 }, { startedAt: 1027 }, "no"],
  ["behind the barrier", { barrier: "raised", barrierAt: 1020 }, { startedAt: 1028 }, "barred"],
  [
    "who sees the barrier sees what came before it",
    { barrier: "tried", barrierAt: 1020 },
    { startedAt: 1021, sawBarrier: true },
    "barred",
  ],
  ["a barrier that was only tried", { barrier: "tried", barrierAt: 1020 }, { startedAt: 1040 }, "no"],
  ["a refused barrier is never evidence", { barrier: "refused", barrierAt: 1020 }, { startedAt: 1040 }, "no"],
])("an absence: %s", (_name, inquiry, change, settles) => {
  const finding = {
    kind: "absent",
    by: { lookup: "proves" },
    startedAt: 0,
    authoritative: true,
    ...change,
  } as const;

  expect(
    judgeAbsence(doubt([SILENCE], inquiry), finding, { ...NOTHING, lookup: [positive, authoritative] }),
  ).toBe(settles);
});

test("an absence is judged by the lag of the lookup that was asked", () => {
  const slow = { ...authoritative, name: "slow", lagMs: 100 };
  const finding = { kind: "absent", by: { lookup: "slow" }, startedAt: 1060, authoritative: true } as const;

  expect(judgeAbsence(doubt([SILENCE]), finding, { ...NOTHING, lookup: [authoritative, slow] })).toBe("no");
});

test("without a bound on what was sent, no absence ever settles", () => {
  const finding = {
    kind: "absent",
    by: { ruling: "ada" },
    startedAt: 9_000_000,
    authoritative: true,
  } as const;

  expect(judgeAbsence(doubt([SILENCE]), finding, { ...NOTHING, settle: { kind: "unbounded" } })).toBe("no");
});

test.each([
  [{ atomic: "probed", versions: "never_return" }, true],
  [{ atomic: "claimed", versions: "never_return" }, false],
  [{ atomic: "probed", versions: "may_return" }, false],
] as const)(
  "a version is an identity only where it was probed and never returns: %o",
  (condition, usable) => {
    const precondition = { kind: "etag", replay: "precondition_first", ...condition } as const;

    expect(
      identityUsable(
        doubt([SILENCE]),
        { ...NOTHING, precondition, identity: { ...KEY, kind: "same_version" } },
        2000,
      ),
    ).toBe(usable);
  },
);
