import assert from "node:assert/strict";
import type { Instant } from "../core/ids.ts";
import type { Operation, State } from "../core/operation.ts";
import type { Database, Transaction } from "../database/pool.ts";
import { statement } from "../database/sql.ts";
import type { OpenAnswer, Opening } from "../service/ledger-port.ts";
import { lockAuthority, lockIntents } from "./guard.ts";
import { recordQuery } from "./head-sql.ts";
import { settleReservations } from "./limits.ts";
import { admissionAnswers } from "./open.ts";
import { type Admission, openQuery } from "./open-sql.ts";
import { openingItem } from "./opening.ts";
import { recordingItem } from "./record.ts";
import { OPERATION_COLUMNS, type OperationRow, operationOf, uuidOf } from "./rows.ts";

const OLD = `select ${OPERATION_COLUMNS}, writ_ms(writ_clock()) as clock_ms from operations o
  where o.tenant_id = $1 and o.id = $2 and o.principal_id = $3 for update of o`;

/** Ends the transaction without a trace; carries the answer out of it. */
class Abandoned extends Error {
  readonly answer: OpenAnswer | "later";
  readonly admissions: readonly Admission[];
  constructor(answer: OpenAnswer | "later", admissions: readonly Admission[] = []) {
    super("nothing was stored");
    this.answer = answer;
    this.admissions = admissions;
  }
}

/** Cancels the old operation and opens the new one in one commit, or does neither. */
export async function openSuperseding(database: Database, opening: Opening): Promise<OpenAnswer | Error> {
  let admissions: readonly Admission[];
  try {
    admissions = await database.transaction((tx) => replace(tx, opening));
  } catch (error) {
    if (!(error instanceof Abandoned)) throw error;
    if (error.answer !== "later") return error.answer;
    admissions = error.admissions;
  }
  const [answer] = await admissionAnswers(database, [opening], { rows: admissions, full: new Map() });
  assert(answer !== undefined, "one opening has one answer");
  return answer;
}

async function replace(tx: Transaction, opening: Opening): Promise<readonly Admission[]> {
  const items = JSON.stringify([openingItem(opening, 0)]);
  await tx.all([lockAuthority([opening.operation.tenantId]), ...lockIntents([opening])]);
  const old = await lockOld(tx, opening);
  const recording = old === undefined ? undefined : opening.supersede?.(old.operation, old.clock);
  const opened = await tx.all([openQuery(items)]);
  const admissions = (opened[0]?.rows ?? []) as readonly Admission[]; // OPEN's own columns.
  // A replay answers as it did the first time, when the old operation could still be cancelled.
  if (admissions[0]?.verdict !== "open") throw new Abandoned("later", admissions);
  if (recording === undefined)
    throw new Abandoned({ kind: "not_cancellable", state: visibleState(old?.operation) });
  const cancelled = JSON.stringify([recordingItem(recording, 0, undefined)]);
  await tx.finish([recordQuery(cancelled), ...settleReservations([recording])]);
  return admissions;
}

function visibleState(operation: Operation | undefined): State | undefined {
  return operation?.state;
}

async function lockOld(
  tx: Transaction,
  opening: Opening,
): Promise<{ operation: Operation; clock: Instant } | undefined> {
  const { tenantId, principalId, supersedes } = opening.operation;
  assert(supersedes !== undefined, "only a proposal that supersedes comes here");
  const { rows } = await tx.query<OperationRow & { readonly clock_ms: Instant }>(
    statement(OLD, [tenantId, uuidOf(supersedes), principalId]),
  );
  const row = rows[0];
  return row === undefined ? undefined : { operation: operationOf(row), clock: row.clock_ms };
}
