import { join } from "node:path";
import { compose } from "../compose.ts";
import { migrate, pending } from "../database/migrate.ts";
import { connect } from "../database/pool.ts";
import { jsonLog } from "../telemetry/log.ts";
import type { Context } from "./context.ts";
import { EXIT, type ExitCode, Stop } from "./exit.ts";
import { configurationOf, ledgerDatabase } from "./ledger-database.ts";
import { ends } from "./signals.ts";

const CLOSE_WITHIN_MS = 10_000;

/** `writ serve`: the HTTP door and a worker, until somebody ends it. */
export async function serve(context: Context): Promise<ExitCode> {
  return running(context, "own", async ({ listen, startWorker, ports }) => {
    const { url } = await listen();
    startWorker();
    ports.log.info("listening", { url });
  });
}

/** `writ worker`: executes what is due and reconciles what is in doubt, until somebody ends it. */
export async function worker(context: Context): Promise<ExitCode> {
  return running(context, "attach", async ({ startWorker, ports }) => {
    startWorker();
    ports.log.info("working", { worker: ports.worker });
  });
}

async function running(
  context: Context,
  how: "own" | "attach",
  begin: (writ: Awaited<ReturnType<typeof compose>>) => Promise<void>,
): Promise<ExitCode> {
  const configuration = configurationOf(context);
  const opened = ends();
  try {
    const database = await opened.opened(ledgerDatabase(context, configuration, how), (each) => each.close());
    // Nobody else can migrate a server that begins with us; anybody's own is migrated when its operator says so.
    if (how === "own" && database.embedded !== undefined) await migrate(database.url);
    await refuseUnmigrated(database.url);
    const log = jsonLog("info");
    const home = join(context.folder, ".writ");
    if (configuration.issuers.length === 0)
      log.warn("no issuer", { says: "the configuration names no issuer: nobody can come in" });
    const writ = await opened.opened(
      // A folder that was not applied serves nobody: what is in force is changed by `writ apply`, not by a restart.
      compose({ configuration, databaseUrl: database.url, home, log, configurationIs: "followed" }),
      (each) => each.close(CLOSE_WITHIN_MS),
    );
    await begin(writ);
    await opened.signalled;
    log.info("stopping", {});
    return EXIT.ok;
  } finally {
    await opened.close();
  }
}

/** A database of an earlier version is not written to. */
export async function refuseUnmigrated(url: string): Promise<void> {
  const database = await connect({ url, applicationName: "writ", readersMax: 1, writersMax: 1 });
  try {
    const missing = await pending(database);
    if (missing.length > 0)
      throw new Stop(EXIT.error, `the database lacks ${missing.join(", ")}`, "Run `writ migrate` first.");
  } finally {
    await database.close();
  }
}
