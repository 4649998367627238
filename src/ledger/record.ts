import assert from "node:assert/strict";
import type { Instant } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import type { Database } from "../database/pool.ts";
import { statement } from "../database/sql.ts";
import type { DueQuery, Read, RecordAnswer, Recording } from "../service/ledger-port.ts";
import { type RecordRow, recordQuery } from "./head-sql.ts";
import { settleReservations } from "./limits.ts";
import { recordedOperation } from "./opening.ts";
import { draftsOf, headOf, OPERATION_COLUMNS, type OperationRow, operationOf, uuidOf } from "./rows.ts";

/** Writes many new heads in one commit and one flight, each only over the revision it was made from. */
export async function recordBatch(
  database: Database,
  recordings: readonly Recording[],
): Promise<readonly RecordAnswer[]> {
  const items = JSON.stringify(recordings.map((recording, ord) => recordingItem(recording, ord, undefined)));
  const [rows] = await database.flight([recordQuery(items), ...settleReservations(recordings)]);
  return recordAnswers(recordings, rows?.rows);
}

export function recordAnswers(
  recordings: readonly Recording[],
  rows: readonly unknown[] | undefined,
): readonly RecordAnswer[] {
  const found = (rows ?? []) as readonly RecordRow[]; // The columns of RECORD's last select.
  const written = new Map(found.map((row) => [row.ord, row]));
  return recordings.map((recording, ord) => {
    const row = written.get(ord);
    if (row === undefined) return { kind: "changed" };
    return {
      kind: "recorded",
      operation: recordedOperation(recording, row.revision, row.at_ms, row.settled_ms),
    };
  });
}

/** `freshUntil`: the transaction must end if it would commit later than this. */
export function recordingItem(recording: Recording, ord: number, freshUntil: Instant | undefined): object {
  const { operation, progress } = recording;
  assert(recording.events.length > 0, "every change appends an event");
  return {
    ord,
    tenant_id: operation.tenantId,
    id: uuidOf(operation.id),
    revision: operation.revision,
    ...headOf(progress),
    due_ms: recording.dueAt,
    events: draftsOf(recording.events),
    receipt: recording.receipt,
    fresh_until_ms: freshUntil,
  };
}

const POSTPONE = `update operations o set due_at = writ_at(i.due_ms)
  from jsonb_to_recordset($1::jsonb) as i(tenant_id text, id uuid, revision int, due_ms bigint)
  where o.tenant_id = i.tenant_id and o.id = i.id and o.revision = i.revision`;

export async function postpone(database: Database, operation: Operation, dueAt: Instant): Promise<void> {
  const item = {
    tenant_id: operation.tenantId,
    id: uuidOf(operation.id),
    revision: operation.revision,
    due_ms: dueAt,
  };
  await database.flight([statement(POSTPONE, [JSON.stringify([item])])]);
}

/** Picks what is due and hides it from other workers for a while. No lock: whoever is late meets the revision. */
const DUE = `with picked as materialized (
    select tenant_id, id from operations
    where due_at <= writ_now() and provider <> all($2::text[]) and tenant_id <> all($3::text[])
    order by due_at limit $1 for update skip locked)
  update operations o set due_at = writ_now() + $4 * interval '1 ms' from picked p
  where o.tenant_id = p.tenant_id and o.id = p.id
  returning ${OPERATION_COLUMNS}, writ_ms(writ_clock()) as clock_ms`;

export async function due(database: Database, query: DueQuery): Promise<Read<readonly Operation[]>> {
  const [rows] = await database.flight([
    statement(DUE, [query.max, query.exceptProviders, query.exceptTenants, query.reserveMs]),
  ]);
  const found = (rows?.rows ?? []) as readonly (OperationRow & { readonly clock_ms: Instant })[]; // DUE's own columns.
  return { value: found.map(operationOf), clock: found[0]?.clock_ms ?? 0 };
}
