import type { Attempt, Evidence } from "./attempt.ts";
import { authoritativeLookup, type Contract } from "./contract.ts";
import type { Instant } from "./ids.ts";
import type { Finding } from "./inquiry.ts";
import { finalRefusal, openAttempts, type Progress, type Reason, settled } from "./operation.ts";
import { identityUsable, lastSentAt, provedAbsent } from "./sending.ts";

/** When an authoritative lookup must have *started* for "nothing there" to mean "nothing, ever". Undefined: never. */
function settlesAt(
  progress: Pick<Progress, "attempts" | "inquiry">,
  contract: Contract,
  lagMs: number,
): Instant | undefined {
  if (contract.settle.kind === "unbounded") return undefined;
  return (lastSentAt(progress) ?? 0) + contract.settle.forMs + lagMs;
}

/** What an absence amounts to: it settles, it is barred, or it is forgotten. Everything else never settles. */
export function judgeAbsence(
  progress: Progress,
  finding: Finding,
  contract: Contract,
): "settled" | "barred" | "no" {
  if (finding.kind !== "absent" || !finding.authoritative) return "no";
  // A provider that called our repeat a duplicate has the effect, whatever a lookup does not see.
  if (duplicateMeansEffect(progress, contract)) return "no";
  const { by } = finding;
  const lagMs = "lookup" in by ? (contract.lookup.find((asked) => asked.name === by.lookup)?.lagMs ?? 0) : 0;
  const { barrier, barrierAt } = progress.inquiry;
  // Who sees the barrier sees what came before it. Who does not must have asked when it stood, and what came before it had become visible.
  const behind =
    finding.sawBarrier === true || (barrier === "raised" && finding.startedAt > (barrierAt ?? 0) + lagMs);
  if (behind && barrierAt !== undefined) return "barred";
  const at = settlesAt(progress, contract, lagMs);
  return at !== undefined && finding.startedAt > at ? "settled" : "no";
}

/** Whether permission still stands for one more send. Rows 7 and 11 need it; a repeat could cause the effect now. */
export interface Standing {
  readonly live: boolean;
  readonly why?: "expired" | "revoked" | "halted" | "attempts_spent";
}

/** The standing that the clock and the contract alone can tell; revocations and halts are the caller's to add. */
export function standingOf(progress: Progress, contract: Contract, clock: Instant): Standing {
  const expiresAt = progress.authorization?.expiresAt ?? 0;
  if (clock + contract.maxPauseMs + contract.requestLifeMs >= expiresAt)
    return { live: false, why: "expired" };
  if (progress.attempts.length >= contract.attemptsMax) return { live: false, why: "attempts_spent" };
  return { live: true };
}

/** What to do next, and not before when. */
export type Plan =
  | { readonly do: "succeed"; readonly row: number; readonly evidence: Evidence }
  | { readonly do: "reject"; readonly row: number; readonly reason: Reason }
  | { readonly do: "authorize"; readonly row: number; readonly at: Instant }
  | { readonly do: "look_up"; readonly row: number; readonly lookup: string; readonly at: Instant }
  | { readonly do: "poll"; readonly row: number; readonly at: Instant }
  | { readonly do: "bar"; readonly row: number }
  | { readonly do: "repeat"; readonly row: number; readonly at: Instant }
  | { readonly do: "person"; readonly row: number; readonly why: string; readonly lookAgainAt?: Instant };

/** What was accepted is polled for this long; after that the later rows decide. */
const POLL_FOR_MS = 24 * 3_600_000;
/** Looking goes on while a person decides, but slowly. */
const SLOW_LOOK_MS = 10 * 60_000;

/** The next step for an operation whose attempts did not settle it (section 6 of the protocol; `row` is the row of its table). */
export function next(contract: Contract, progress: Progress, standing: Standing, clock: Instant): Plan {
  if (settled(progress)) throw new Error("a settled operation has no next step");
  if (progress.inquiry.conflict === true || answered(progress, "mismatch") !== undefined) {
    return {
      do: "person",
      row: 1,
      why: "another content stands under this operation's identity at the provider",
    };
  }
  const duplicate = duplicatePlan(contract, progress, clock);
  if (duplicate !== undefined) return duplicate;
  const openNow = openAttempts(progress);
  const no = finalRefusal(progress);
  if (openNow.length === 0) return closedPlan(contract, progress, clock);
  const last = progress.attempts.at(-1);
  const usable = identityUsable(progress, contract, clock);
  const answer = last?.outcome?.kind === "lost" ? last.outcome.answer : undefined;
  if (
    answer === "accepted" &&
    contract.completion !== undefined &&
    clock < (lastSentAt(progress) ?? 0) + POLL_FOR_MS
  ) {
    return {
      do: "poll",
      row: 6,
      at: Math.max(last?.learnedAt ?? 0, progress.inquiry.lastStartedAt ?? 0) + contract.completion.everyMs,
    };
  }
  if (standing.live && usable && busy(contract, answer))
    return { do: "repeat", row: 7, at: repeatAt(contract, progress) };
  const looking = authoritativePlan(contract, progress, usable && standing.live && no === undefined, clock);
  if (looking !== undefined) return looking;
  const markerOnly =
    answer === "duplicate" &&
    contract.identity.kind !== "none" &&
    contract.identity.duplicateMeans === "marker_only";
  if (standing.live && usable && no === undefined && !markerOnly)
    return { do: "repeat", row: 11, at: repeatAt(contract, progress) };
  return askingPlan(contract, progress, clock);
}

function answered(progress: Progress, answer: string): Attempt | undefined {
  return progress.attempts.findLast(
    (attempt) => attempt.outcome?.kind === "lost" && attempt.outcome.answer === answer,
  );
}

function busy(contract: Contract, answer: string | undefined): boolean {
  if (answer === "in_flight") return true;
  return (
    answer === "duplicate" &&
    contract.identity.kind !== "none" &&
    contract.identity.duplicateMeans === "effect_or_in_flight"
  );
}

/** "I have seen this" proves the effect at once, or once whatever was in flight has settled, or never, as the contract says. */
function duplicateMeansEffect(progress: Progress, contract: Contract): boolean {
  const attempt = answered(progress, "duplicate");
  if (attempt === undefined || contract.identity.kind === "none") return false;
  if (contract.identity.duplicateMeans === "effect") return true;
  if (contract.identity.duplicateMeans === "marker_only" || contract.settle.kind === "unbounded")
    return false;
  const earlier = progress.attempts
    .filter((other) => other.n < attempt.n && !provedAbsent(other, progress))
    .at(-1);
  return earlier !== undefined && attempt.claimedAt > earlier.claimedAt + contract.settle.forMs;
}

function duplicatePlan(contract: Contract, progress: Progress, clock: Instant): Plan | undefined {
  const attempt = answered(progress, "duplicate");
  if (attempt === undefined || !duplicateMeansEffect(progress, contract)) return undefined;
  const lookup = contract.lookup[0];
  const asked = (progress.inquiry.lastStartedAt ?? 0) >= (attempt.learnedAt ?? 0);
  if (lookup !== undefined && !asked) return { do: "look_up", row: 3, lookup: lookup.name, at: clock };
  const seen = attempt.outcome?.kind === "lost" ? (attempt.outcome.seen ?? {}) : {};
  return {
    do: "succeed",
    row: 3,
    evidence: { kind: "duplicate_answer", data: { attempt: attempt.n, ...seen } },
  };
}

/** Rows 4, 5, 9 and 10: nothing is open any more. */
function closedPlan(contract: Contract, progress: Progress, clock: Instant): Plan {
  const no = finalRefusal(progress);
  const covered = progress.inquiry.absentSince !== undefined;
  if (no !== undefined) return { do: "reject", row: covered ? 10 : 4, reason: no.reason };
  if (!covered) return { do: "authorize", row: 5, at: repeatAt(contract, progress) };
  if (identityUsable(progress, contract, clock))
    return { do: "authorize", row: 9, at: Math.max(clock, soonestAt(contract, progress)) };
  return { do: "reject", row: 10, reason: "not_applied" };
}

/** Row 8: ask, then bar if a repeat is out of the question, else wait until "nothing there" can be believed. */
function authoritativePlan(
  contract: Contract,
  progress: Progress,
  repeatable: boolean,
  clock: Instant,
): Plan | undefined {
  const lookup = authoritativeLookup(contract);
  const sent = lastSentAt(progress);
  if (lookup === undefined || sent === undefined) return undefined;
  const { lastStartedAt, barrier, barrierAt, unclearInRow } = progress.inquiry;
  const look = (at: Instant): Plan => ({ do: "look_up", row: 8, lookup: lookup.name, at });
  if (lastStartedAt === undefined || lastStartedAt <= sent) return look(Math.max(clock, sent + 1));
  if (unclearInRow >= contract.unclearMax)
    return personPlan(8, `the lookup "${lookup.name}" stayed unclear ${unclearInRow} times`, clock, true);
  if (!repeatable && contract.barrier.kind !== "none") {
    if (barrier === undefined) return { do: "bar", row: 8 };
    if (barrierAt !== undefined && lastStartedAt <= barrierAt) return look(Math.max(clock, barrierAt + 1));
    if (barrier === "raised" && barrierAt !== undefined && lastStartedAt <= barrierAt + lookup.lagMs)
      return look(barrierAt + lookup.lagMs + 1);
  }
  const at = settlesAt(progress, contract, lookup.lagMs);
  // Without a bound on what was sent, looking can never settle an absence: the later rows decide.
  return at === undefined
    ? undefined
    : look(Math.max(at + 1, lastStartedAt + backoffMs(contract, unclearInRow + 1)));
}

/** Rows 12 and 13: no repeat is safe. */
function askingPlan(contract: Contract, progress: Progress, clock: Instant): Plan {
  const lookup = contract.lookup[0];
  if (lookup === undefined)
    return personPlan(13, "the provider offers nothing to ask and no safe repeat", clock, false);
  const { lastStartedAt, looked, unclearInRow } = progress.inquiry;
  if (unclearInRow >= contract.unclearMax)
    return personPlan(12, `the lookup "${lookup.name}" stayed unclear ${unclearInRow} times`, clock, true);
  if (clock >= lookUntil(contract, progress))
    return personPlan(13, "looking found nothing, and not finding proves nothing here", clock, true);
  const at =
    lastStartedAt === undefined ? clock : Math.max(clock, lastStartedAt + backoffMs(contract, looked));
  return { do: "look_up", row: 12, lookup: lookup.name, at };
}

function personPlan(row: number, why: string, clock: Instant, lookAgain: boolean): Plan {
  return lookAgain
    ? { do: "person", row, why, lookAgainAt: clock + SLOW_LOOK_MS }
    : { do: "person", row, why };
}

function lookUntil(contract: Contract, progress: Progress): Instant {
  const horizonMs = Math.max(0, ...contract.lookup.map((lookup) => lookup.horizonMs));
  return (lastSentAt(progress) ?? 0) + horizonMs;
}

/** Doubling from the contract's first delay to its last; jitter is added where randomness lives. */
function backoffMs(contract: Contract, times: number): number {
  return Math.min(
    contract.backoff.maxMs,
    contract.backoff.firstMs * 2 ** Math.min(20, Math.max(0, times - 1)),
  );
}

function repeatAt(contract: Contract, progress: Progress): Instant {
  const last = progress.attempts.at(-1);
  const asked =
    last?.outcome?.kind === "absent" || last?.outcome?.kind === "lost" ? (last.outcome.retryAfterMs ?? 0) : 0;
  const due =
    (last?.learnedAt ?? last?.leaseUntil ?? 0) +
    Math.max(asked, backoffMs(contract, progress.attempts.length));
  return Math.max(due, soonestAt(contract, progress));
}

/** Before this the provider would not know a repeat as one: counted from when the last attempt's bytes can have left at the latest. */
function soonestAt({ identity, maxPauseMs }: Contract, { attempts }: Progress): Instant {
  const last = attempts.at(-1);
  if (last === undefined || identity.kind === "none" || identity.minRetryDelayMs === undefined) return 0;
  return (last.learnedAt ?? last.claimedAt + maxPauseMs) + identity.minRetryDelayMs;
}
