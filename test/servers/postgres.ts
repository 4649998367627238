import pg from "pg";
import { freshDatabase } from "../support/database.ts";
import type { RealServer, Stoppable } from "./server.ts";

type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;

export interface PostgresServer extends Stoppable {
  /** Of a database that is not the ledger's. */
  readonly url: string;
  /** As its owner would. */
  readonly run: Run;
  /** A connection on which somebody else's transaction stays open. */
  hold(): Promise<{ readonly run: Run; release(): Promise<void> }>;
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
      hold: async () => {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        return {
          run: async (text, values = []) => (await client.query(text, [...values])).rows,
          release: () => client.end(),
        };
      },
      stop: () => {
        stopping ??= pool.end().then(drop);
        return stopping;
      },
    };
  },
};
