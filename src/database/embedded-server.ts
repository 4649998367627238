import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ENVIRONMENT, identity } from "./embedded-cluster.ts";
import { EmbeddedUnavailable, type Place } from "./embedded-place.ts";
import { identityOf, servesFolder } from "./process-identity.ts";

/** The server process of a data folder, from its own postmaster.pid. */
export interface Running {
  readonly pid: number;
  readonly port: number;
  /** It takes connections; else it starts, recovers or stops. */
  readonly ready: boolean;
}

/** The live server of exactly this data folder. What a killed one left in postmaster.pid is not believed. */
export function running(data: string): Running | undefined {
  // pid, folder, start, port, socket folder, address, shared memory, state.
  const lines = pidFile(data);
  const pid = Number(lines[0]);
  if (!(pid > 0) || !servesFolder(pid, data)) return undefined;
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === "ready" };
}

const POLL_MS = 20;
// The fast stop writes a checkpoint; after that long the server is told to leave without one, which is as safe.
const FAST_STOP_MS = 10_000;
const READY_MAX_MS = 30_000;

/** Starts a server process that outlives us. Undefined when it ended before it was ready; the log says why. */
export async function launch(
  place: Place,
  settings: Readonly<Record<string, string>>,
): Promise<Running | undefined> {
  clearStalePid(place.data);
  const port = await choosePort(place);
  const child = spawnServer(place, port, settings);
  let ended = false;
  child.once("exit", () => {
    ended = true;
  });
  child.once("error", () => {
    ended = true;
  });
  const giveUpAt = performance.now() + READY_MAX_MS;
  while (!ended && performance.now() < giveUpAt) {
    const found = running(place.data);
    if (found?.ready === true && found.pid === child.pid) {
      // A file of another user, in a folder of ours, can be replaced and not written.
      rmSync(portFile(place), { force: true });
      writeFileSync(portFile(place), `${found.port}\n`, { flag: "wx" });
      return found;
    }
    await pause(POLL_MS);
  }
  if (!ended) child.kill("SIGQUIT");
  return undefined;
}

/** Resolves when the process is gone. Fast: open transactions are rolled back. */
export async function halt(place: Place, { pid }: Running): Promise<void> {
  for (const signal of ["SIGINT", "SIGQUIT"] as const) {
    if (running(place.data)?.pid !== pid) return;
    sendStop(place, pid, signal);
    const giveUpAt = performance.now() + FAST_STOP_MS;
    while (performance.now() < giveUpAt) {
      if (identityOf(pid) === undefined) return;
      await pause(POLL_MS);
    }
  }
  throw new Error(`PostgreSQL, process ${pid}, does not stop`);
}

/** The last words of the server. */
export function logTail(place: Place): string {
  if (!existsSync(logFile(place))) return "";
  return readFileSync(logFile(place), "utf8").trim().split("\n").slice(-3).join(" | ");
}

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  // For a laptop: little memory, and connections for a server, some workers and the tests beside them.
  shared_buffers: "128MB",
  max_connections: "60",
  timezone: "UTC",
  log_timezone: "UTC",
};

/** In a session of its own, so that Ctrl-C reaches us first and PostgreSQL is still there for our last words. */
function spawnServer(place: Place, port: number, settings: Readonly<Record<string, string>>): ChildProcess {
  const all = Object.entries({ ...SETTINGS, ...settings, port: String(port) });
  const log = openLog(place);
  try {
    const child = spawn(
      join(place.binaries, "bin/postgres"),
      ["-D", place.data, ...all.flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      { ...identity(place), env: ENVIRONMENT, cwd: "/", stdio: ["ignore", log, log], detached: true },
    );
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

/** Windows knows no signals: there pg_ctl speaks to the server. */
function sendStop(place: Place, pid: number, signal: "SIGINT" | "SIGQUIT"): void {
  if (process.platform !== "win32") process.kill(pid, signal);
  else {
    const mode = signal === "SIGINT" ? "fast" : "immediate";
    spawnSync(join(place.binaries, "bin/pg_ctl"), ["stop", "-D", place.data, "-m", mode, "-W"], {
      env: ENVIRONMENT,
    });
  }
}

/**
 * PostgreSQL refuses to start while the pid in its file is anybody's, be it a zombie that no one collects or a
 * stranger. We know that it is no server of this folder. Children of a killed server that still live are found
 * by PostgreSQL itself, for they hold the shared memory whose key is made from the folder.
 */
function clearStalePid(data: string): void {
  if (running(data) === undefined) rmSync(join(data, "postmaster.pid"), { force: true });
}

/** The port of the last time, so that a URL stays good; another one when that is taken. */
async function choosePort(place: Place): Promise<number> {
  const last = existsSync(portFile(place)) ? Number(readFileSync(portFile(place), "utf8")) : 0;
  return (await freePort(Number.isInteger(last) ? last : 0)) ?? (await freePort(0)) ?? 0;
}

function freePort(wanted: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(undefined));
    probe.listen({ host: "127.0.0.1", port: wanted, exclusive: true }, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : undefined));
    });
  });
}

const LOG_MAX_BYTES = 8_000_000;

function openLog(place: Place): number {
  const file = logFile(place);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_MAX_BYTES) renameSync(file, `${file}.old`);
  // We may be root in the folder of another user, who may have put a link there.
  const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_WRONLY } = constants;
  const log = openSync(file, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
  if (place.user !== undefined) fchownSync(log, place.user.uid, place.user.gid);
  return log;
}

function logFile(place: Place): string {
  return join(place.home, "postgres.log");
}

function portFile(place: Place): string {
  return join(place.home, "postgres.port");
}

function pidFile(data: string): readonly string[] {
  try {
    return readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EACCES")
      throw new EmbeddedUnavailable(
        `${data} belongs to another user: start Writ as that one, or set DATABASE_URL`,
      );
    return [];
  }
}
