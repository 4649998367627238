import assert from "node:assert/strict";
import type { Outcome } from "../core/attempt.ts";
import type { Contract } from "../core/contract.ts";
import type { EventDraft, EventType } from "../core/event.ts";
import type { Instant } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import { advance, type Happening, type Operation, type Progress, settled } from "../core/operation.ts";
import { receiptClaims } from "../core/receipt.ts";
import { next, type Standing, standingOf } from "../core/recovery.ts";
import type { Approval } from "../core/review.ts";
import { storable } from "../core/storable.ts";
import type { Recording } from "./ledger-port.ts";
import type { Ports } from "./ports.ts";

/** Who made something happen, as events tell it. */
export type Actor = JsonObject;

export const workerActor = (ports: Pick<Ports, "worker">): Actor => ({ worker: ports.worker });

/** Something that happened and who made it happen; `data` adds to what the event says by itself. */
export interface Told {
  readonly happening: Happening;
  readonly actor: Actor;
  readonly data?: JsonObject;
}

/** The moment a recording is made: the contract in force, the database's clock, and whether permission still stands. */
export interface Moment {
  /** Undefined: its definition is gone, and only an end can be recorded. */
  readonly contract: Contract | undefined;
  readonly clock: Instant;
  readonly standing?: Standing;
}

/** Folds what happened into a new head, with its events, its next due time and, when it settles, its receipt. */
export function recordingOf(
  ports: Pick<Ports, "signer" | "entropy" | "log">,
  operation: Operation,
  told: readonly Told[],
  moment: Moment,
): Recording {
  let progress: Operation = operation;
  const events: EventDraft[] = [];
  for (const { happening, actor, data } of told.map(storable)) {
    const step = advance(progress, happening);
    assert(step.ok, step.ok ? "" : step.why);
    events.push({ type: typeOf(happening), actor, data: { ...dataOf(happening), ...data } });
    if (step.alarm !== undefined) {
      events.push({ type: "alarm", actor, data: { what: step.alarm } });
      ports.log.error("invariant", { tenant: operation.tenantId, operation: operation.id, what: step.alarm });
    }
    progress = step.progress;
  }
  return planned(ports, operation, progress, events, moment);
}

/** Every wait gets a time or a person. */
function planned(
  ports: Pick<Ports, "signer" | "entropy">,
  operation: Operation,
  progress: Operation,
  events: EventDraft[],
  moment: Moment,
): Recording {
  if (settled(progress)) {
    // Evidence that comes afterwards is kept; only an alarm still needs a person.
    if (settled(operation)) return { operation, progress, events, dueAt: null };
    const { attention: _answered, ...rest } = progress;
    const receipt = ports.signer.sign(receiptClaims(progress, moment.clock));
    return { operation, progress: rest, events, dueAt: null, receipt };
  }
  const { at, attention } = dueOf(progress, moment);
  const { attention: before, ...rest } = progress;
  if (attention !== undefined && attention !== before) {
    events.push({ type: "attention", actor: { writ: "reconciler" }, data: { why: attention } });
  }
  const head: Progress = attention === undefined ? rest : { ...rest, attention };
  return { operation, progress: head, events, dueAt: at === null ? null : jittered(ports, at, moment.clock) };
}

function dueOf(
  progress: Operation,
  { contract, clock, standing }: Moment,
): { at: Instant | null; attention?: string } {
  if (progress.state === "executing") return { at: progress.attempts.at(-1)?.leaseUntil ?? clock };
  if (progress.state === "proposed") return { at: progress.expiresAt };
  if (progress.state === "authorized" && progress.attempts.length === 0) {
    return { at: progress.execute === "later" ? progress.expiresAt : clock };
  }
  assert(contract !== undefined, "an operation that goes on has a contract");
  const plan = next(contract, progress, standing ?? standingOf(progress, contract, clock), clock);
  switch (plan.do) {
    case "person":
      return { at: plan.lookAgainAt ?? null, attention: plan.why };
    case "authorize":
    case "repeat":
      // Not later than the permission ends: then it is rejected, or only looked at.
      return { at: Math.min(plan.at, Math.max(clock, progress.expiresAt)) };
    case "look_up":
    case "poll":
      return { at: plan.at };
    case "succeed":
    case "reject":
    case "bar":
      return { at: clock };
  }
}

/** Many operations that lost their answers together must not all come back together. */
function jittered(ports: Pick<Ports, "entropy">, at: Instant, clock: Instant): Instant {
  return at <= clock ? at : at + Math.floor((at - clock) * 0.1 * ports.entropy.fraction());
}

function typeOf(happening: Happening): EventType {
  switch (happening.type) {
    case "learned":
      return happening.outcome.kind;
    case "found":
      return "ruling" in happening.finding.by ? "ruled" : "looked_up";
    default:
      return happening.type;
  }
}

function dataOf(happening: Happening): JsonObject {
  switch (happening.type) {
    case "authorized":
      return {
        policyVersion: happening.authorization.policyVersion,
        epoch: happening.authorization.epoch,
        policies: happening.authorization.policies,
        ...(happening.authorization.approvals.length === 0
          ? {}
          : { approvals: happening.authorization.approvals.map(namedApproval) }),
      };
    case "denied":
      return {
        reason: happening.reason,
        ...(happening.approval === undefined ? {} : approvalData(happening.approval)),
      };
    case "approved":
      return approvalData(happening.approval);
    case "withdrawn":
      return { person: happening.person };
    case "reopened":
      return {
        requirements: happening.review.requirements as unknown as JsonObject[], // Requirements are plain JSON.
        policyVersion: happening.review.policyVersion,
        epoch: happening.review.epoch,
      };
    case "claimed":
      return { claim: happening.attempt.claimId, attempt: happening.attempt.n };
    case "learned":
      return { claim: happening.claimId, outcome: outcomeData(happening.outcome) };
    case "found":
      return { finding: happening.finding as unknown as JsonObject, counts: happening.settles }; // A Finding is plain JSON.
    case "barred":
      return { raised: happening.raised };
    case "lease_ended":
    case "barring":
      return {};
  }
}

/** Who answered for which rule. */
function namedApproval({ person, policy, at }: JsonObject): JsonObject {
  return { person: person ?? "", policy: policy ?? "", at: at ?? 0 };
}

/** The view's nonce is not told: whoever reads events must not hold a part of somebody's answer. */
function approvalData({ person, client, digest, comment, signed }: Approval): JsonObject {
  return {
    person,
    client,
    digest,
    ...(comment === undefined ? {} : { comment }),
    ...(signed === undefined ? {} : { passkey: signed.credentialId }),
  };
}

function outcomeData(outcome: Outcome): JsonObject {
  return outcome as unknown as JsonObject; // An Outcome is plain JSON; the union only names its members.
}
