import assert from "node:assert/strict";
import type { Attempt, Evidence } from "../core/attempt.ts";
import type { Authorization } from "../core/authorization.ts";
import type { EventDraft } from "../core/event.ts";
import { type Instant, operationIdOf, type TenantId, uuidOf } from "../core/ids.ts";
import type { Inquiry } from "../core/inquiry.ts";
import type { Operation, Progress, Reason, State } from "../core/operation.ts";
import type { Review } from "../core/review.ts";

/** The columns of `operations` as every statement selects them: times as milliseconds. */
export const OPERATION_COLUMNS = `o.tenant_id, o.id, o.revision, o.state, o.reason, o.tool, o.tool_digest, o.provider, o.resource,
  o.principal_id, o.client_id, o.intent_key, o.action, o.digest, o.expected_version, o.compensates, o.supersedes, o.execute, o.note,
  o.permission, o.review, writ_ms(o.authorized_at) as authorized_ms, writ_ms(o.expires_at) as expires_ms, o.attempts, o.inquiry, o.evidence,
  o.current_version, o.attention, writ_ms(o.due_at) as due_ms, writ_ms(o.created_at) as created_ms, writ_ms(o.updated_at) as updated_ms,
  writ_ms(o.settled_at) as settled_ms`;

/** What is kept in `operations.permission`; its times have columns of their own. */
export type Permission = Omit<Authorization, "authorizedAt" | "expiresAt">;

export interface OperationRow {
  readonly tenant_id: TenantId;
  readonly id: string;
  readonly revision: number;
  readonly state: State;
  readonly reason: Reason | null;
  readonly tool: string;
  readonly tool_digest: string;
  readonly provider: string;
  readonly resource: string;
  readonly principal_id: string;
  readonly client_id: string;
  readonly intent_key: string | null;
  readonly action: string;
  readonly digest: string;
  readonly expected_version: string | null;
  readonly compensates: string | null;
  readonly supersedes: string | null;
  readonly execute: "now" | "later";
  readonly note: string | null;
  readonly permission: Permission | null;
  readonly review: Review | null;
  readonly authorized_ms: Instant | null;
  readonly expires_ms: Instant;
  readonly attempts: readonly Attempt[];
  readonly inquiry: Inquiry;
  readonly evidence: Evidence | null;
  readonly current_version: string | null;
  readonly attention: string | null;
  readonly due_ms: Instant | null;
  readonly created_ms: Instant;
  readonly updated_ms: Instant;
  readonly settled_ms: Instant | null;
}

/** An operation as the rest of Writ knows it. The table's own checks keep its states possible. */
export function operationOf(row: OperationRow): Operation {
  return {
    tenantId: row.tenant_id,
    id: operationIdOf(row.id),
    revision: row.revision,
    tool: row.tool,
    toolDigest: row.tool_digest,
    provider: row.provider,
    resource: row.resource,
    principalId: row.principal_id,
    clientId: row.client_id,
    action: row.action,
    digest: row.digest,
    execute: row.execute,
    expiresAt: row.expires_ms,
    createdAt: row.created_ms,
    updatedAt: row.updated_ms,
    state: row.state,
    attempts: row.attempts,
    inquiry: row.inquiry,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.intent_key === null ? {} : { intentKey: row.intent_key }),
    ...(row.expected_version === null ? {} : { expectedVersion: row.expected_version }),
    ...(row.compensates === null ? {} : { compensates: operationIdOf(row.compensates) }),
    ...(row.supersedes === null ? {} : { supersedes: operationIdOf(row.supersedes) }),
    ...(row.note === null ? {} : { note: row.note }),
    ...(row.evidence === null ? {} : { evidence: row.evidence }),
    ...(row.current_version === null ? {} : { currentVersion: row.current_version }),
    ...(row.attention === null ? {} : { attention: row.attention }),
    ...(row.due_ms === null ? {} : { dueAt: row.due_ms }),
    ...(row.settled_ms === null ? {} : { settledAt: row.settled_ms }),
    ...(row.review === null ? {} : { review: row.review }),
    ...(row.permission === null ? {} : { authorization: authorizationOf(row, row.permission) }),
  };
}

function authorizationOf(row: OperationRow, permission: Permission): Authorization {
  assert(row.authorized_ms !== null, "a permission has a moment at which it was given");
  return { authorizedAt: row.authorized_ms, expiresAt: row.expires_ms, ...permission };
}

/** Without its times: they have columns of their own. */
export function permissionOf(authorization: Authorization): Permission {
  const { authorizedAt: _given, expiresAt: _ends, ...permission } = authorization;
  return permission;
}

/** Drafts as `writ_chain` takes them: actor and data as finished texts, so that the stored bytes are ours. */
export function draftsOf(events: readonly EventDraft[]): readonly object[] {
  return events.map((event) => ({
    type: event.type,
    actor: JSON.stringify(event.actor),
    data: JSON.stringify(event.data),
  }));
}

/** The moving part of an operation, as the statements that write it take it. */
export function headOf(progress: Progress): object {
  const { authorization, review, state } = progress;
  const asked = state === "proposed";
  return {
    state: progress.state,
    reason: progress.reason,
    attempts: progress.attempts,
    inquiry: progress.inquiry,
    evidence: progress.evidence,
    current_version: progress.currentVersion,
    attention: progress.attention,
    // While people are asked again the column says when waiting ends; what was permitted before keeps its own end.
    permission:
      authorization === undefined
        ? undefined
        : { ...permissionOf(authorization), ...(asked ? { expiresAt: authorization.expiresAt } : {}) },
    review,
    authorized_ms: authorization?.authorizedAt,
    expires_ms: asked ? review?.until : authorization?.expiresAt,
  };
}

export { uuidOf };
