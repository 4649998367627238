import assert from "node:assert/strict";
import type { Attempt } from "../core/attempt.ts";
import { chainEvents } from "../core/event.ts";
import type { Instant } from "../core/ids.ts";
import { NO_INQUIRY } from "../core/inquiry.ts";
import type { JsonObject } from "../core/json.ts";
import type { Operation, Progress } from "../core/operation.ts";
import type { Opening, Recording } from "../service/ports.ts";
import { draftsOf, headOf, uuidOf } from "./rows.ts";

/** Equal effects that settled longer ago than this are two intents. */
const LOOKALIKE_WINDOW_MS = 10 * 60_000;

/** What storing this opening takes. */
export function openingItem(opening: Opening, ord: number): JsonObject {
  const { operation, decision, claim } = opening;
  const allowed = decision.effect === "allow";
  return {
    ...candidateItem(opening, ord),
    state: operation.state,
    reason: operation.reason ?? null,
    tool: operation.tool,
    tool_digest: operation.toolDigest,
    provider: operation.provider,
    resource: operation.resource,
    client_id: operation.clientId,
    action: operation.action,
    digest: operation.digest,
    expected_version: operation.expectedVersion ?? null,
    execute: operation.execute,
    note: operation.note ?? null,
    permission: allowed ? permissionItem(opening) : null,
    permission_for_ms: opening.permissionForMs,
    review_for_ms: opening.reviewForMs,
    claim: claim === undefined ? null : { claimId: claim.claimId, worker: claim.worker },
    lease_ms: claim?.leaseMs ?? null,
    inquiry: NO_INQUIRY as unknown as JsonObject, // Plain JSON by construction.
    events: draftsOf(opening.events),
    receipt: opening.receipt ?? null,
  };
}

/** What deciding whether it may be stored takes. */
export function candidateItem(opening: Opening, ord: number): JsonObject {
  const { operation, decision } = opening;
  return {
    ord,
    ...keysItem(opening),
    epoch: decision.epoch,
    same_principal: opening.lookalikes !== "tenant",
    window_ms: LOOKALIKE_WINDOW_MS,
    compensates: operation.compensates === undefined ? null : uuidOf(operation.compensates),
    supersedes: operation.supersedes === undefined ? null : uuidOf(operation.supersedes),
  };
}

/** The part that guard.ts locks by. */
export function keysItem(opening: Opening): JsonObject {
  const { operation } = opening;
  return {
    tenant_id: operation.tenantId,
    id: uuidOf(operation.id),
    principal_id: operation.principalId,
    intent_key: operation.intentKey ?? null,
    proposal_digest: opening.proposalDigest,
    content_digest: opening.contentDigest,
    effect_digest: opening.effectDigest,
    scope: lookalikeScope(opening),
  };
}

function lookalikeScope(opening: Opening): string | null {
  switch (opening.lookalikes) {
    case "off":
      return null;
    case "tenant":
      return "";
    case "principal":
      return opening.operation.principalId;
  }
}

function permissionItem(opening: Opening): JsonObject {
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

/** Two openings that share one of these never ride in one batch: a set-based statement would see neither the other's row. */
export function openingKeys(opening: Opening): readonly string[] {
  const { operation } = opening;
  const keys = [`id ${operation.id}`];
  if (operation.intentKey !== undefined)
    keys.push(`key ${operation.tenantId} ${operation.principalId} ${operation.intentKey}`);
  const scope = lookalikeScope(opening);
  if (scope !== null) keys.push(`effect ${operation.tenantId} ${scope} ${opening.effectDigest}`);
  if (opening.local !== undefined) keys.push(`resource ${operation.tenantId} ${operation.resource}`);
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
            claimId: claim.claimId,
            worker: claim.worker,
            claimedAt: at,
            leaseUntil: at + claim.leaseMs,
          },
        ];
  const expiresAt = at + (decision.effect === "allow" ? opening.permissionForMs : opening.reviewForMs);
  const opened: Operation = {
    ...operation,
    revision: 1,
    expiresAt,
    createdAt: at,
    updatedAt: at,
    attempts,
    inquiry: NO_INQUIRY,
    ...due(opening, at, expiresAt),
  };
  if (decision.effect !== "allow") return opened;
  const permission = permissionItem(opening) as unknown as Omit<
    NonNullable<Progress["authorization"]>,
    "authorizedAt" | "expiresAt"
  >; // Built two functions above.
  return { ...opened, authorization: { ...permission, authorizedAt: at, expiresAt } };
}

function due(opening: Opening, at: Instant, expiresAt: Instant): { dueAt?: Instant; settledAt?: Instant } {
  switch (opening.operation.state) {
    case "executing":
      return { dueAt: at + (opening.claim?.leaseMs ?? 0) };
    case "rejected":
      return { settledAt: at };
    case "authorized":
      return { dueAt: opening.operation.execute === "now" ? at : expiresAt };
    default:
      return { dueAt: expiresAt };
  }
}

/** The item of an operation that was claimed, performed and settled before its row is written. */
export function settledItem(
  opening: Opening,
  recording: Recording,
  ord: number,
  freshUntil: Instant | null,
): JsonObject {
  const claimed = recording.operation;
  assert(claimed.attempts[0] !== undefined, "an effect is performed under a claim");
  const links = chainEvents(
    [...opening.events, ...recording.events],
    claimed.createdAt,
  ) as unknown as readonly (JsonObject & { readonly hash: string })[]; // Plain JSON.
  const {
    permission: _same,
    authorized_ms: _given,
    expires_ms: _ends,
    ...head
  } = headOf(recording.progress) as { [name: string]: JsonObject };
  return {
    ...openingItem(opening, ord),
    ...head,
    at_ms: claimed.createdAt,
    due_ms: recording.dueAt,
    events: [],
    links,
    event_count: links.length,
    event_hash: links.at(-1)?.hash ?? null,
    receipt: recording.receipt ?? null,
    fresh_until_ms: freshUntil,
  };
}

/** The operation after `recording` was written as its revision `revision`. */
export function recordedOperation(
  recording: Recording,
  revision: number,
  at: Instant,
  settledAt: Instant | null,
): Operation {
  const { attention: _needed, ...before } = recording.operation;
  const { dueAt: _due, settledAt: _settled, ...rest } = { ...before, ...recording.progress };
  return {
    ...rest,
    revision,
    expiresAt: rest.authorization?.expiresAt ?? rest.expiresAt,
    updatedAt: at,
    ...(recording.dueAt === null ? {} : { dueAt: recording.dueAt }),
    ...(settledAt === null ? {} : { settledAt }),
  };
}
