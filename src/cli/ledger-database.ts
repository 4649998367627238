import type { Configuration } from "../config.ts";
import { loadConfiguration } from "../config.ts";
import { type Embedded, EmbeddedOwned, EmbeddedUnavailable, start } from "../database/embedded.ts";
import type { Context } from "./context.ts";
import { EXIT, Stop } from "./exit.ts";

/** The ledger's database for one command: the one that is configured, else the embedded one of this folder. */
export interface LedgerDatabase {
  readonly url: string;
  readonly embedded?: Embedded;
  close(): Promise<void>;
}

/** This folder's configuration. */
export function configurationOf({ folder, env }: Context): Configuration {
  return loadConfiguration(folder, env);
}

/** `own`: start the embedded server when none runs, and stop it again. `attach`: use the one that runs. */
export async function ledgerDatabase(
  { folder }: Context,
  { database }: Pick<Configuration, "database">,
  how: "own" | "attach",
): Promise<LedgerDatabase> {
  if (database !== undefined) return { url: database, close: async () => undefined };
  const embedded = await embeddedIn(folder, how);
  return { url: embedded.url, embedded, close: () => embedded.stop() };
}

/** Every way in which there is no server is one sentence. */
export async function embeddedIn(folder: string, how: "own" | "attach"): Promise<Embedded> {
  try {
    return await start({ folder, attach: how === "attach" });
  } catch (error) {
    if (error instanceof EmbeddedOwned)
      throw new Stop(
        EXIT.error,
        `another Writ runs in this folder, as process ${error.pid}: stop that one first, or use another folder`,
      );
    if (error instanceof EmbeddedUnavailable) throw new Stop(EXIT.error, error.message);
    throw error;
  }
}
