import type { Instant, TenantId } from "../core/ids.ts";
import type { Database } from "../database/pool.ts";
import { type Query, sql } from "../database/sql.ts";
import type { ConsoleBounds, ConsolePerson, ConsoleSessions } from "../service/identity-port.ts";
import { answered } from "./answered.ts";

// Often enough that a session in use does not go idle, seldom enough that reading does not write.
const TOUCH_MS = 60_000;
const SWEPT_MAX = 20;

interface Row {
  readonly principal_id: string;
  readonly client_id: string;
  readonly roles: readonly string[];
  readonly authenticated_at: Instant | null;
  readonly acr: string | null;
  readonly touch: boolean;
}

/** The sessions of people's browsers. Every time is the database's. */
export function consoleSessions(database: Database): ConsoleSessions {
  return {
    start: (person, secretDigest, bounds, replaces) =>
      answered(start(database, person, secretDigest, { bounds, replaces })),
    use: (tenantId, secretDigest, idleMs) => answered(use(database, tenantId, secretDigest, idleMs)),
    end: (tenantId, secretDigest) =>
      answered(database.flight([ended(tenantId, secretDigest)]).then(() => undefined)),
    endAll: (tenantId, principalId) =>
      answered(
        database
          .flight([
            sql`delete from console_sessions where tenant_id = ${tenantId} and principal_id = ${principalId}`,
          ])
          .then(([rows]) => rows?.rowCount ?? 0),
      ),
  };
}

function ended(tenantId: TenantId, secretDigest: string): Query {
  return sql`delete from console_sessions where tenant_id = ${tenantId} and secret_digest = ${secretDigest}`;
}

async function start(
  database: Database,
  person: ConsolePerson,
  secretDigest: string,
  { bounds, replaces }: { readonly bounds: ConsoleBounds; readonly replaces: string | undefined },
): Promise<Instant> {
  const { tenantId, principalId, clientId, roles, authenticatedAt, acr } = person;
  const answers = await database.flight([
    sql`delete from console_sessions where tenant_id = ${tenantId} and secret_digest in (
        select secret_digest from console_sessions
        where tenant_id = ${tenantId} and (ends_at < writ_now() or used_at < writ_now() - ${bounds.idleMs}::float8 * interval '1 ms')
        order by ends_at limit ${SWEPT_MAX} for update skip locked)`,
    ...(replaces === undefined ? [] : [ended(tenantId, replaces)]),
    sql`delete from console_sessions where tenant_id = ${tenantId} and secret_digest in (
        select secret_digest from console_sessions where tenant_id = ${tenantId} and principal_id = ${principalId}
        order by started_at desc offset ${bounds.eachMax - 1})`,
    sql`insert into console_sessions
        (tenant_id, secret_digest, principal_id, client_id, roles, authenticated_at, acr, started_at, used_at, ends_at)
      select ${tenantId}, ${secretDigest}, ${principalId}, ${clientId}, ${JSON.stringify(roles)}::jsonb,
        writ_at(${authenticatedAt ?? null}::bigint), ${acr ?? null}, now, now, now + ${bounds.lifeMs}::float8 * interval '1 ms'
      from (select writ_clock() as now) as clock returning writ_ms(ends_at) as ends_at`,
  ]);
  const [row] = (answers.at(-1)?.rows ?? []) as readonly { ends_at: Instant }[]; // The one returned column.
  return row?.ends_at ?? 0;
}

async function use(
  database: Database,
  tenantId: TenantId,
  secretDigest: string,
  idleMs: number,
): Promise<ConsolePerson | undefined> {
  const { rows } = await database.readWithin<Row>(
    tenantId,
    sql`
    select principal_id, client_id, roles, writ_ms(authenticated_at) as authenticated_at, acr,
      used_at < writ_now() - ${TOUCH_MS}::float8 * interval '1 ms' as touch
    from console_sessions
    where tenant_id = ${tenantId} and secret_digest = ${secretDigest}
      and ends_at > writ_now() and used_at > writ_now() - ${idleMs}::float8 * interval '1 ms'`,
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  if (row.touch) {
    await database.flight([
      sql`update console_sessions set used_at = writ_clock()
          where tenant_id = ${tenantId} and secret_digest = ${secretDigest} and ends_at > writ_clock()`,
    ]);
  }
  return {
    tenantId,
    principalId: row.principal_id,
    clientId: row.client_id,
    roles: row.roles,
    ...(row.authenticated_at === null ? {} : { authenticatedAt: row.authenticated_at }),
    ...(row.acr === null ? {} : { acr: row.acr }),
  };
}
