import type { Instant } from "../core/ids.ts";
import type { Database } from "../database/pool.ts";
import { sql } from "../database/sql.ts";
import type { IdentityStore } from "../service/identity-port.ts";
import { answered } from "./answered.ts";
import { consoleSessions } from "./console-sessions.ts";
import { spentProofs } from "./proofs.ts";

/** What identity keeps, on PostgreSQL. */
export function identityStore(database: Database): IdentityStore {
  return {
    proofs: spentProofs(database),
    consoles: consoleSessions(database),
    now: () =>
      answered(
        database
          .read<{ now: Instant }>(sql`select writ_ms(writ_clock()) as now`)
          .then(({ rows }) => rows[0]?.now ?? 0),
      ),
  };
}
