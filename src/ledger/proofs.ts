import type { Instant } from "../core/ids.ts";
import type { Database } from "../database/pool.ts";
import { sql } from "../database/sql.ts";
import type { SpentProofs } from "../service/identity-port.ts";
import { answered } from "./answered.ts";

// More than one row comes with each proof, so that what is too old leaves faster than anything arrives.
const SWEPT_MAX = 4;

/** Two processes with one proof meet at its row: the second insert waits for the first commit, and then changes nothing. */
export function spentProofs(database: Database): SpentProofs {
  return {
    spend: (tenantId, proof, keepMs) =>
      answered(
        (async () => {
          const [, spent] = await database.flight([
            sql`delete from spent_proofs where tenant_id = ${tenantId} and proof in (
                select proof from spent_proofs where tenant_id = ${tenantId} and until < writ_now()
                order by until limit ${SWEPT_MAX} for update skip locked)`,
            sql`with spent as (
                insert into spent_proofs (tenant_id, proof, until)
                values (${tenantId}, ${proof}, writ_clock() + ${keepMs}::float8 * interval '1 ms')
                on conflict do nothing returning proof)
              select exists (select from spent) as fresh, writ_ms(writ_clock()) as clock`,
          ]);
          const [row] = (spent?.rows ?? []) as readonly { fresh: boolean; clock: Instant }[]; // The two selected columns.
          // No row is no permission.
          return row ?? { fresh: false, clock: 0 };
        })(),
      ),
  };
}
