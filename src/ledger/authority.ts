import { digestOf } from "../core/digest.ts";
import type { Halt } from "../core/halt.ts";
import type { Instant, TenantId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { Probe } from "../core/probe.ts";
import type { Database } from "../database/pool.ts";
import { type Query, sql, statement } from "../database/sql.ts";
import type { Authority, Definition, Enrolled, Enrolment, InForce } from "../service/ledger-port.ts";
import { awaitTurn } from "./guard.ts";

/** Raises the epoch and says why, in the commit of whatever else changed. The first statement, so that claims wait for it or it for them. */
function raise(tenantId: TenantId, type: string, actor: string, data: JsonObject): Query {
  return sql`select writ_raise(${tenantId}, ${type}, ${actor}, ${JSON.stringify(data)}::jsonb) as epoch`;
}

export async function authority(database: Database, tenantId: TenantId): Promise<Authority> {
  const { rows } = await database.readWithin<{
    epoch: number;
    offered: string;
    policy_version: string;
    halts: readonly Halt[] | null;
    probes: readonly Probe[] | null;
  }>(
    tenantId,
    sql`
    select a.epoch, a.definitions_digest as offered, a.policy_version, (select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'id', h.id, 'scope', h.scope, 'name', h.name, 'reason', h.reason, 'actor', h.actor, 'at', writ_ms(h.at))) order by h.id)
      from halts h where h.tenant_id = a.tenant_id and h.lifted_at is null) as halts,
      (select jsonb_agg(jsonb_build_object('toolDigest', p.tool_digest, 'settingsDigest', p.settings_digest,
        'measured', p.measured, 'verdict', p.verdict)) from (
          select distinct on (tool_digest, settings_digest) tool_digest, settings_digest, measured, verdict from probes
          where tenant_id = a.tenant_id order by tool_digest, settings_digest, n desc) p) as probes
    from authority a where a.tenant_id = ${tenantId}`,
  );
  const row = rows[0];
  // A tenant that nobody enrolled has epoch 0, which no claim can match.
  const { epoch = 0, offered = "", halts, probes, policy_version: policyVersion = "" } = row ?? {};
  return { epoch, offered, halts: halts ?? [], probes: probes ?? [], policyVersion };
}

export async function halt(database: Database, tenantId: TenantId, asked: Omit<Halt, "at">): Promise<Halt> {
  const [, , rows] = await database.flight([
    awaitTurn(tenantId),
    raise(tenantId, "halted", asked.actor, {
      halt: asked.id,
      scope: asked.scope,
      name: asked.name ?? null,
      reason: asked.reason,
    }),
    sql`insert into halts (tenant_id, id, scope, name, reason, actor, at)
      values (${tenantId}, ${asked.id}, ${asked.scope}, ${asked.name ?? null}, ${asked.reason}, ${asked.actor}, writ_clock())
      on conflict (tenant_id, id) do update set id = excluded.id returning writ_ms(at) as at_ms`,
  ]);
  const [row] = (rows?.rows ?? []) as readonly { at_ms: Instant }[]; // The one returned column.
  return { ...asked, at: row?.at_ms ?? 0 };
}

/** False, and nothing changed, when no such halt stands. */
export async function lift(
  database: Database,
  tenantId: TenantId,
  haltId: string,
  actor: string,
): Promise<boolean> {
  const [, rows] = await database.flight([
    awaitTurn(tenantId),
    sql`with lifted as (
        update halts set lifted_at = writ_clock(), lifted_by = ${actor}
        where tenant_id = ${tenantId} and id = ${haltId} and lifted_at is null returning id)
      select writ_raise(${tenantId}, 'lifted', ${actor}, ${JSON.stringify({ halt: haltId })}::jsonb) from lifted`,
  ]);
  return rows?.rowCount === 1;
}

/** Later probes stand over earlier ones, which stay readable. */
export async function keepProbe(
  database: Database,
  tenantId: TenantId,
  { toolDigest, settingsDigest, measured, verdict }: Probe,
  actor: string,
): Promise<void> {
  await database.flight([
    awaitTurn(tenantId),
    raise(tenantId, "probed", actor, { tool: toolDigest, settings: settingsDigest, verdict }),
    sql`insert into probes (tenant_id, tool_digest, settings_digest, n, measured, verdict, at, actor)
      select ${tenantId}, ${toolDigest}, ${settingsDigest}, coalesce(max(n), 0) + 1, ${JSON.stringify(measured)}::jsonb, ${verdict},
        writ_clock(), ${actor}
      from probes where tenant_id = ${tenantId} and tool_digest = ${toolDigest} and settings_digest = ${settingsDigest}`,
  ]);
}

export async function raiseEpoch(
  database: Database,
  tenantId: TenantId,
  why: string,
  actor: string,
): Promise<number> {
  const [, rows] = await database.flight([awaitTurn(tenantId), raise(tenantId, "raised", actor, { why })]);
  const [row] = (rows?.rows ?? []) as readonly { epoch: number }[]; // The one returned column.
  return row?.epoch ?? 0;
}

const KEEP = `insert into definitions (tenant_id, digest, body, kept_at)
  select $1, i.digest, i.body, writ_clock() from jsonb_to_recordset($2::jsonb) as i(digest text, body jsonb)
  order by i.digest on conflict do nothing`;

/** Offering other tools than before ends what was decided under the earlier ones; offering the same ends nothing. */
export async function enroll(
  database: Database,
  tenantId: TenantId,
  definitions: readonly Definition[],
  more: Enrolment | undefined,
): Promise<Enrolled> {
  const digest = digestOf("writ.catalog.v1", {
    offered: definitions.map((definition) => definition.digest).sort(),
    rules: more?.rules ?? "",
  });
  const data = {
    definitions: digest,
    tools: Object.fromEntries(definitions.map((each) => [each.tool.name, each.digest])),
    settings: more?.settings ?? {},
  };
  const key = Buffer.from(more?.lookalikeKey ?? []).toString("base64url");
  const items = definitions.map((definition) => ({ digest: definition.digest, body: definition.tool }));
  const answers = await database.flight([
    sql`insert into authority (tenant_id, lookalike_key) values (${tenantId}, ${key}) on conflict do nothing`,
    awaitTurn(tenantId),
    sql`with changed as (
        update authority set epoch = epoch + 1, definitions_digest = ${digest}
        where tenant_id = ${tenantId} and definitions_digest <> ${digest}
          and definitions_digest = coalesce(${more?.expects ?? null}::text, definitions_digest) returning tenant_id, epoch)
      insert into authority_events (tenant_id, epoch, type, actor, data, at)
      select tenant_id, epoch, 'offered', ${more?.actor ?? "configuration"}::text, ${JSON.stringify(data)}::jsonb, writ_clock() from changed`,
    statement(KEEP, [tenantId, JSON.stringify(items)]),
    sql`select lookalike_key, definitions_digest as standing from authority where tenant_id = ${tenantId}`,
  ]);
  const [row] = (answers.at(-1)?.rows ?? []) as readonly { lookalike_key: string; standing: string }[]; // The selected columns.
  const { lookalike_key = "", standing = "" } = row ?? {};
  return { lookalikeKey: Buffer.from(lookalike_key, "base64url"), offered: digest, standing };
}

export async function inForce(database: Database, tenantId: TenantId): Promise<InForce> {
  const { rows } = await database.readWithin<{ offered: string; data: Partial<InForce> | null }>(
    tenantId,
    sql`select a.definitions_digest as offered, (
        select e.data from authority_events e where e.tenant_id = a.tenant_id and e.type = 'offered' order by e.epoch desc limit 1) as data
      from authority a where a.tenant_id = ${tenantId}`,
  );
  const { offered = "", data } = rows[0] ?? {};
  return { offered, tools: data?.tools ?? {}, settings: data?.settings ?? {} };
}

export async function definition(
  database: Database,
  tenantId: TenantId,
  digest: string,
): Promise<Definition | undefined> {
  const { rows } = await database.readWithin<{ body: Definition["tool"] }>(
    tenantId,
    sql`select body from definitions where tenant_id = ${tenantId} and digest = ${digest}`,
  );
  const row = rows[0];
  return row === undefined ? undefined : { digest, tool: row.body };
}
