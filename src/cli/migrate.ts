import { EmbeddedUnavailable, start } from "../database/embedded.ts";
import { migrate } from "../database/migrate.ts";
import type { Context } from "./context.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { configurationOf, type LedgerDatabase, ledgerDatabase } from "./ledger-database.ts";

/** `writ migrate`: brings the ledger's database to this version. Twice is once. */
export async function migrateDatabase(context: Context): Promise<ExitCode> {
  const { screen } = context;
  const database = await reachable(context);
  try {
    const applied = await migrate(database.url);
    if (screen.machine(screen.format === "jsonl" ? applied : { applied })) return EXIT.ok;
    for (const name of applied) screen.data(`applied  ${name}`);
    if (applied.length === 0) screen.talk("The database is already at this version.");
    return EXIT.ok;
  } finally {
    await database.close();
  }
}

/** A running embedded server is used as it is; otherwise it runs for this command. */
export async function reachable(context: Context): Promise<LedgerDatabase> {
  const configuration = configurationOf(context);
  if (configuration.database !== undefined) return ledgerDatabase(context, configuration, "attach");
  try {
    const embedded = await start({ folder: context.folder, attach: true });
    return { url: embedded.url, embedded, close: () => embedded.stop() };
  } catch (error) {
    if (!(error instanceof EmbeddedUnavailable)) throw error;
    return ledgerDatabase(context, configuration, "own");
  }
}
