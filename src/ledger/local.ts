import assert from "node:assert/strict";
import type { Outcome } from "../core/attempt.ts";
import type { Instant } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { Operation } from "../core/operation.ts";
import { RolledBack, Unreadable } from "../database/fault.ts";
import type { Transaction } from "../database/pool.ts";
import { type Query, type Rows, statement } from "../database/sql.ts";
import type { Answered, LocalWork, Recording } from "../service/ledger-port.ts";

/** One claimed operation whose effect is about to happen in this very transaction. */
export interface LocalClaim {
  readonly claimed: Operation;
  readonly work: LocalWork;
  readonly clock: Instant;
}

/** What a lone effect's own error means; never one that says "try again". */
export class EffectRefused extends Error {
  readonly outcome: Outcome;
  constructor(outcome: Outcome) {
    super("the effect was rolled back by the database");
    this.outcome = outcome;
  }
}

/** What a lone effect learned from the error that rolled its transaction back; undefined when the error says nothing of it. */
export function knownOutcome(error: unknown): Outcome | undefined {
  if (error instanceof EffectRefused) return error.outcome;
  if (error instanceof RolledBack && error.sqlState === "WR001")
    return { kind: "refused", reason: "expired", detail: error.message };
  return undefined;
}

/**
 * Performs the effects, each by its own statement in order of their resources, so that two batches lock in one order. An error ends
 * the transaction: for a lone effect it is its outcome, otherwise the batch is tried again one by one.
 */
export async function performAll(
  tx: Transaction,
  claims: readonly LocalClaim[],
): Promise<readonly Recording[]> {
  const ordered = [...claims].sort((a, b) => (lockName(a) < lockName(b) ? -1 : 1));
  const performed = await effects(tx, ordered);
  refuseTooMany(ordered, performed);
  const reads = await found(tx, ordered, performed);
  const recordings = new Map<LocalClaim, Recording>();
  for (const [index, claim] of ordered.entries()) {
    const answer = performed[index];
    assert(answer !== undefined, "every effect is answered");
    const outcome = claim.work.effect.judge(answered(answer), reads.get(claim));
    recordings.set(claim, claim.work.settle(claim.claimed, outcome, claim.clock));
  }
  return claims.map((claim) => recordings.get(claim) as Recording); // Every claim was set above.
}

/** Two tenants may use one name: without the tenant their order would be each batch's own. */
function lockName({ claimed }: LocalClaim): string {
  return `${claimed.tenantId} ${claimed.resource}`;
}

async function effects(tx: Transaction, claims: readonly LocalClaim[]): Promise<readonly Rows<unknown>[]> {
  const performs = claims.map((claim) => asQuery(claim.work.effect.perform));
  try {
    return (await tx.all([...performs, CHECKED])).slice(0, -1);
  } catch (error) {
    throw judged(error, claims);
  }
}

/** What a lone effect learned from its own error; of several, one by one will tell whose it is. */
function judged(error: unknown, claims: readonly LocalClaim[]): unknown {
  const [lone, second] = claims;
  if (lone === undefined || second !== undefined) return error;
  const { judgeError } = lone.work.effect;
  if (error instanceof Unreadable) return new EffectRefused(judgeError(undefined, error.message));
  const definite = error instanceof RolledBack && !error.retryable && error.sqlState !== undefined;
  return definite ? new EffectRefused(judgeError(error.sqlState, error.message)) : error;
}

/** A constraint that waits for the commit would refuse it there, where an error could be anybody's. */
const CHECKED = statement("set constraints all immediate", []);

/** Ends the transaction: one operation is one effect on one resource. */
function refuseTooMany(claims: readonly LocalClaim[], performed: readonly Rows<unknown>[]): void {
  for (const [index, claim] of claims.entries()) {
    const rows = performed[index]?.rowCount ?? 0;
    if (rows <= claim.work.effect.rowsMax) continue;
    throw new EffectRefused({
      kind: "refused",
      reason: "provider_refused",
      detail: `the tool's SQL touched ${rows} rows, and may touch ${claim.work.effect.rowsMax}`,
    });
  }
}

/** For the effects that touched nothing: what stands there instead. */
async function found(
  tx: Transaction,
  claims: readonly LocalClaim[],
  performed: readonly Rows<unknown>[],
): Promise<ReadonlyMap<LocalClaim, Answered>> {
  const missed = claims.filter(
    (claim, index) => performed[index]?.rowCount === 0 && claim.work.effect.read !== undefined,
  );
  if (missed.length === 0) return new Map();
  const asked = missed.map((claim) => asQuery(claim.work.effect.read as Query)); // Filtered to those that have one.
  const reads = await tx.all(asked).catch((error: unknown) => {
    throw judged(error, claims);
  });
  return new Map(missed.map((claim, index) => [claim, answered(reads[index] ?? { rows: [], rowCount: 0 })]));
}

function asQuery(effect: { readonly text: string; readonly values: readonly unknown[] }): Query {
  return statement(effect.text, effect.values);
}

function answered(rows: Rows<unknown>): Answered {
  return { rowCount: rows.rowCount, rows: rows.rows as readonly JsonObject[] }; // A tool's own SQL: whatever it returns is shown, not relied on.
}
