import pg from "pg";
import { freshDatabase } from "../support/database.ts";
import type { RealServer, Stoppable } from "./server.ts";

export interface PostgresServer extends Stoppable {
  /** Of a database that is not the ledger's. */
  readonly url: string;
  /** As its owner would. */
  run(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
}

/** A database of its own on the PostgreSQL server of this run. */
export const postgres: RealServer<PostgresServer> = {
  name: "PostgreSQL",
  installed: () => undefined,
  start: async () => {
    const { url, drop } = await freshDatabase();
    const pool = new pg.Pool({ connectionString: url, max: 4 });
    // Dropping the database ends what is still connected.
    pool.on("error", () => undefined);
    let stopping: Promise<void> | undefined;
    return {
      url,
      run: async (text, values = []) => (await pool.query(text, [...values])).rows,
      stop: () => {
        stopping ??= pool.end().then(drop);
        return stopping;
      },
    };
  },
};
