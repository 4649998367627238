import type { Database } from "../database/pool.ts";
import { statement } from "../database/sql.ts";

const ROWS_MAX = 1_000;

/**
 * A guard's row is only there for two transactions to meet on: whoever comes when there is none makes it. One that is locked is in use
 * and stays; one that somebody waits for is locked too.
 */
const GUARDS = `with idle as (
    select tenant_id, scope, effect_digest from effect_guards order by tenant_id, scope, effect_digest limit $1 for update skip locked)
  delete from effect_guards g using idle i
  where g.tenant_id = i.tenant_id and g.scope = i.scope and g.effect_digest = i.effect_digest`;

const ROOMS = `with idle as (
    select tenant_id, room from limit_rooms order by tenant_id, room limit $1 for update skip locked)
  delete from limit_rooms l using idle i where l.tenant_id = i.tenant_id and l.room = i.room`;

/** Forgets rows that nobody needs any more, at most so many; true while there may be more. */
export async function tidy(database: Database): Promise<boolean> {
  const [guards, rooms] = await database.flight([
    statement(GUARDS, [ROWS_MAX]),
    statement(ROOMS, [ROWS_MAX]),
  ]);
  return guards?.rowCount === ROWS_MAX || rooms?.rowCount === ROWS_MAX;
}
