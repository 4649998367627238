import type { Action } from "../core/action.ts";
import type { Instant, TenantId } from "../core/ids.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { PolicyFacts } from "../core/policy.ts";
import type { Database } from "../database/pool.ts";
import { sql } from "../database/sql.ts";
import type {
  Activation,
  ActivationAnswer,
  PolicyStore,
  PolicyText,
  PolicyVersion,
  RecordedDecision,
} from "../service/policy-port.ts";
import { answered } from "./answered.ts";
import { awaitTurn } from "./guard.ts";

/** Policies in the ledger's database. */
export function postgresPolicies(database: Database): PolicyStore {
  return {
    keep: (tenantId, digest, policy, actor) => answered(keep(database, tenantId, digest, policy, actor)),
    read: (tenantId, digest) => answered(read(database, tenantId, digest)),
    activate: (tenantId, asked) => answered(activate(database, tenantId, asked)),
    activations: (tenantId, max) => answered(activations(database, tenantId, max)),
    recorded: (tenantId, max) => answered(recorded(database, tenantId, max)),
    recent: (tenantId, resource, forMs) => answered(recent(database, tenantId, resource, forMs)),
  };
}

async function keep(
  database: Database,
  tenantId: TenantId,
  digest: string,
  policy: PolicyText,
  actor: string,
): Promise<void> {
  const body = canonicalJson(policy as unknown as JsonObject); // Plain JSON: names and texts.
  await database.flight([
    sql`insert into policies (tenant_id, digest, body, actor, kept_at)
      values (${tenantId}, ${digest}, ${body}, ${actor}, writ_clock()) on conflict do nothing`,
  ]);
}

async function read(database: Database, tenantId: TenantId, digest: string): Promise<PolicyText | undefined> {
  const { rows } = await database.readWithin<{ body: string }>(
    tenantId,
    sql`select body from policies where tenant_id = ${tenantId} and digest = ${digest}`,
  );
  const [row] = rows;
  return row === undefined ? undefined : (JSON.parse(row.body) as PolicyText); // Written by `keep`; whoever asks compares its digest.
}

/** One of many wins: the version that stands is compared in the statement that replaces it. */
async function activate(
  database: Database,
  tenantId: TenantId,
  { digest, expects, actor, reason }: Activation,
): Promise<ActivationAnswer> {
  const answers = await database.flight([
    awaitTurn(tenantId),
    sql`with next as materialized (
        select coalesce(max(number), 0) + 1 as number from policy_activations where tenant_id = ${tenantId}),
      raised as (
        update authority set epoch = epoch + 1, policy_version = (select number from next) || '.' || ${digest}::text
        where tenant_id = ${tenantId} and policy_version = ${expects}
          and exists (select from policies where tenant_id = ${tenantId} and digest = ${digest})
        returning tenant_id, epoch, policy_version),
      activated as (
        insert into policy_activations (tenant_id, number, digest, epoch, actor, reason, at)
        select tenant_id, (select number from next), ${digest}, epoch, ${actor}, ${reason}, writ_clock() from raised
        returning tenant_id, number, digest, epoch, actor, reason, at)
      insert into authority_events (tenant_id, epoch, type, actor, data, at)
      select tenant_id, epoch, 'policy_activated', actor,
        jsonb_build_object('policy', number || '.' || digest, 'before', ${expects}::text, 'reason', reason), at from activated
      returning writ_ms(at) as at_ms, data->>'policy' as version`,
    sql`select policy_version, exists (select from policies where tenant_id = ${tenantId} and digest = ${digest}) as kept
      from authority where tenant_id = ${tenantId}`,
  ]);
  const [made] = (answers[1]?.rows ?? []) as readonly { at_ms: Instant; version: string }[]; // The two returned columns.
  const [now] = (answers[2]?.rows ?? []) as readonly { policy_version: string; kept: boolean }[]; // The two selected columns.
  if (made !== undefined) {
    const { version, at_ms: at } = made;
    return { kind: "activated", version: { version, number: numberOf(version), digest, actor, reason, at } };
  }
  return now?.kept === true ? { kind: "moved", standing: now.policy_version } : { kind: "unknown_policy" };
}

function numberOf(version: string): number {
  return Number(version.slice(0, version.indexOf(".")));
}

async function activations(
  database: Database,
  tenantId: TenantId,
  max: number,
): Promise<readonly PolicyVersion[]> {
  const { rows } = await database.readWithin<Omit<PolicyVersion, "version" | "at"> & { at_ms: Instant }>(
    tenantId,
    sql`select number, digest, actor, reason, writ_ms(at) as at_ms from policy_activations
      where tenant_id = ${tenantId} order by number desc limit ${max}`,
  );
  return rows.map(({ at_ms: at, number, ...row }) => ({
    ...row,
    number: Number(number),
    version: `${number}.${row.digest}`,
    at,
  }));
}

interface RecordedRow {
  readonly id: string;
  readonly at_ms: Instant;
  readonly action: string;
  readonly tool_digest: string;
  readonly roles: readonly string[] | null;
  readonly data: {
    readonly policyVersion?: string;
    readonly roles?: readonly string[];
    readonly facts?: PolicyFacts;
  };
}

/** The decision of an opening stands in its first event that names a policy; roles with the permission, the review, or the denial. */
async function recorded(
  database: Database,
  tenantId: TenantId,
  max: number,
): Promise<readonly RecordedDecision[]> {
  const { rows } = await database.readWithin<RecordedRow>(
    tenantId,
    sql`select o.id, writ_ms(o.created_at) as at_ms, o.action, o.tool_digest,
        coalesce(o.permission->'roles', o.review->'roles') as roles, d.data
      from (select * from operations where tenant_id = ${tenantId} order by id desc limit ${max}) o
      cross join lateral (
        select e.body::jsonb->'data' as data from events e
        where e.tenant_id = ${tenantId} and e.operation_id = o.id and e.n <= 2 and e.body::jsonb->'data' ? 'policyVersion'
        order by e.n limit 1) d
      order by o.id desc`,
  );
  return rows.map((row) => ({
    operationId: row.id,
    at: row.at_ms,
    action: JSON.parse(row.action) as Action, // Written by freezeAction.
    toolDigest: row.tool_digest,
    roles: row.roles ?? row.data.roles ?? [],
    policyVersion: row.data.policyVersion ?? "",
    facts: row.data.facts ?? {},
  }));
}

// More than anybody would count: a policy compares with a small number.
const COUNTED_MAX = 1_000;

async function recent(
  database: Database,
  tenantId: TenantId,
  resource: string,
  forMs: number,
): Promise<{ readonly denials: number; readonly conflicts: number }> {
  const { rows } = await database.readWithin<{ denials: number; conflicts: number }>(
    tenantId,
    sql`select count(*) filter (where reason in ('denied', 'review_denied'))::int as denials,
        count(*) filter (where reason = 'precondition_failed')::int as conflicts
      from (select reason from operations
        where tenant_id = ${tenantId} and resource = ${resource} and state = 'rejected'
          and settled_at > writ_now() - make_interval(secs => ${forMs / 1000})
        order by id desc limit ${COUNTED_MAX}) r`,
  );
  return rows[0] ?? { denials: 0, conflicts: 0 };
}
