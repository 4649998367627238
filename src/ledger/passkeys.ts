import type { Instant, TenantId } from "../core/ids.ts";
import type { Database } from "../database/pool.ts";
import { sql } from "../database/sql.ts";
import type { Passkey, PasskeyStore } from "../service/approval-port.ts";
import { answered } from "./answered.ts";

/** A person loses one now and then; more than this is a mistake. */
const EACH_MAX = 10;

export function passkeyStore(database: Database): PasskeyStore {
  return {
    list: (tenantId, person) => answered(list(database, tenantId, person)),
    add: (tenantId, passkey) => answered(add(database, tenantId, passkey)),
    remove: (tenantId, person, id) => answered(remove(database, tenantId, person, id)),
    count: (tenantId, id, counter) => answered(count(database, tenantId, id, counter)),
  };
}

interface Row {
  readonly id: string;
  readonly person: string;
  readonly name: string;
  readonly public_key: string;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly created_ms: Instant;
  readonly used_ms: Instant | null;
  readonly suspect_ms: Instant | null;
}

async function list(database: Database, tenantId: TenantId, person: string): Promise<readonly Passkey[]> {
  const { rows } = await database.readWithin<Row>(
    tenantId,
    sql`select id, person, name, public_key, counter, transports, writ_ms(created_at) as created_ms, writ_ms(used_at) as used_ms,
          writ_ms(suspect_at) as suspect_ms
        from passkeys where tenant_id = ${tenantId} and person = ${person} order by created_at, id`,
  );
  return rows.map(({ public_key, created_ms, used_ms, suspect_ms, ...row }) => ({
    ...row,
    publicKey: public_key,
    createdAt: created_ms,
    ...(used_ms === null ? {} : { usedAt: used_ms }),
    ...(suspect_ms === null ? {} : { suspectAt: suspect_ms }),
  }));
}

async function add(
  database: Database,
  tenantId: TenantId,
  { id, person, name, publicKey, counter, transports }: Parameters<PasskeyStore["add"]>[1],
): Promise<boolean> {
  const [, rows] = await database.flight([
    // Two enrolments of one person at once: the second counts after the first.
    sql`select pg_advisory_xact_lock(hashtextextended('writ.passkeys.' || ${tenantId}::text || ' ' || ${person}::text, 0))`,
    sql`insert into passkeys (tenant_id, id, person, name, public_key, counter, transports, created_at)
      select ${tenantId}, ${id}, ${person}, ${name}, ${publicKey}, ${counter}, ${JSON.stringify(transports)}::jsonb, writ_clock()
      where (select count(*) from passkeys where tenant_id = ${tenantId} and person = ${person}) < ${EACH_MAX}
      on conflict (tenant_id, id) do nothing returning id`,
  ]);
  return rows?.rowCount === 1;
}

async function remove(database: Database, tenantId: TenantId, person: string, id: string): Promise<boolean> {
  const [rows] = await database.flight([
    sql`delete from passkeys where tenant_id = ${tenantId} and person = ${person} and id = ${id} returning id`,
  ]);
  return rows?.rowCount === 1;
}

/** WebAuthn Level 3, 7.2 step 22: a counter that does not grow says that there may be two of it. One that is always zero counts nothing. */
async function count(database: Database, tenantId: TenantId, id: string, counter: number): Promise<boolean> {
  const [rows] = await database.flight([
    sql`update passkeys set
        counter = greatest(counter, ${counter}::bigint),
        used_at = case when counter < ${counter}::bigint or (counter = 0 and ${counter}::bigint = 0) then writ_clock() else used_at end,
        suspect_at = case when counter < ${counter}::bigint or (counter = 0 and ${counter}::bigint = 0) then suspect_at
                     else coalesce(suspect_at, writ_clock()) end
      where tenant_id = ${tenantId} and id = ${id} returning suspect_at is null as sound`,
  ]);
  const [row] = (rows?.rows ?? []) as readonly { sound: boolean }[]; // The one returned column.
  return row?.sound === true;
}
