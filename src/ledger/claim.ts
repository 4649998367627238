import assert from "node:assert/strict";
import type { Attempt, Outcome } from "../core/attempt.ts";
import type { Instant } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import type { Database, Transaction } from "../database/pool.ts";
import type { Rows } from "../database/sql.ts";
import type { ClaimAnswer, Claiming, LimitReached, Recording } from "../service/ledger-port.ts";
import { lockAuthority } from "./guard.ts";
import { type ClaimRow, claimQuery, recordQuery } from "./head-sql.ts";
import { fullRooms, reserveQueries, settleReservations } from "./limits.ts";
import { knownOutcome, type LocalClaim, performAll } from "./local.ts";
import { claimPart } from "./opening.ts";
import { recordAnswers, recordingItem } from "./record.ts";
import { draftsOf, permissionOf, uuidOf } from "./rows.ts";

/** Claims many operations in one commit and one flight; their effects are elsewhere. */
export async function claimBatch(
  database: Database,
  claimings: readonly Claiming[],
): Promise<readonly ClaimAnswer[]> {
  const answers = await database.flight(claimQueries(claimings));
  return claimAnswers(claimings, answers);
}

/** Claims, performs and settles in one transaction: effects in our own database. */
export async function claimLocalBatch(
  database: Database,
  claimings: readonly Claiming[],
): Promise<readonly ClaimAnswer[]> {
  try {
    return await performBatch(database, claimings, undefined);
  } catch (error) {
    const known = knownOutcome(error);
    if (known === undefined || claimings.length !== 1) throw error;
    return performBatch(database, claimings, known);
  }
}

async function performBatch(
  database: Database,
  claimings: readonly Claiming[],
  known: Outcome | undefined,
): Promise<readonly ClaimAnswer[]> {
  return database.transaction(async (tx) => {
    const locked = await tx.all(claimQueries(claimings));
    const answers = claimAnswers(claimings, locked);
    const claims = answers.flatMap((answer, index) => localClaim(answer, claimings[index]));
    const recordings =
      known === undefined
        ? await performAll(tx, claims)
        : claims.map((claim) => claim.work.settle(claim.claimed, known, claim.clock));
    const recorded = await finish(tx, recordings, known === undefined);
    const done = new Map(recorded.map((operation) => [operation.id, operation]));
    return answers.map((answer) =>
      answer.kind === "claimed"
        ? { ...answer, operation: done.get(answer.operation.id) ?? answer.operation }
        : answer,
    );
  });
}

async function finish(
  tx: Transaction,
  recordings: readonly Recording[],
  guarded: boolean,
): Promise<readonly Operation[]> {
  const items = recordings.map((recording, ord) => {
    const freshUntil =
      guarded && recording.progress.state === "succeeded"
        ? recording.operation.authorization?.expiresAt
        : undefined;
    return recordingItem(recording, ord, freshUntil);
  });
  if (items.length === 0) {
    await tx.finish([]);
    return [];
  }
  const [rows] = await tx.finish([recordQuery(JSON.stringify(items)), ...settleReservations(recordings)]);
  return recordAnswers(recordings, rows?.rows).map((answer) => {
    assert(answer.kind === "recorded", "a row that this transaction claimed is at the revision that it gave");
    return answer.operation;
  });
}

function localClaim(answer: ClaimAnswer, claiming: Claiming | undefined): readonly LocalClaim[] {
  if (answer.kind !== "claimed" || claiming?.local === undefined) return [];
  return [{ claimed: answer.operation, work: claiming.local, clock: answer.clock }];
}

function claimQueries(claimings: readonly Claiming[]) {
  const items = JSON.stringify(claimings.map(claimItem));
  const drawings = claimings.flatMap(({ operation, epoch, ticket }, ord) =>
    ticket.draws === undefined
      ? []
      : [{ ord, operation, draws: ticket.draws, expects: { revision: operation.revision, epoch } }],
  );
  return [
    lockAuthority(claimings.map((claiming) => claiming.operation.tenantId)),
    ...reserveQueries(drawings),
    claimQuery(items),
  ];
}

function claimItem(claiming: Claiming, ord: number): object {
  const { operation, ticket } = claiming;
  return {
    ord,
    tenant_id: operation.tenantId,
    id: uuidOf(operation.id),
    revision: operation.revision,
    epoch: claiming.epoch,
    claim: claimPart(ticket),
    lease_ms: ticket.leaseMs,
    permission: operation.authorization === undefined ? undefined : permissionOf(operation.authorization),
    draws: ticket.draws?.length,
    events: draftsOf(claiming.events),
  };
}

function claimAnswers(
  claimings: readonly Claiming[],
  answers: readonly Rows<unknown>[],
): readonly ClaimAnswer[] {
  const found = (answers.at(-1)?.rows ?? []) as readonly ClaimRow[]; // The columns of CLAIM's last select.
  const limited = found.some(({ verdict }) => verdict === "limit_reached");
  const full = limited ? fullRooms(answers.at(-2)) : new Map<number, LimitReached>();
  const judged = new Map(found.map((row) => [row.ord, row]));
  return claimings.map((claiming, ord) => {
    const row = judged.get(ord);
    if (row === undefined) return { kind: "changed" };
    switch (row.verdict) {
      case "claimed":
        return {
          kind: "claimed",
          operation: claimedOperation(claiming, row.revision ?? 0, row.at_ms),
          clock: row.at_ms,
        };
      case "expired":
        return { kind: "expired", clock: row.at_ms };
      case "stale_authority":
        return { kind: "stale_authority", epoch: row.epoch };
      case "limit_reached":
        return full.get(ord) ?? { kind: "limit_reached", limit: "", clock: row.at_ms };
    }
  });
}

function claimedOperation(claiming: Claiming, revision: number, at: Instant): Operation {
  const { operation, ticket } = claiming;
  const attempt: Attempt = {
    n: operation.attempts.length + 1,
    ...claimPart(ticket),
    claimedAt: at,
    leaseUntil: at + ticket.leaseMs,
  };
  const { attention: _cleared, ...rest } = operation;
  return {
    ...rest,
    revision,
    state: "executing",
    attempts: [...operation.attempts, attempt],
    updatedAt: at,
    dueAt: attempt.leaseUntil,
  };
}
