import { MARKER_TABLE } from "../core/marker-message.ts";
import { connect, type Database } from "../database/pool.ts";
import { sql } from "../database/sql.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** Whether a PostgreSQL that is not the ledger's has the table that markers are kept in. Nothing is written there. */
export async function markerCheck(name: string, url: string): Promise<Check> {
  let database: Database | undefined;
  try {
    database = await connect({ url, applicationName: "writ doctor", readersMax: 1, writersMax: 1 });
    const { rows } = await database.read<{ there: boolean }>(
      sql`select to_regclass('writ_operations') is not null as there`,
    );
    return rows[0]?.there === true
      ? ok("provider", `${name} answers, and has its table writ_operations`)
      : fail(
          "provider",
          `${name} has no table writ_operations, so nothing can be done there`,
          `Its owner makes it once: ${MARKER_TABLE.replaceAll(/\s+/g, " ")}`,
        );
  } catch (error) {
    return warn(
      "provider",
      `${name} does not answer: ${error instanceof Error ? error.message : String(error)}`,
      "What is proposed there waits and is sent when it answers again, while its permission lasts.",
    );
  } finally {
    await database?.close();
  }
}
