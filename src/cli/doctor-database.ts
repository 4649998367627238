import type { Configuration } from "../config.ts";
import { EmbeddedUnavailable, start } from "../database/embedded.ts";
import { MigrationMismatch, pending } from "../database/migrate.ts";
import { connect, type Database } from "../database/pool.ts";
import { type ServerFacts, serverFacts } from "../database/server.ts";
import { sql } from "../database/sql.ts";
import { type Check, fail, ok, warn } from "./check.ts";
import type { Context } from "./context.ts";

const VERSION_LEAST = 150_000;

/** What the ledger's promises rest on, as the server itself says it. */
export async function databaseChecks(
  { folder }: Context,
  { database: configured }: Configuration,
): Promise<readonly Check[]> {
  const url = configured ?? (await embeddedUrl(folder));
  if (url === undefined)
    return [
      warn(
        "database",
        "the embedded PostgreSQL of this folder does not run, so it cannot be asked",
        "Start `writ dev` or `writ serve` here, and ask again.",
      ),
    ];
  let database: Database;
  try {
    database = await connect({ url, applicationName: "writ doctor", readersMax: 1, writersMax: 1 });
  } catch (error) {
    return [
      fail(
        "database",
        `it does not answer: ${wordsOf(error)}`,
        "Start it, or correct `database` in writ.yaml or WRIT_DATABASE.",
      ),
    ];
  }
  try {
    const facts = await serverFacts(database);
    return [
      ...serverChecks(facts),
      ...durabilityChecks(facts),
      ...standbyChecks(facts),
      await migrationCheck(database),
      await clockCheck(database),
    ];
  } finally {
    await database.close();
  }
}

async function embeddedUrl(folder: string): Promise<string | undefined> {
  try {
    return (await start({ folder, attach: true })).url;
  } catch (error) {
    if (error instanceof EmbeddedUnavailable) return undefined;
    throw error;
  }
}

function serverChecks({
  versionNum,
  inRecovery,
  maxConnections,
  dataChecksums,
}: ServerFacts): readonly Check[] {
  const version = `PostgreSQL ${Math.floor(versionNum / 10_000)}.${versionNum % 10_000}`;
  return [
    versionNum >= VERSION_LEAST
      ? ok("database", `${version}, ${maxConnections} connections`)
      : fail("database", `${version} is too old`, "Use PostgreSQL 15 or later."),
    ...(inRecovery
      ? [
          fail(
            "primary",
            "this server is a standby and takes no writes",
            "Name the primary: the ledger is read and written there only.",
          ),
        ]
      : []),
    ...(dataChecksums
      ? []
      : [
          warn(
            "checksums",
            "damaged pages of this server are not noticed",
            "pg_checksums --enable, while it is stopped.",
          ),
        ]),
  ];
}

/** Without these an acknowledged commit may be lost in a crash, and what was authorized may be sent again. */
export function durabilityChecks({
  fsync,
  fullPageWrites,
  synchronousCommit,
}: ServerFacts): readonly Check[] {
  const off = [
    ...(fsync ? [] : ["fsync"]),
    ...(fullPageWrites ? [] : ["full_page_writes"]),
    ...(synchronousCommit === "off" ? ["synchronous_commit"] : []),
  ];
  return off.length === 0
    ? [ok("durability", `fsync, full_page_writes, synchronous_commit = ${synchronousCommit}`)]
    : off.map((setting) =>
        fail(
          "durability",
          `${setting} is off: a commit that was acknowledged can be lost in a crash`,
          `Set ${setting} = on in postgresql.conf, and reload.`,
        ),
      );
}

/** A standby that may lack acknowledged commits must not take over as if nothing had happened. */
export function standbyChecks({ standbys, synchronousStandbyNames }: ServerFacts): readonly Check[] {
  if (synchronousStandbyNames !== "") return [ok("standbys", `commits wait for ${synchronousStandbyNames}`)];
  if (standbys.length === 0) return [ok("standbys", "none; after a restore from a backup, start halted")];
  const names = standbys.map(({ name }) => name).join(", ");
  return [
    warn(
      "standbys",
      `${names} may lack acknowledged commits when one takes over`,
      "Set synchronous_standby_names; else, after a promotion, halt first: what was authorized before the gap counts as possibly sent.",
    ),
  ];
}

async function migrationCheck(database: Database): Promise<Check> {
  try {
    const missing = await pending(database);
    return missing.length === 0
      ? ok("migrations", "all applied")
      : fail("migrations", `missing: ${missing.join(", ")}`, "Run `writ migrate`.");
  } catch (error) {
    if (!(error instanceof MigrationMismatch)) throw error;
    return fail(
      "migrations",
      error.message,
      "Run the version of Writ that made this database, or restore the file.",
    );
  }
}

const SKEW_WARN_MS = 1_000;
/** Tokens are judged by this process's clock, permissions by the database's: they must not be far apart. */
const SKEW_FAIL_MS = 5_000;

async function clockCheck(database: Database): Promise<Check> {
  // The first question opens the connection, which takes longer than an answer.
  await database.read(sql`select 1`);
  const before = Date.now();
  const { rows } = await database.read<{ at: number }>(
    sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as at`,
  );
  const after = Date.now();
  return clockVerdict((rows[0]?.at ?? Number.NaN) - (before + after) / 2, (after - before) / 2);
}

export function clockVerdict(aheadMs: number, errorMs: number): Check {
  const size = Math.max(0, Math.abs(aheadMs) - errorMs);
  const text = `this machine and the database differ by ${Math.round(Math.abs(aheadMs))} ms, give or take ${Math.ceil(errorMs)}`;
  if (size < SKEW_WARN_MS) return ok("clocks", text);
  const mend = "Let both keep time (NTP).";
  return size < SKEW_FAIL_MS ? warn("clocks", text, mend) : fail("clocks", text, mend);
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
