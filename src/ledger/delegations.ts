import { CHAIN_MAX, type Delegation, type DelegationRule } from "../core/delegation.ts";
import type { Instant, TenantId } from "../core/ids.ts";
import type { Revocation } from "../core/revocation.ts";
import type { Database } from "../database/pool.ts";
import { sql, statement } from "../database/sql.ts";
import type {
  Backing,
  Claimant,
  DelegationQuery,
  Delegations,
  GrantAnswer,
  NewDelegation,
} from "../service/delegation-port.ts";
import { answered } from "./answered.ts";
import { awaitTurn } from "./guard.ts";
import * as revoking from "./revocations.ts";

const COLUMNS = `d.tenant_id, d.id, d.parent_id, d.principal_id, d.given_by, d.delegator, d.holder, d.rules, d.depth, d.depth_max, d.uses_max,
  writ_ms(d.not_before) as not_before_ms, writ_ms(d.expires_at) as expires_ms, d.reason, writ_ms(d.created_at) as created_ms, d.created_by,
  writ_ms(d.revoked_at) as revoked_ms, d.revoked_by, d.revoked_reason`;

interface DelegationRow {
  readonly tenant_id: TenantId;
  readonly id: string;
  readonly parent_id: string | null;
  readonly principal_id: string;
  readonly given_by: Delegation["by"];
  readonly delegator: string;
  readonly holder: string;
  readonly rules: readonly DelegationRule[];
  readonly depth: number;
  readonly depth_max: number;
  readonly uses_max: number | null;
  readonly not_before_ms: Instant;
  readonly expires_ms: Instant;
  readonly reason: string | null;
  readonly created_ms: Instant;
  readonly created_by: string;
  readonly revoked_ms: Instant | null;
  readonly revoked_by: string | null;
  readonly revoked_reason: string | null;
}

/** The Delegations port on PostgreSQL. */
export function postgresDelegations(database: Database): Delegations {
  return {
    backing: (tenantId, claimant) => answered(backing(database, tenantId, claimant)),
    grant: (asked) => answered(grant(database, asked)),
    chain: (tenantId, id) => answered(chain(database, tenantId, id)),
    list: (tenantId, query) => answered(list(database, tenantId, query)),
    end: (tenantId, id, why) => answered(end(database, tenantId, id, why)),
    revoke: (tenantId, asked) => answered(revoking.revoke(database, tenantId, asked)),
    restore: (tenantId, id, actor) => answered(revoking.restore(database, tenantId, id, actor)),
    revocations: (tenantId, query) => answered(revoking.list(database, tenantId, query)),
  };
}

/** A record and all above it. Each step goes up by one id within the tenant, and no chain is longer than the table permits. */
const CHAIN = `chain as (
    select d.* from delegations d where d.tenant_id = $1 and d.id = $2
    union all
    select p.* from chain c join delegations p on p.tenant_id = c.tenant_id and p.id = c.parent_id where c.depth > 0)`;

const BACKING = `with recursive ${CHAIN},
  named as (select 'principal' as scope, $3::text as name
    union select 'client', $4::text union select 'client', holder from chain union select 'client', delegator from chain where given_by = 'client')
  select writ_ms(writ_clock()) as clock_ms,
    (select jsonb_agg(to_jsonb(l) order by l.depth) from (select ${COLUMNS} from chain d) l) as links,
    (select jsonb_agg(jsonb_build_object('id', r.id, 'scope', r.scope, 'name', r.name, 'reason', r.reason, 'actor', r.actor, 'at', writ_ms(r.at)) order by r.id)
      from revocations r join named n on n.scope = r.scope and n.name = r.name
      where r.tenant_id = $1 and r.lifted_at is null) as revocations`;

async function backing(database: Database, tenantId: TenantId, claimant: Claimant): Promise<Backing> {
  const { principalId, clientId, delegationId } = claimant;
  const { rows } = await database.readWithin<{
    readonly clock_ms: Instant;
    readonly links: readonly DelegationRow[] | null;
    readonly revocations: readonly Revocation[] | null;
  }>(tenantId, statement(BACKING, [tenantId, delegationId ?? null, principalId, clientId]));
  const row = rows[0];
  const links = row?.links?.map(delegationOf) ?? [];
  return {
    links: delegationId !== undefined && links.length === 0 ? undefined : links,
    revocations: row?.revocations ?? [],
    clock: row?.clock_ms ?? 0,
  };
}

async function chain(database: Database, tenantId: TenantId, id: string): Promise<readonly Delegation[]> {
  const { rows } = await database.readWithin<DelegationRow>(
    tenantId,
    statement(`with recursive ${CHAIN} select ${COLUMNS} from chain d order by d.depth limit ${CHAIN_MAX}`, [
      tenantId,
      id,
    ]),
  );
  return rows.map(delegationOf);
}

/** Dated here: a link begins now unless it says later, and ends at the latest with the one above. What is above is locked against its end. */
const GRANT = `with above as materialized (
    select expires_at from delegations where tenant_id = $1 and id = $3 and revoked_at is null for share),
  clock as materialized (select writ_clock() as at from (select count(*) from above) waited),
  dated as (
    select at, coalesce(writ_at($12), at) as not_before,
      least(case when $13::bigint is null then at + $14::bigint * interval '1 ms' else writ_at($13) end, (select expires_at from above)) as expires_at
    from clock where $3::text is null or exists (select from above))
  insert into delegations as d (tenant_id, id, parent_id, principal_id, given_by, delegator, holder, rules, depth, depth_max, uses_max,
    not_before, expires_at, reason, created_at, created_by)
  select $1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, $11, not_before, expires_at, $15, at, $16 from dated
  where expires_at > greatest(at, not_before)
  returning ${COLUMNS}`;

async function grant(database: Database, asked: NewDelegation): Promise<GrantAnswer> {
  const { lasts } = asked;
  const [answer] = await database.flight([
    statement(GRANT, [
      asked.tenantId,
      asked.id,
      asked.parentId ?? null,
      asked.principalId,
      asked.by,
      asked.delegator,
      asked.holder,
      JSON.stringify(asked.rules),
      asked.depth,
      asked.depthMax,
      asked.usesMax ?? null,
      asked.notBefore ?? null,
      "until" in lasts ? lasts.until : null,
      "forMs" in lasts ? lasts.forMs : null,
      asked.reason ?? null,
      asked.createdBy,
    ]),
  ]);
  const [row] = (answer?.rows ?? []) as readonly DelegationRow[]; // GRANT's own columns.
  return row === undefined ? { kind: "ended" } : { kind: "granted", delegation: delegationOf(row) };
}

const LIST = `select ${COLUMNS} from delegations d
  where d.tenant_id = $1 and ($2::text is null or d.id < $2) and ($3::text is null or d.principal_id = $3)
    and ($4::text is null or d.holder = $4 or (d.given_by = 'client' and d.delegator = $4))
    and ($5::text is null or d.holder = $5) and ($6::boolean is not true or (d.revoked_at is null and d.expires_at > writ_now()))
  order by d.id desc limit $7`;

async function list(
  database: Database,
  tenantId: TenantId,
  { of, holder, standing, before, max }: DelegationQuery,
): Promise<readonly Delegation[]> {
  const { rows } = await database.readWithin<DelegationRow>(
    tenantId,
    statement(LIST, [
      tenantId,
      before ?? null,
      of?.principalId ?? null,
      of?.clientId ?? null,
      holder ?? null,
      standing ?? null,
      max,
    ]),
  );
  return rows.map(delegationOf);
}

/** Ends the record and every permission that was decided under the tenant's old epoch, in one commit. */
async function end(
  database: Database,
  tenantId: TenantId,
  id: string,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<Delegation | undefined> {
  const answers = await database.flight([
    awaitTurn(tenantId),
    sql`with ended as (
        update delegations set revoked_at = writ_clock(), revoked_by = ${by}, revoked_reason = ${reason}
        where tenant_id = ${tenantId} and id = ${id} and revoked_at is null returning id)
      select writ_raise(${tenantId}, 'revoked', ${by}, ${JSON.stringify({ delegation: id, reason })}::jsonb) from ended`,
    statement(`select ${COLUMNS} from delegations d where d.tenant_id = $1 and d.id = $2`, [tenantId, id]),
  ]);
  const [row] = (answers.at(-1)?.rows ?? []) as readonly DelegationRow[]; // The columns of COLUMNS.
  return row === undefined ? undefined : delegationOf(row);
}

function delegationOf(row: DelegationRow): Delegation {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    principalId: row.principal_id,
    by: row.given_by,
    delegator: row.delegator,
    holder: row.holder,
    rules: row.rules,
    depth: row.depth,
    depthMax: row.depth_max,
    notBefore: row.not_before_ms,
    expiresAt: row.expires_ms,
    createdAt: row.created_ms,
    createdBy: row.created_by,
    ...(row.parent_id === null ? {} : { parentId: row.parent_id }),
    ...(row.uses_max === null ? {} : { usesMax: row.uses_max }),
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.revoked_ms === null
      ? {}
      : { revoked: { at: row.revoked_ms, by: row.revoked_by ?? "", reason: row.revoked_reason ?? "" } }),
  };
}
