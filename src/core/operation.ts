import { type Attempt, type Evidence, learn, type Outcome } from "./attempt.ts";
import type { Authorization } from "./authorization.ts";
import type { Instant, OperationId, TenantId } from "./ids.ts";
import { type Finding, type Inquiry, observe } from "./inquiry.ts";
import { type Approval, type Review, withdrawn } from "./review.ts";

export type State = "proposed" | "authorized" | "executing" | "succeeded" | "rejected" | "unknown";

/** Why no effect of an operation exists or can still appear. A closed list. */
export type Reason =
  | "invalid"
  | "denied"
  | "review_denied"
  | "expired"
  | "revoked"
  | "precondition_failed"
  | "not_found"
  | "provider_refused"
  | "not_applied"
  | "cancelled"
  | "superseded";

/** What moves: everything about an operation that the fold decides. The rest of it never changes. */
export interface Progress {
  readonly state: State;
  readonly reason?: Reason;
  readonly evidence?: Evidence;
  readonly currentVersion?: string;
  readonly attempts: readonly Attempt[];
  readonly inquiry: Inquiry;
  readonly authorization?: Authorization;
  /** Present once people were asked. */
  readonly review?: Review;
  /** Set while a person is needed; says why. */
  readonly attention?: string;
}

export interface Operation extends Progress {
  readonly tenantId: TenantId;
  readonly id: OperationId;
  readonly revision: number;
  readonly tool: string;
  readonly toolDigest: string;
  readonly provider: string;
  readonly resource: string;
  readonly principalId: string;
  readonly clientId: string;
  readonly digest: string;
  /** The exact stored bytes of the action: what is executed. */
  readonly action: string;
  readonly expectedVersion?: string;
  readonly compensates?: OperationId;
  readonly supersedes?: OperationId;
  readonly intentKey?: string;
  /** The agent's own words: shown apart, never trusted. */
  readonly note?: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly settledAt?: Instant;
  /** When a worker should look at it next; absent when settled, or when only a person can move it. */
  readonly dueAt?: Instant;
  /** `later`: authorized, and waiting for somebody to ask for its execution. */
  readonly execute: "now" | "later";
  /** When the permission ends; for a proposal that waits for people, when waiting ends. */
  readonly expiresAt: Instant;
}

/** An operation before the ledger has dated it. */
export type NewOperation = Omit<
  Operation,
  | "revision"
  | "createdAt"
  | "updatedAt"
  | "expiresAt"
  | "settledAt"
  | "dueAt"
  | "attempts"
  | "inquiry"
  | "authorization"
  | "review"
  | "attention"
  | "evidence"
  | "currentVersion"
>;

/** What happened. Each is allowed in some states only (section 4 of the protocol); anything else is a bug that stops the request. */
export type Happening =
  | { readonly type: "authorized"; readonly authorization: Authorization }
  /** `review` asks afresh; what people said before stays in it, and counts where it still does. */
  | { readonly type: "reopened"; readonly review: Review }
  /** `approval`: the no that ends it, where a person said it. */
  | { readonly type: "denied"; readonly reason: Reason; readonly approval?: Approval }
  /** A yes. Whether it is the last one needed, and authorizes, is for approval.ts to say. */
  | { readonly type: "approved"; readonly approval: Approval }
  | { readonly type: "withdrawn"; readonly person: string; readonly at: Instant }
  | { readonly type: "claimed"; readonly attempt: Attempt; readonly repeat: boolean }
  | { readonly type: "learned"; readonly claimId: string; readonly outcome: Outcome; readonly at: Instant }
  | { readonly type: "lease_ended"; readonly at: Instant }
  /** `settles` and `repeatable` are judged by recovery.ts from the contract at the moment of recording. */
  | {
      readonly type: "found";
      readonly finding: Finding;
      readonly settles: "settled" | "barred" | "no";
      readonly repeatable: boolean;
    }
  | { readonly type: "barring"; readonly at: Instant }
  /** `at` is after the barrier's answer: only what is asked later is asked behind it. */
  | { readonly type: "barred"; readonly raised: boolean; readonly at: Instant };

export type Step<P extends Progress> =
  | { readonly ok: true; readonly progress: P; readonly alarm?: string }
  | { readonly ok: false; readonly why: string };

export function settled(progress: Pick<Progress, "state">): boolean {
  return progress.state === "succeeded" || progress.state === "rejected";
}

/** Executing or lost, and no settled absence covers it: its effect may exist. */
export function open(attempt: Attempt, inquiry: Inquiry): boolean {
  if (attempt.outcome !== undefined && attempt.outcome.kind !== "lost") return false;
  if (inquiry.barred === true) return false;
  if (inquiry.absentThrough !== undefined) return attempt.n > inquiry.absentThrough;
  return inquiry.absentSince === undefined || attempt.claimedAt >= inquiry.absentSince;
}

export function openAttempts(progress: Pick<Progress, "attempts" | "inquiry">): readonly Attempt[] {
  return progress.attempts.filter((attempt) => open(attempt, progress.inquiry));
}

/** The latest definite no, if any attempt got one. */
export function finalRefusal(
  progress: Pick<Progress, "attempts">,
): Extract<Outcome, { kind: "refused" }> | undefined {
  const refusals = progress.attempts.flatMap((attempt) =>
    attempt.outcome?.kind === "refused" ? [attempt.outcome] : [],
  );
  return refusals.at(-1);
}

/** The whole state machine: what an operation becomes when something happens. Pure and total. */
export function advance<P extends Progress>(before: P, happening: Happening): Step<P> {
  switch (happening.type) {
    case "authorized":
      if (before.state !== "proposed" && before.state !== "authorized")
        return misplaced(before, happening.type);
      return moved(before, { state: "authorized", authorization: happening.authorization });
    case "reopened":
      if (before.state !== "authorized") return misplaced(before, happening.type);
      return moved(before, { state: "proposed", review: happening.review });
    case "denied":
      if (before.state !== "proposed" && before.state !== "authorized")
        return misplaced(before, happening.type);
      return moved(before, {
        state: "rejected",
        reason: happening.reason,
        ...(happening.approval === undefined ? {} : said(before, happening.approval)),
      });
    case "approved":
      if (before.state !== "proposed" || before.review === undefined)
        return misplaced(before, happening.type);
      return moved(before, said(before, happening.approval));
    case "withdrawn":
      if ((before.state !== "proposed" && before.state !== "authorized") || before.review === undefined)
        return misplaced(before, happening.type);
      return moved(before, { review: withdrawn(before.review, happening.person, happening.at) });
    case "claimed":
      if (before.state !== "authorized" && !(before.state === "unknown" && happening.repeat))
        return misplaced(before, "claimed");
      return moved(before, { state: "executing", attempts: [...before.attempts, happening.attempt] });
    case "lease_ended":
      return leaseEnded(before, happening.at);
    case "learned":
      return learned(before, happening.claimId, happening.outcome, happening.at);
    case "found":
      return found(before, happening);
    case "barring":
      if (before.state !== "unknown") return misplaced(before, happening.type);
      return moved(before, { inquiry: { ...before.inquiry, barrier: "tried", barrierAt: happening.at } });
    case "barred":
      if (settled(before)) return moved(before, {});
      return moved(before, {
        inquiry: happening.raised
          ? { ...before.inquiry, barrier: "raised", barrierAt: happening.at }
          : { ...before.inquiry, barrier: "refused" },
      });
  }
}

function moved<P extends Progress>(before: P, change: Partial<Progress>, alarm?: string): Step<P> {
  const progress = { ...before, ...change };
  return alarm === undefined
    ? { ok: true, progress }
    : { ok: true, progress: { ...progress, attention: alarm }, alarm };
}

function said({ review }: Progress, approval: Approval): Pick<Progress, "review"> {
  return review === undefined ? {} : { review: { ...review, approvals: [...review.approvals, approval] } };
}

function misplaced<P extends Progress>(before: P, what: string): Step<P> {
  return { ok: false, why: `"${what}" cannot happen to an operation that is ${before.state}` };
}

function leaseEnded<P extends Progress>(before: P, at: Instant): Step<P> {
  const claim = before.attempts.at(-1);
  if (before.state !== "executing" || claim === undefined || at < claim.leaseUntil)
    return misplaced(before, "lease_ended");
  // An ended lease says nothing about the effect: never a repeat, always a question.
  return moved(before, { state: "unknown" });
}

/** Evidence is recorded on its own attempt whoever brings it and however late; leases never guard recording. */
function learned<P extends Progress>(before: P, claimId: string, outcome: Outcome, at: Instant): Step<P> {
  const known = before.attempts.find((attempt) => attempt.claimId === claimId);
  if (known === undefined) return { ok: false, why: `no attempt of this operation has the claim ${claimId}` };
  const attempts = before.attempts.map((attempt) =>
    attempt === known ? learn(known, outcome, at) : attempt,
  );
  const kept = attempts.find((attempt) => attempt.claimId === claimId)?.outcome;
  const lie = contradiction(before, known.outcome, outcome);
  if (settled(before)) return moved(before, { attempts }, lie);
  if (outcome.kind === "confirmed")
    return moved(before, { state: "succeeded", attempts, evidence: outcome.evidence }, lie);
  // Another content under our identity is a conflict, whether a lookup found it or an attempt was told.
  const mismatched = kept?.kind === "lost" && kept.answer === "mismatch";
  const inquiry = mismatched ? { ...before.inquiry, conflict: true } : before.inquiry;
  return fold({ ...before, attempts, inquiry }, true);
}

/** Evidence against what is already known of the operation, or of this very attempt: somebody's contract is wrong. */
function contradiction(before: Progress, known: Outcome | undefined, outcome: Outcome): string | undefined {
  if (outcome.kind === "confirmed" && before.state === "rejected")
    return "an effect appeared after the operation was rejected: the contract is wrong";
  if (outcome.kind === "confirmed" && (known?.kind === "refused" || known?.kind === "absent"))
    return `an attempt that was ${known.kind} had its effect after all: the contract is wrong`;
  if (known?.kind === "confirmed" && (outcome.kind === "refused" || outcome.kind === "absent"))
    return `an attempt that was confirmed is now said to be ${outcome.kind}: the contract is wrong`;
  return undefined;
}

/** Where unsettled knowledge leads once an attempt or a finding was added. */
function fold<P extends Progress>(progress: P, repeatable: boolean): Step<P> {
  const openNow = openAttempts(progress);
  const claim = progress.attempts.at(-1);
  // A live claim goes on whatever an older attempt reports: its own outcome, or the end of its lease, moves the operation.
  if (progress.state === "executing" && claim !== undefined && claim.outcome === undefined)
    return moved(progress, {});
  if (openNow.length > 0) return moved(progress, { state: "unknown" });
  const no = finalRefusal(progress);
  if (no !== undefined) {
    const version = no.currentVersion === undefined ? {} : { currentVersion: no.currentVersion };
    return moved(progress, { state: "rejected", reason: no.reason, ...version });
  }
  // Behind a barrier nothing of this operation can be applied any more, so there is nothing left to permit.
  const again = repeatable && progress.inquiry.barrier === undefined;
  if (!again) return moved(progress, { state: "rejected", reason: "not_applied" });
  // What waits for people goes on waiting: only a decision authorizes it.
  return moved(progress, progress.state === "proposed" ? {} : { state: "authorized" });
}

function found<P extends Progress>(before: P, happening: Extract<Happening, { type: "found" }>): Step<P> {
  const { finding, settles, repeatable } = happening;
  const seen = observe(before.inquiry, finding, settles);
  const covers = finding.kind === "absent" && settles !== "no";
  const inquiry = covers ? { ...seen, absentThrough: before.attempts.length } : seen;
  if (settled(before)) {
    const lied =
      (before.state === "rejected" && finding.kind === "confirmed") ||
      (before.state === "succeeded" &&
        (finding.kind === "conflict" || (finding.kind === "absent" && settles !== "no")));
    return moved(
      before,
      { inquiry },
      lied ? `a ${finding.kind} finding contradicts the settled state: the contract is wrong` : undefined,
    );
  }
  // Evidence of our effect counts in every unsettled state: whoever brings it late must not be turned away.
  if (finding.kind === "confirmed")
    return moved(before, { state: "succeeded", inquiry, evidence: finding.evidence });
  if (before.state !== "unknown" && before.state !== "executing") return misplaced(before, "found");
  if (finding.kind === "absent" && settles !== "no") return fold({ ...before, inquiry }, repeatable);
  return moved(before, { inquiry });
}
