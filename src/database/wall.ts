import type { Answer, Connection } from "./connection.ts";
import { COMMIT } from "./flight.ts";
import { type Prepared, prepare } from "./parameter.ts";
import { sql } from "./sql.ts";

const BEGIN: Prepared = { name: "", text: "begin isolation level read committed read only", values: [] };

/**
 * One query as the role that row-level security binds, for one tenant: role and tenant end with the transaction, so no later query of
 * the connection inherits them. Sent in one piece. Where the role or its rules are missing the query is refused, not answered.
 */
export async function walled(connection: Connection, tenantId: string, query: Prepared): Promise<Answer> {
  const within = prepare(
    sql`select set_config('role', 'writ_reader', true), set_config('writ.tenant', ${tenantId}, true)`,
  );
  const sent = connection.together(() => [
    connection.ask(BEGIN),
    connection.ask(within),
    connection.ask(query),
    connection.ask(COMMIT),
  ]);
  const [begin, wall, answer] = await Promise.all(sent);
  if (begin?.kind !== "done" && begin !== undefined) return begin;
  if (wall?.kind !== "done" && wall !== undefined) return wall;
  return answer as Answer; // The third of four questions.
}
