import type { Outcome } from "../../src/core/attempt.ts";
import { LEARNED, REAL } from "./rules.ts";
import { ATOMIC, AUTHORITY, FIRST, LOOKUP, NOTHING, type Variant } from "./variant.ts";

export const RECORDING: readonly Variant[] = [
  {
    name: "silence is recorded as nothing sent",
    where: NOTHING,
    breaks: "I2",
    rules: { outcomeOf: (lesson): Outcome => (lesson === "silence" ? LEARNED.gate_shut : LEARNED[lesson]) },
  },
  {
    name: "a 412 on a repeat rejects the operation",
    where: ATOMIC,
    breaks: "I4",
    rules: {
      advance: (before, happening) => {
        const step = REAL.advance(before, happening);
        const no =
          happening.type === "learned" &&
          happening.outcome.kind === "refused" &&
          step.ok &&
          step.progress.state === "unknown";
        return no
          ? { ok: true, progress: { ...step.progress, state: "rejected", reason: "precondition_failed" } }
          : step;
      },
    },
  },
  {
    name: "not now, said to a repeat, is taken for every attempt",
    where: FIRST,
    breaks: "I4",
    rules: {
      advance: (before, happening) => {
        const step = REAL.advance(before, happening);
        const absent =
          happening.type === "learned" &&
          happening.outcome.kind === "absent" &&
          step.ok &&
          step.progress.state === "unknown";
        return absent ? { ok: true, progress: { ...step.progress, state: "authorized" } } : step;
      },
    },
  },
  {
    name: "a receipt is recorded only while the lease lives",
    where: NOTHING,
    breaks: "I5",
    rules: {
      mayRecord: (progress, n, clock) => {
        const claim = progress.attempts.at(-1);
        return progress.state === "executing" && claim?.n === n && clock < claim.leaseUntil;
      },
    },
  },
  {
    name: "a finding that meets another revision is dropped",
    where: ATOMIC,
    breaks: "I5",
    rules: { findingsFold: false },
  },
  {
    name: "the last report wins, even over a settled state",
    where: LOOKUP,
    breaks: "I5",
    rules: {
      advance: (before, happening) =>
        REAL.advance(
          happening.type === "learned" && before.state === "succeeded"
            ? { ...before, state: "unknown" }
            : before,
          happening,
        ),
    },
  },
  {
    name: "a late report authorizes what waits for people",
    where: AUTHORITY,
    breaks: "I1",
    rules: {
      advance: (before, happening) => {
        const step = REAL.advance(before, happening);
        const late = happening.type === "learned" && step.ok && step.progress.state === "proposed";
        return late ? { ok: true, progress: { ...step.progress, state: "authorized" } } : step;
      },
    },
  },
  {
    name: "accepted is taken for done",
    where: "accepted now, finished later",
    breaks: "I3",
    rules: { outcomeOf: (lesson) => LEARNED[lesson === "accepted" ? "applied" : lesson] },
  },
  {
    name: "absent, then rejected, are two commits",
    where: LOOKUP,
    breaks: "I4",
    rules: { oneCommit: false },
  },
  { name: "nobody notices an ended lease", where: NOTHING, breaks: "I6", rules: { leaseEnds: false } },
];
