import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client, DatabaseError } from "pg";
import { initialize, urlOf } from "./embedded-cluster.ts";
import { own } from "./embedded-owner.ts";
import { EmbeddedUnavailable, type Place, placeOf } from "./embedded-place.ts";
import { halt, launch, logTail, type Running, running } from "./embedded-server.ts";

export { EmbeddedOwned } from "./embedded-owner.ts";
export { EmbeddedUnavailable } from "./embedded-place.ts";

/** A real PostgreSQL from npm that lives in a project's folder. */
export interface Embedded {
  /** With the password: for connections, never for a log. */
  readonly url: string;
  /** Whether this process owns the server, and `stop` stops it. */
  readonly owner: boolean;
  readonly how: "started" | "adopted" | "attached";
  readonly pid: number;
  /** The owner stops the server and gives the folder back; for who is attached, nothing happens. Twice is once. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The project; all is kept in its `.writ`. */
  readonly folder: string;
  /** Use the running server of another process, and fail with EmbeddedUnavailable when there is none. */
  readonly attach?: boolean;
  /** Server settings beside ours; a server that is adopted keeps those that it was started with. */
  readonly settings?: Readonly<Record<string, string>>;
}

const DATABASE = "writ";
const POLL_MS = 100;
// The children of a killed server hold its shared memory until they notice; then a new one can start.
const OLD_MEMORY_MAX_MS = 6_000;
const READY_MAX_MS = 30_000;

/**
 * Gives the server of this folder, which is started when none runs and adopted when an earlier owner was killed
 * and left it behind. There is one owner at a time: for a second one it throws EmbeddedOwned with the pid of the
 * first. It listens on the loopback address only, with a random password, and syncs every commit.
 */
export async function start(options: StartOptions): Promise<Embedded> {
  const place = placeOf(options.folder);
  if (options.attach === true) return attach(place);
  const ownership = own(place.home);
  try {
    const { server, how } = await serve(place, options.settings ?? {});
    await createDatabase(place, server);
    let stopping: Promise<void> | undefined;
    const stop = (): Promise<void> => {
      stopping ??= halt(place, server).finally(() => ownership.release());
      return stopping;
    };
    return { url: urlOf(place, server.port, DATABASE), owner: true, how, pid: server.pid, stop };
  } catch (error) {
    ownership.release();
    throw error;
  }
}

/** Stops the server of this folder and removes all its data. Throws EmbeddedOwned while an owner lives. */
export async function discard(folder: string): Promise<void> {
  const place = placeOf(folder);
  const ownership = own(place.home);
  try {
    const server = running(place.data);
    if (server !== undefined) await halt(place, server);
    for (const name of readdirSync(place.home).filter((each) => each.startsWith("postgres")))
      rmSync(join(place.home, name), { recursive: true, force: true });
  } finally {
    ownership.release();
  }
}

async function attach(place: Place): Promise<Embedded> {
  const server = await settled(place);
  if (server === undefined)
    throw new EmbeddedUnavailable(
      `no PostgreSQL server runs in ${place.home}: start Writ there first, or set DATABASE_URL`,
    );
  await createDatabase(place, server);
  const url = urlOf(place, server.port, DATABASE);
  return { url, owner: false, how: "attached", pid: server.pid, stop: () => Promise.resolve() };
}

/** Only the owner comes here, so nobody else starts a server in this folder at this time. */
async function serve(
  place: Place,
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly server: Running; readonly how: "started" | "adopted" }> {
  const left = await settled(place);
  if (left !== undefined) return { server: left, how: "adopted" };
  initialize(place);
  const giveUpAt = performance.now() + OLD_MEMORY_MAX_MS;
  for (;;) {
    const server = await launch(place, settings);
    if (server !== undefined) return { server, how: "started" };
    if (performance.now() > giveUpAt)
      throw new EmbeddedUnavailable(`PostgreSQL does not start in ${place.home}: ${logTail(place)}`);
    await pause(POLL_MS);
  }
}

/** Waits while a server starts, recovers or stops; one that is ready has also proved to be of this folder. */
async function settled(place: Place): Promise<Running | undefined> {
  const giveUpAt = performance.now() + READY_MAX_MS;
  for (;;) {
    const server = running(place.data);
    if (server === undefined) return undefined;
    if (server.ready && (await answers(place, server))) return server;
    if (performance.now() > giveUpAt)
      throw new EmbeddedUnavailable(
        `process ${server.pid} holds ${place.data} and does not answer: ${logTail(place)}`,
      );
    await pause(POLL_MS);
  }
}

async function answers(place: Place, server: Running): Promise<boolean> {
  try {
    const { rows } = await ask<{ data: string }>(
      place,
      server,
      "select current_setting('data_directory') as data",
    );
    return rows[0]?.data === place.data;
  } catch {
    return false;
  }
}

async function createDatabase(place: Place, server: Running): Promise<void> {
  const { rows } = await ask(place, server, `select 1 from pg_database where datname = '${DATABASE}'`);
  if (rows.length > 0) return;
  try {
    await ask(place, server, `create database ${DATABASE}`);
  } catch (error) {
    // Someone who attached made it just now.
    if (!(error instanceof DatabaseError && (error.code === "42P04" || error.code === "23505"))) throw error;
  }
}

async function ask<R extends object>(
  place: Place,
  server: Running,
  text: string,
): Promise<{ readonly rows: R[] }> {
  const client = new Client({
    connectionString: urlOf(place, server.port, "postgres"),
    application_name: "writ start",
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await client.query<R>(text);
  } finally {
    await client.end();
  }
}
