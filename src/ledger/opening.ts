import assert from "node:assert/strict";
import type { Attempt } from "../core/attempt.ts";
import { chainEvents } from "../core/event.ts";
import type { Instant } from "../core/ids.ts";
import { NO_INQUIRY } from "../core/inquiry.ts";
import type { Operation } from "../core/operation.ts";
import type { Review } from "../core/review.ts";
import type { ClaimTicket, Opening, Recording } from "../service/ledger-port.ts";
import { draftsOf, headOf, type Permission, uuidOf } from "./rows.ts";

/** What storing this opening takes. An item leaves out what is null: the other side need not read it. */
export function openingItem(opening: Opening, ord: number): object {
  const { decision, claim } = opening;
  // Spreads last, here and below: a member that is added after a leading spread costs Node 20 more than a microsecond.
  return {
    permission: decision.effect === "allow" ? permissionItem(opening) : undefined,
    review: reviewOf(opening),
    inquiry: NO_INQUIRY,
    claim: claim === undefined ? undefined : claimPart(claim),
    lease_ms: claim?.leaseMs,
    lasts_ms: lastsMs(opening),
    due_in_ms: dueInMs(opening),
    events: draftsOf(opening.events),
    receipt: opening.receipt,
    ...candidateItem(opening, ord),
    ...storedItem(opening),
  };
}

/** What a claim leaves on its attempt beside its times. */
export function claimPart({
  claimId,
  worker,
  draws,
}: ClaimTicket): Pick<Attempt, "claimId" | "worker" | "limited"> {
  return draws === undefined ? { claimId, worker } : { claimId, worker, limited: true };
}

/** What deciding whether it may be stored takes. */
export function candidateItem(opening: Opening, ord: number): object {
  const { operation } = opening;
  return {
    ord,
    tenant_id: operation.tenantId,
    id: uuidOf(operation.id),
    epoch: opening.decision.epoch,
    ends_ms: endsAt(opening),
    principal_id: operation.principalId,
    intent_key: operation.intentKey,
    proposal_digest: opening.proposalDigest,
    content_digest: opening.contentDigest,
    effect_digest: opening.effectDigest,
    scope: lookalikeScope(opening),
    compensates: operation.compensates === undefined ? undefined : uuidOf(operation.compensates),
    supersedes: operation.supersedes === undefined ? undefined : uuidOf(operation.supersedes),
    draws: opening.claim?.draws?.length,
    ...(opening.askingMax === undefined ? {} : { asker: operation.clientId, asking_max: opening.askingMax }),
  };
}

/** What is stored of it whatever became of it. */
function storedItem({ operation }: Opening): object {
  return {
    state: operation.state,
    reason: operation.reason,
    tool: operation.tool,
    tool_digest: operation.toolDigest,
    provider: operation.provider,
    resource: operation.resource,
    client_id: operation.clientId,
    action: operation.action,
    digest: operation.digest,
    expected_version: operation.expectedVersion,
    execute: operation.execute,
    note: operation.note,
  };
}

/** Who locks this meets whoever sent the same intent key. */
export function intentKeyItem(opening: Opening): object | undefined {
  const { operation } = opening;
  if (operation.intentKey === undefined) return undefined;
  return {
    tenant_id: operation.tenantId,
    id: uuidOf(operation.id),
    principal_id: operation.principalId,
    intent_key: operation.intentKey,
    proposal_digest: opening.proposalDigest,
    content_digest: opening.contentDigest,
  };
}

/** Who locks this meets whoever wants an equal effect. */
export function lookalikeItem(opening: Opening): object | undefined {
  const scope = lookalikeScope(opening);
  if (scope === undefined) return undefined;
  return { tenant_id: opening.operation.tenantId, scope, effect_digest: opening.effectDigest };
}

/** Who locks this meets whoever else asks people for the same client. */
export function askerOf({ operation, askingMax }: Opening): string | undefined {
  return askingMax === undefined ? undefined : `${operation.tenantId} ${operation.clientId}`;
}

function lookalikeScope(opening: Opening): string | undefined {
  switch (opening.lookalikes) {
    case "off":
      return undefined;
    case "tenant":
      return "";
    case "principal":
      return opening.operation.principalId;
  }
}

function permissionItem(opening: Opening): Permission {
  const { decision, operation } = opening;
  return {
    digest: operation.digest,
    policyVersion: decision.policyVersion,
    epoch: decision.epoch,
    roles: opening.roles,
    policies: decision.policies,
    obligations: decision.obligations,
    approvals: [],
  };
}

function reviewOf({ decision, roles }: Opening): Review | undefined {
  if (decision.effect !== "review") return undefined;
  const { requirements, policyVersion, epoch, policies, obligations, endsAt } = decision;
  const asked = { requirements, policyVersion, epoch, policies, obligations, roles, since: 1, approvals: [] };
  return endsAt === undefined ? asked : { ...asked, endsAt };
}

/** Two openings that share one of these never ride in one batch: a set-based statement would see neither the other's row. */
export function openingKeys(opening: Opening): readonly string[] {
  const { operation } = opening;
  const keys = [`id ${operation.id}`];
  if (operation.intentKey !== undefined)
    keys.push(`key ${operation.tenantId} ${operation.principalId} ${operation.intentKey}`);
  const scope = lookalikeScope(opening);
  if (scope !== undefined) keys.push(`effect ${operation.tenantId} ${scope} ${opening.effectDigest}`);
  if (opening.local !== undefined) keys.push(`resource ${operation.tenantId} ${operation.resource}`);
  const asker = askerOf(opening);
  if (asker !== undefined) keys.push(`asking ${asker}`);
  if (operation.compensates !== undefined) keys.push(`compensates ${operation.compensates}`);
  return keys;
}

/** The operation as OPEN stored it, without reading it back: `at` is the statement's own clock. */
export function openedOperation(opening: Opening, at: Instant): Operation {
  const { operation, claim, decision } = opening;
  const attempts: Attempt[] =
    claim === undefined
      ? []
      : [
          {
            n: 1,
            ...claimPart(claim),
            claimedAt: at,
            leaseUntil: at + claim.leaseMs,
          },
        ];
  const expiresAt = Math.min(at + lastsMs(opening), endsAt(opening) ?? Number.POSITIVE_INFINITY);
  const dueIn = dueInMs(opening);
  const times = { authorizedAt: at, expiresAt };
  const review = reviewOf(opening);
  return {
    revision: 1,
    expiresAt,
    createdAt: at,
    updatedAt: at,
    attempts,
    inquiry: NO_INQUIRY,
    ...(dueIn === undefined ? { settledAt: at } : { dueAt: Math.min(at + dueIn, expiresAt) }),
    ...(decision.effect === "allow" ? { authorization: { ...times, ...permissionItem(opening) } } : {}),
    ...(review === undefined ? {} : { review }),
    ...operation,
  };
}

/** The end of what a permission, or waiting for one, rests on. What is denied rests on nothing. */
function endsAt({ decision }: Opening): Instant | undefined {
  return decision.effect === "deny" ? undefined : decision.endsAt;
}

/** How long the permission lives, or waiting for one. */
function lastsMs({ decision, permissionForMs, reviewForMs }: Opening): number {
  return decision.effect === "allow" ? permissionForMs : reviewForMs;
}

/** Undefined: it is settled, and nothing is due any more. */
function dueInMs(opening: Opening): number | undefined {
  switch (opening.operation.state) {
    case "executing":
      return opening.claim?.leaseMs ?? 0;
    case "rejected":
      return undefined;
    case "authorized":
      return opening.operation.execute === "now" ? 0 : lastsMs(opening);
    default:
      return lastsMs(opening);
  }
}

/** The item of an operation that was claimed, performed and settled before its row is written, and its events, already chained. */
export function settledItem(
  opening: Opening,
  recording: Recording,
  ord: number,
  freshUntil: Instant | undefined,
): { readonly item: object; readonly events: readonly object[] } {
  const { operation } = opening;
  const claimed = recording.operation;
  assert(claimed.attempts[0] !== undefined, "an effect is performed under a claim");
  const chain = chainEvents([...opening.events, ...recording.events], claimed.createdAt);
  const which = { tenant_id: operation.tenantId, id: uuidOf(operation.id), at_ms: claimed.createdAt };
  const item = {
    ord,
    ...which,
    principal_id: operation.principalId,
    intent_key: operation.intentKey,
    effect_digest: opening.effectDigest,
    compensates: operation.compensates === undefined ? undefined : uuidOf(operation.compensates),
    supersedes: operation.supersedes === undefined ? undefined : uuidOf(operation.supersedes),
    ...storedItem(opening),
    ...headOf(recording.progress),
    due_ms: recording.dueAt,
    event_count: chain.length,
    event_hash: chain.at(-1)?.hash,
    receipt: recording.receipt,
    fresh_until_ms: freshUntil,
  };
  const events = chain.map(({ n, type, body, hash }) => ({ n, type, body, hash, ...which }));
  return { item, events };
}

/** The operation after `recording` was written as its revision `revision`. */
export function recordedOperation(
  recording: Recording,
  revision: number,
  at: Instant,
  settledAt: Instant | null,
): Operation {
  const { attention: _needed, ...before } = recording.operation;
  const { dueAt: _due, settledAt: _settled, revision: _was, ...rest } = { ...before, ...recording.progress };
  return {
    revision,
    ...(recording.dueAt === null ? {} : { dueAt: recording.dueAt }),
    ...(settledAt === null ? {} : { settledAt }),
    ...rest,
    expiresAt:
      (rest.state === "proposed" ? rest.review?.until : rest.authorization?.expiresAt) ?? rest.expiresAt,
    updatedAt: at,
  };
}
