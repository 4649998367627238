import type { Draw } from "../core/limits.ts";
import type { Operation, Progress } from "../core/operation.ts";
import { type Query, type Rows, statement } from "../database/sql.ts";
import type { LimitReached } from "../service/ledger-port.ts";
import { uuidOf } from "./rows.ts";

/** One operation that draws on limits. One that exists names its revision and epoch: it reserves only while they hold. */
export interface Drawing {
  readonly ord: number;
  readonly operation: Pick<Operation, "tenantId" | "id">;
  readonly draws: readonly Draw[];
  readonly expects?: { readonly revision: number; readonly epoch: number };
}

const ROOMS = `
  insert into limit_rooms as l (tenant_id, room)
  select distinct tenant_id, room from jsonb_to_recordset($1::jsonb) as i(tenant_id text, room text) order by tenant_id, room
  on conflict (tenant_id, room) do update set passes = l.passes + 1`;

const RESERVE = `select * from writ_reserve($1::jsonb)`;

/** Locks the rooms, and with the next statement, whose snapshot sees what their owners committed, reserves. Nothing where nothing is drawn. */
export function reserveQueries(drawings: readonly Drawing[]): readonly Query[] {
  if (drawings.length === 0) return [];
  const rooms = drawings.flatMap(({ operation, draws }) =>
    draws.map(({ room }) => ({ tenant_id: operation.tenantId, room })),
  );
  const items = drawings.map(({ ord, operation, draws, expects }) => ({
    ord,
    tenant_id: operation.tenantId,
    id: uuidOf(operation.id),
    revision: expects?.revision,
    epoch: expects?.epoch,
    draws: draws.map(({ name, room, amount, max, window }) => ({
      name,
      room,
      amount,
      max,
      kind: window.kind,
      for_ms: window.kind === "ever" ? undefined : window.forMs,
    })),
  }));
  return [statement(ROOMS, [JSON.stringify(rooms)]), statement(RESERVE, [JSON.stringify(items)])];
}

interface FullRow {
  readonly ord: number;
  readonly limit_name: string;
  readonly retry_ms: number | null;
  readonly clock_ms: number;
}

/** Which items found no room, from RESERVE's answer. */
export function fullRooms(answer: Rows<unknown> | undefined): ReadonlyMap<number, LimitReached> {
  const rows = (answer?.rows ?? []) as readonly FullRow[]; // The columns of writ_reserve.
  return new Map(
    rows.map(({ ord, limit_name, retry_ms, clock_ms }) => [
      ord,
      {
        kind: "limit_reached",
        limit: limit_name,
        clock: clock_ms,
        ...(retry_ms === null ? {} : { retryAt: retry_ms }),
      },
    ]),
  );
}

const SETTLE = `
  with item as materialized (select * from jsonb_to_recordset($1::jsonb) as i(tenant_id text, id uuid)),
  given_back as (
    delete from reservations r using item i join operations o on o.tenant_id = i.tenant_id and o.id = i.id
    where o.state = 'rejected' and r.tenant_id = i.tenant_id and r.operation_id = i.id)
  update reservations r set settled_at = o.settled_at from item i join operations o on o.tenant_id = i.tenant_id and o.id = i.id
  where o.state = 'succeeded' and r.settled_at is null and r.tenant_id = i.tenant_id and r.operation_id = i.id`;

/** What settled operations had reserved: given back where there is no effect, counted from now on where there is one. */
export function settleReservations(
  settling: readonly {
    readonly operation: Pick<Operation, "tenantId" | "id">;
    readonly progress: Progress;
  }[],
): readonly Query[] {
  const items = settling
    .filter(({ progress }) => progress.state === "succeeded" || progress.state === "rejected")
    .filter(({ progress }) => progress.attempts.some((attempt) => attempt.limited === true))
    .map(({ operation }) => ({ tenant_id: operation.tenantId, id: uuidOf(operation.id) }));
  return items.length === 0 ? [] : [statement(SETTLE, [JSON.stringify(items)])];
}
