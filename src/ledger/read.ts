import type { StoredEvent } from "../core/event.ts";
import { type Instant, type OperationId, operationIdOf, type TenantId, uuidOf } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import type { Database } from "../database/pool.ts";
import { sql, statement } from "../database/sql.ts";
import type { Change, Intent, ListQuery, Read } from "../service/ledger-port.ts";
import { OPERATION_COLUMNS, type OperationRow, operationOf } from "./rows.ts";

const ONE = `select ${OPERATION_COLUMNS}, writ_ms(writ_clock()) as clock_ms from operations o where o.tenant_id = $1 and o.id = $2`;
/** The row lock waits for whoever is writing: a plain read would prove only presence. */
const SETTLED_ONE = `${ONE} for share`;
const MANY = `select ${OPERATION_COLUMNS} from operations o
  join jsonb_to_recordset($1::jsonb) as i(tenant_id text, id uuid) on o.tenant_id = i.tenant_id and o.id = i.id`;
const LIST = `select ${OPERATION_COLUMNS} from operations o
  where o.tenant_id = $1 and ($2::uuid is null or o.id < $2::uuid) and ($3::text is null or o.state = $3) and ($4::text is null or o.tool = $4)
    and ($5::text is null or o.resource = $5) and ($6::text is null or o.principal_id = $6) and ($7::bigint is null or o.created_at >= writ_at($7))
    and ($8::boolean is null or (o.attention is not null) = $8)
  order by o.id desc limit $9`;

type ClockedRow = OperationRow & { readonly clock_ms: Instant };

export async function readOne(
  database: Database,
  tenantId: TenantId,
  id: OperationId,
): Promise<Read<Operation> | undefined> {
  const { rows } = await database.readWithin<ClockedRow>(tenantId, statement(ONE, [tenantId, uuidOf(id)]));
  const row = rows[0];
  return row === undefined ? undefined : { value: operationOf(row), clock: row.clock_ms };
}

/** After a lost answer: what the ledger really holds, once every writer of the row has ended. */
export async function readLocked(
  database: Database,
  tenantId: TenantId,
  id: OperationId,
): Promise<Read<Operation> | undefined> {
  const [rows] = await database.flight([statement(SETTLED_ONE, [tenantId, uuidOf(id)])]);
  const row = rows?.rows[0] as ClockedRow | undefined; // The same columns as ONE.
  return row === undefined ? undefined : { value: operationOf(row), clock: row.clock_ms };
}

export async function readMany(
  database: Database,
  names: readonly { tenantId: string; uuid: string }[],
): Promise<ReadonlyMap<OperationId, Operation>> {
  if (names.length === 0) return new Map();
  const items = names.map((name) => ({ tenant_id: name.tenantId, id: name.uuid }));
  const { rows } = await database.read<OperationRow>(statement(MANY, [JSON.stringify(items)]));
  return new Map(rows.map((row) => [operationIdOf(row.id), operationOf(row)]));
}

/** Newest first, by keyset. */
export async function list(
  database: Database,
  tenantId: TenantId,
  query: ListQuery,
): Promise<readonly Operation[]> {
  const { rows } = await database.readWithin<OperationRow>(
    tenantId,
    statement(LIST, [
      tenantId,
      query.before === undefined ? null : uuidOf(query.before),
      query.state ?? null,
      query.tool ?? null,
      query.resource ?? null,
      query.principalId ?? null,
      query.since ?? null,
      query.attention ?? null,
      query.max,
    ]),
  );
  return rows.map(operationOf);
}

export async function events(
  database: Database,
  tenantId: TenantId,
  id: OperationId,
): Promise<readonly StoredEvent[]> {
  const { rows } = await database.readWithin<StoredEvent>(
    tenantId,
    sql`select n, body, hash from events where tenant_id = ${tenantId} and operation_id = ${uuidOf(id)} order by n`,
  );
  return rows;
}

export async function receipt(
  database: Database,
  tenantId: TenantId,
  id: OperationId,
): Promise<string | undefined> {
  const { rows } = await database.readWithin<{ jws: string }>(
    tenantId,
    sql`select jws from receipts where tenant_id = ${tenantId} and operation_id = ${uuidOf(id)}`,
  );
  return rows[0]?.jws;
}

interface ChangeRow {
  readonly seq: number;
  readonly operation_id: string;
  readonly type: string;
  readonly n: number;
  readonly at_ms: Instant;
}

/** Only what lies behind the oldest transaction still open, so that nothing can appear later with an earlier number. */
export async function changes(
  database: Database,
  tenantId: TenantId,
  afterSeq: number | "now",
  max: number,
): Promise<{ readonly seq: number; readonly changes: readonly Change[] }> {
  if (afterSeq === "now") {
    const { rows } = await database.readWithin<{ seq: number | null }>(
      tenantId,
      sql`select max(seq) as seq from events where tenant_id = ${tenantId} and xid < pg_snapshot_xmin(pg_current_snapshot())`,
    );
    return { seq: rows[0]?.seq ?? 0, changes: [] };
  }
  const { rows } = await database.readWithin<ChangeRow>(
    tenantId,
    sql`select seq, operation_id, type, n, writ_ms(at) as at_ms from events
        where tenant_id = ${tenantId} and seq > ${afterSeq} and xid < pg_snapshot_xmin(pg_current_snapshot())
        order by seq limit ${max}`,
  );
  const found = rows.map((row) => ({
    seq: row.seq,
    operationId: operationIdOf(row.operation_id),
    type: row.type,
    n: row.n,
    at: row.at_ms,
  }));
  return { seq: found.at(-1)?.seq ?? afterSeq, changes: found };
}

/** What was sent under this key. Its operation is read apart: it may have been pruned, and the key stays spent. */
export async function intent(
  database: Database,
  tenantId: TenantId,
  principalId: string,
  key: string,
): Promise<Intent | undefined> {
  const { rows } = await database.readWithin<{ operation_id: string; proposal_digest: string }>(
    tenantId,
    sql`select operation_id, proposal_digest from intent_keys
        where tenant_id = ${tenantId} and principal_id = ${principalId} and intent_key = ${key}`,
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  const operation = (await readOne(database, tenantId, operationIdOf(row.operation_id)))?.value;
  return { proposalDigest: row.proposal_digest, ...(operation === undefined ? {} : { operation }) };
}
