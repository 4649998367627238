import type { Attempt } from "./attempt.ts";
import type { Contract } from "./contract.ts";
import type { Instant } from "./ids.ts";
import { openAttempts, type Progress } from "./operation.ts";

/** What the claim, the reconciler, the console and the send gate all ask about. */
export interface Sending {
  /** The attempt that would send, by number; attempts before it are the earlier sends. */
  readonly n: number;
  readonly leaseUntil: Instant;
  readonly expiresAt: Instant;
}

export type Gate =
  | { readonly open: true }
  | { readonly open: false; readonly why: "lease" | "pause" | "expiry" | "window" };

/**
 * May this attempt's bytes leave now? `clock` is the database's clock, never later than it really is by more than was added to it;
 * `sinceClaimMs` starts before the claim was sent and is the larger of monotonic and wall time.
 */
export function maySend(
  progress: Pick<Progress, "attempts" | "inquiry">,
  sending: Sending,
  contract: Contract,
  clock: Instant,
  sinceClaimMs: number,
): Gate {
  const reach = clock + contract.maxPauseMs + contract.requestLifeMs;
  if (clock >= sending.leaseUntil) return { open: false, why: "lease" };
  if (sinceClaimMs >= contract.maxPauseMs) return { open: false, why: "pause" };
  if (reach >= sending.expiresAt) return { open: false, why: "expiry" };
  const opened = windowOpenedAt(progress, contract, sending.n);
  if (opened !== undefined && !windowAllows(contract, opened, reach)) return { open: false, why: "window" };
  return { open: true };
}

/**
 * The earliest moment from which the provider may count the window, seen from the first attempt that may have an effect. A window that
 * opens with the first send was opened by that one, even if a documented "not now" proved it absent.
 */
function windowOpenedAt(
  progress: Pick<Progress, "attempts" | "inquiry">,
  { identity }: Contract,
  beforeN?: number,
): Instant | undefined {
  const first = firstSentAt(progress, beforeN);
  if (first === undefined || identity.kind === "none" || identity.window.opens === "first_effect")
    return first;
  return progress.attempts[0]?.claimedAt;
}

/** A repeat must arrive while the provider still remembers the first request, or after it would refuse. */
function windowAllows(contract: Contract, opened: Instant, reach: Instant): boolean {
  if (contract.identity.kind === "none") return true;
  const { forMs, marginMs, after } = contract.identity.window;
  if (forMs === null || after === "refuses") return true;
  return reach + marginMs < opened + forMs;
}

/** Proved absent: it said so itself, or a settled absence covers it. */
export function provedAbsent(attempt: Attempt, progress: Pick<Progress, "inquiry">): boolean {
  if (attempt.outcome?.kind === "absent") return true;
  if (attempt.outcome !== undefined && attempt.outcome.kind !== "lost") return false;
  return openAttempts({ attempts: [attempt], inquiry: progress.inquiry }).length === 0;
}

/** Claim time of the first attempt (before number `beforeN`) that is not proved absent. */
function firstSentAt(
  progress: Pick<Progress, "attempts" | "inquiry">,
  beforeN = Number.POSITIVE_INFINITY,
): Instant | undefined {
  return progress.attempts.find((attempt) => attempt.n < beforeN && !provedAbsent(attempt, progress))
    ?.claimedAt;
}

/** Claim time of the latest attempt that is not proved absent. */
export function lastSentAt(progress: Pick<Progress, "attempts" | "inquiry">): Instant | undefined {
  return progress.attempts.filter((attempt) => !provedAbsent(attempt, progress)).at(-1)?.claimedAt;
}

/** Would the provider recognize one more request of this operation as the same one? */
export function identityUsable(
  progress: Pick<Progress, "attempts" | "inquiry">,
  contract: Contract,
  clock: Instant,
): boolean {
  const { identity, precondition } = contract;
  if (
    identity.kind === "none" ||
    progress.inquiry.barrier !== undefined ||
    progress.inquiry.conflict === true
  )
    return false;
  if (identity.kind === "same_version") {
    const holds =
      precondition.kind !== "none" &&
      precondition.atomic === "probed" &&
      precondition.versions === "never_return";
    if (!holds) return false;
  }
  const opened = windowOpenedAt(progress, contract);
  return (
    opened === undefined ||
    windowAllows(contract, opened, clock + contract.maxPauseMs + contract.requestLifeMs)
  );
}
