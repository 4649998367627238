import type { TenantId } from "../core/ids.ts";
import type { Revocation } from "../core/revocation.ts";
import type { Database } from "../database/pool.ts";
import { sql, statement } from "../database/sql.ts";
import { awaitTurn } from "./guard.ts";

const COLUMNS = `r.id, r.scope, r.name, r.reason, r.actor, writ_ms(r.at) as at`;

/** Stands from its commit on, and ends whatever was decided before it. What stands against the name already is left alone. */
export async function revoke(
  database: Database,
  tenantId: TenantId,
  { id, scope, name, reason, actor }: Omit<Revocation, "at">,
): Promise<Revocation> {
  const data = JSON.stringify({ revocation: id, scope, name, reason });
  const answers = await database.flight([
    awaitTurn(tenantId),
    sql`with made as (
        insert into revocations (tenant_id, id, scope, name, reason, actor, at)
        values (${tenantId}, ${id}, ${scope}, ${name}, ${reason}, ${actor}, writ_clock())
        on conflict (tenant_id, scope, name) where lifted_at is null do nothing returning id)
      select writ_raise(${tenantId}, 'revoked', ${actor}, ${data}::jsonb) from made`,
    statement(
      `select ${COLUMNS} from revocations r where r.tenant_id = $1 and r.scope = $2 and r.name = $3 and r.lifted_at is null`,
      [tenantId, scope, name],
    ),
  ]);
  const [row] = (answers.at(-1)?.rows ?? []) as readonly Revocation[]; // The columns of COLUMNS.
  if (row === undefined) throw new Error("what this transaction made stands");
  return row;
}

/** False, and nothing changed, when no such revocation stands. */
export async function restore(
  database: Database,
  tenantId: TenantId,
  id: string,
  actor: string,
): Promise<boolean> {
  const [, rows] = await database.flight([
    awaitTurn(tenantId),
    sql`with lifted as (
        update revocations set lifted_at = writ_clock(), lifted_by = ${actor}
        where tenant_id = ${tenantId} and id = ${id} and lifted_at is null returning id)
      select writ_raise(${tenantId}, 'restored', ${actor}, ${JSON.stringify({ revocation: id })}::jsonb) from lifted`,
  ]);
  return rows?.rowCount === 1;
}

export async function list(
  database: Database,
  tenantId: TenantId,
  { before, max }: { readonly before?: string; readonly max: number },
): Promise<readonly Revocation[]> {
  const { rows } = await database.readWithin<Revocation>(
    tenantId,
    statement(
      `select ${COLUMNS} from revocations r where r.tenant_id = $1 and r.lifted_at is null and ($2::text is null or r.id < $2)
       order by r.id desc limit $3`,
      [tenantId, before ?? null, max],
    ),
  );
  return rows;
}
