import { expect, test } from "vitest";
import type { Attempt, Outcome } from "../../src/core/attempt.ts";
import type { ClaimId } from "../../src/core/ids.ts";
import { type Finding, NO_INQUIRY } from "../../src/core/inquiry.ts";
import { advance, type Happening, openAttempts, type Progress, settled } from "../../src/core/operation.ts";

const evidence = { kind: "answer", data: {} } as const;
const authorization = {
  digest: "sha-256:a",
  policyVersion: "1",
  epoch: 0,
  authorizedAt: 0,
  expiresAt: 100,
  roles: [],
  policies: [],
  obligations: [],
  approvals: [],
};
const yes = {
  decision: "approve",
  person: "test#bob",
  client: "console",
  roles: ["approver"],
  digest: "sha-256:a",
  at: 2,
  nonce: "n",
} as const;
const review = {
  requirements: [],
  policyVersion: "1",
  epoch: 0,
  policies: [],
  obligations: [],
  roles: [],
  since: 1,
  approvals: [],
};
const OUTCOMES: readonly Outcome[] = [
  { kind: "confirmed", evidence },
  { kind: "refused", reason: "precondition_failed", detail: "412", currentVersion: "43" },
  { kind: "absent", why: "429" },
  { kind: "lost", cause: "no answer" },
  { kind: "lost", cause: "mismatch", answer: "mismatch" },
];

function attemptOf(n: number): Attempt {
  return { n, claimId: claimId(n), worker: "w", claimedAt: n * 10, leaseUntil: n * 10 + 5 };
}

function claimId(n: number): ClaimId {
  return `claim-${n}` as ClaimId; // The brand only says what it names.
}

function foundOf(finding: Finding, settles: "settled" | "barred" | "no", repeatable: boolean): Happening {
  return { type: "found", finding, settles, repeatable };
}

const by = { lookup: "by_operation" };
const absent = { kind: "absent", by, startedAt: 15, authoritative: true } as const;
const HAPPENINGS: Readonly<Record<string, (before: Progress) => Happening>> = {
  authorized: () => ({ type: "authorized", authorization }),
  reopened: () => ({ type: "reopened", review }),
  denied: () => ({ type: "denied", reason: "revoked" }),
  "said no": () => ({ type: "denied", reason: "review_denied", approval: { ...yes, decision: "reject" } }),
  approved: () => ({ type: "approved", approval: yes }),
  withdrawn: () => ({ type: "withdrawn", person: yes.person, at: 3 }),
  claimed: (before) => ({ type: "claimed", attempt: attemptOf(before.attempts.length + 1), repeat: false }),
  repeated: (before) => ({ type: "claimed", attempt: attemptOf(before.attempts.length + 1), repeat: true }),
  "lease ended": (before) => ({ type: "lease_ended", at: before.attempts.at(-1)?.leaseUntil ?? 0 }),
  "found confirmed": () => foundOf({ kind: "confirmed", by, startedAt: 15, evidence }, "no", false),
  "found absent, too early": () => foundOf(absent, "no", true),
  "found absent, settled, repeatable": () => foundOf(absent, "settled", true),
  "found absent, settled, not repeatable": () => foundOf({ ...absent, startedAt: 99 }, "settled", false),
  "found absent, barred": () => foundOf({ ...absent, sawBarrier: true }, "barred", false),
  "found unclear": () => foundOf({ kind: "unclear", by, startedAt: 15, why: "503" }, "no", false),
  "found conflict": () => foundOf({ kind: "conflict", by, startedAt: 15, evidence }, "no", false),
  barring: () => ({ type: "barring", at: 16 }),
  "barred, raised": () => ({ type: "barred", raised: true, at: 17 }),
  "barred, refused": () => ({ type: "barred", raised: false, at: 17 }),
  ...Object.fromEntries(
    [1, 2].flatMap((n) =>
      OUTCOMES.map((outcome) => [
        `${n} learned ${outcome.kind === "lost" ? outcome.cause : outcome.kind}`,
        (): Happening => ({ type: "learned", claimId: claimId(n), outcome, at: n * 10 + 2 }),
      ]),
    ),
  ),
};

/** Every history of one operation with at most two attempts, each told by the way that led there. */
function histories(): {
  readonly path: string;
  readonly before: Progress;
  readonly name: string;
  readonly after: Progress;
  readonly alarm?: string;
}[] {
  const first: Progress = { state: "proposed", attempts: [], inquiry: NO_INQUIRY, review };
  const known = new Set([keyOf(first)]);
  const all = [];
  let layer: { progress: Progress; path: string }[] = [{ progress: first, path: "" }];
  while (layer.length > 0) {
    const following: typeof layer = [];
    for (const { progress, path } of layer) {
      for (const [name, happening] of Object.entries(HAPPENINGS)) {
        if ((name === "claimed" || name === "repeated") && progress.attempts.length === 2) continue;
        const step = advance(progress, happening(progress));
        if (!step.ok) continue;
        const way = `${path} > ${name}`;
        all.push({
          path: way,
          before: progress,
          name,
          after: step.progress,
          ...(step.alarm === undefined ? {} : { alarm: step.alarm }),
        });
        const key = keyOf(step.progress);
        // What happens to a settled operation is visited once: it changes nothing that could happen next.
        if (known.has(key) || settled(progress)) continue;
        known.add(key);
        following.push({ progress: step.progress, path: way });
      }
    }
    layer = following;
  }
  return all;
}

/** What the machine reads of a progress, and so all that can matter next. */
function keyOf({ state, attempts, inquiry }: Progress): string {
  const outcomes = attempts.map(({ outcome }) => (outcome?.kind === "lost" ? outcome.cause : outcome?.kind));
  return [state, ...outcomes, inquiry.absentSince, inquiry.barrier, inquiry.barred, inquiry.conflict].join();
}

const ALL = histories();

/** The paths that broke, a few of them. */
function pathsOf(wrong: readonly { readonly path: string }[]): readonly string[] {
  return wrong.slice(0, 5).map(({ path }) => path);
}

test("the whole machine was visited, and every happening happened in it", () => {
  expect(ALL.length).toBeGreaterThan(20_000);
  expect(Object.keys(HAPPENINGS).filter((name) => !ALL.some((one) => one.name === name))).toEqual([]);
});

test("a settled operation never changes what it says", () => {
  const changed = ALL.filter(
    ({ before, after }) =>
      settled(before) &&
      (before.state !== after.state || before.reason !== after.reason || before.evidence !== after.evidence),
  );

  expect(pathsOf(changed)).toEqual([]);
});

test("unknown and executing never become rejected or authorized while an attempt is open", () => {
  const wrong = ALL.filter(
    ({ before, after }) =>
      (before.state === "unknown" || before.state === "executing") &&
      (after.state === "rejected" || after.state === "authorized") &&
      openAttempts(after).length > 0,
  );

  expect(pathsOf(wrong)).toEqual([]);
});

test("evidence of the effect settles every unsettled state, whoever brings it", () => {
  const confirmations = ALL.filter(({ name, before }) => name.endsWith("confirmed") && !settled(before));
  const known = (before: Progress, name: string) => {
    const outcome = before.attempts.find((attempt) => name.startsWith(`${attempt.n} `))?.outcome;
    return outcome !== undefined && outcome.kind !== "lost";
  };

  // A contradiction of something definite is no news of this attempt: the first definite answer stands.
  const ignored = confirmations.filter(
    ({ before, name, after }) => after.state !== "succeeded" && !known(before, name),
  );

  expect(pathsOf(ignored)).toEqual([]);
});

test("nothing definite is replaced but by an effect that appeared, nothing becomes lost, and no attempt disappears", () => {
  const wrong = ALL.filter(({ before, after }) =>
    before.attempts.some((attempt, index) => {
      const now = after.attempts[index]?.outcome;
      if (after.attempts[index]?.claimId !== attempt.claimId) return true;
      if (attempt.outcome === undefined) return false;
      if (attempt.outcome.kind === "lost") return now === undefined;
      const appeared = attempt.outcome.kind !== "confirmed" && now?.kind === "confirmed";
      return now !== attempt.outcome && !appeared;
    }),
  );

  expect(pathsOf(wrong)).toEqual([]);
});

test("only a decision authorizes what waits for people", () => {
  const slipped = ALL.filter(
    ({ before, after, name }) =>
      before.state === "proposed" && after.state === "authorized" && name !== "authorized",
  );

  expect(pathsOf(slipped)).toEqual([]);
});

test("a contradiction of a settled state, or of what an attempt had learned, rings an alarm, and nothing else does", () => {
  const contradicts = ({ before, name, after }: (typeof ALL)[number]) => {
    const [n, , learned] = name.split(" ");
    const known = before.attempts.find(
      (attempt) => name.startsWith(`${attempt.n} learned`) && String(attempt.n) === n,
    );
    const had = known?.outcome?.kind;
    if (had === "confirmed" && (learned === "refused" || learned === "absent")) return true;
    if (learned === "confirmed" && (had === "refused" || had === "absent")) return true;
    if (before.state === "succeeded")
      return name === "found conflict" || /absent, (settled|barred)/.test(name);
    if (before.state !== "rejected") return false;
    if (name === "found confirmed") return true;
    return after.attempts.some(
      (attempt) => name.startsWith(`${attempt.n} learned`) && attempt.outcome?.kind === "confirmed",
    );
  };

  expect(pathsOf(ALL.filter((one) => contradicts(one) !== (one.alarm !== undefined)))).toEqual([]);
  expect(ALL.filter(({ alarm, after }) => alarm !== undefined && after.attention === undefined)).toEqual([]);
});

test("another content under our identity is a conflict, whether it was found or answered", () => {
  const told = ALL.filter(
    ({ name, before }) =>
      name.endsWith("mismatch") &&
      before.state === "executing" &&
      before.attempts.at(-1)?.outcome === undefined,
  );
  const missed = told.filter(
    ({ after, name }) =>
      after.attempts.some(
        (attempt) =>
          name.startsWith(`${attempt.n} `) &&
          attempt.outcome?.kind === "lost" &&
          attempt.outcome.answer === "mismatch",
      ) && after.inquiry.conflict !== true,
  );

  expect(told.length).toBeGreaterThan(0);
  expect(pathsOf(missed)).toEqual([]);
});

test.each([
  ["authorized", ["proposed", "authorized"]],
  ["reopened", ["authorized"]],
  ["denied", ["proposed", "authorized"]],
  ["said no", ["proposed", "authorized"]],
  ["approved", ["proposed"]],
  ["withdrawn", ["proposed", "authorized"]],
  ["claimed", ["authorized"]],
  ["repeated", ["authorized", "unknown"]],
  ["lease ended", ["executing"]],
  ["barring", ["unknown"]],
])("%s happens in %s only", (name, states) => {
  const seen = new Set(ALL.filter((one) => one.name === name).map(({ before }) => before.state));

  expect([...seen].sort()).toEqual([...states].sort());
});

test("what people said is kept: a yes, the one that was taken back, and the no that ended it", () => {
  const path: readonly Happening[] = [
    { type: "approved", approval: yes },
    { type: "withdrawn", person: yes.person, at: 3 },
    { type: "denied", reason: "review_denied", approval: { ...yes, decision: "reject", at: 4 } },
  ];

  const end = path.reduce<Progress>(
    (before, happening) => {
      const step = advance(before, happening);
      return step.ok ? step.progress : before;
    },
    { state: "proposed", attempts: [], inquiry: NO_INQUIRY, review },
  );

  expect(end).toMatchObject({ state: "rejected", reason: "review_denied" });
  expect(end.review?.approvals).toEqual([
    { ...yes, withdrawnAt: 3 },
    { ...yes, decision: "reject", at: 4 },
  ]);
});

test("nobody says yes to what no person was asked about", () => {
  const step = advance(
    { state: "proposed", attempts: [], inquiry: NO_INQUIRY },
    { type: "approved", approval: yes },
  );

  expect(step.ok).toBe(false);
});
