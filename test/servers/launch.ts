import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { programOf, type Stoppable } from "./server.ts";

// Debian's "nobody": as root a server runs as this user, so that it behaves as it does for everybody else.
const NOBODY = 65534;
// A server answers within a second or two; a machine that is busy with other tests may need many times that.
const START_MS = 60_000;
const STOP_MS = 10_000;
const OUTPUT_MAX = 16_384;

export interface Launch {
  /** A program by its name in PATH (or Debian's sbin), or by its absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Asked again and again until it says yes. A throw is a no. */
  readonly ready: () => Promise<boolean>;
  /** `self` for the few that insist on root's rights when they have them, another user for those that insist on their own. */
  readonly as?: "nobody" | "self" | Owner;
  /** How the server is asked to end; after ten seconds it is killed with all its children. */
  readonly signal?: "SIGTERM" | "SIGINT" | "SIGQUIT";
  /** For the few that need more than a minute when the machine is busy. */
  readonly startMs?: number;
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export interface Launched extends Stoppable {
  /** The end of what it printed. */
  printed(): string;
}

/** Whom we must become, as root, before a server starts. */
function ownerOf(as: Launch["as"]): Owner | undefined {
  if (as === "self" || process.getuid?.() !== 0) return undefined;
  return typeof as === "object" ? as : { uid: NOBODY, gid: NOBODY };
}

/** An empty folder for one server, which `stop` removes. As root it belongs to nobody, who will run the server. */
export function serverFolder(name: string, as?: Launch["as"]): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), `writ-server-${name}-`));
  chmodSync(folder, 0o755);
  own(folder, as);
  return folder;
}

/** Gives a file or folder that we wrote to the user who will run the server. */
export function own(path: string, as?: Launch["as"]): void {
  const owner = ownerOf(as);
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
}

/** Starts a server in the foreground, in a process group of its own, and waits until it is ready. */
export async function launch(launch: Launch): Promise<Launched> {
  const child = spawned(launch);
  let printed = "";
  const hear = (bytes: Buffer): void => {
    printed = (printed + bytes.toString("utf8")).slice(-OUTPUT_MAX);
  };
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  let ended: string | undefined;
  const gone = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      ended = String(error);
      resolve();
    });
    child.once("close", (code, signal) => {
      ended ??= `ended with ${code ?? signal}`;
      resolve();
    });
  });
  const killAtExit = (): void => signalGroup(child, "SIGKILL");
  process.once("exit", killAtExit);
  let stopping: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    signalGroup(child, launch.signal ?? "SIGTERM");
    await Promise.race([gone, pause(STOP_MS, undefined, { ref: false })]);
    // Also when the first process has ended: a child of it may not have.
    signalGroup(child, "SIGKILL");
    await gone;
    process.off("exit", killAtExit);
    rmSync(launch.folder, { recursive: true, force: true });
  };
  const stop = (): Promise<void> => {
    stopping ??= end();
    return stopping;
  };
  const until = Date.now() + (launch.startMs ?? START_MS);
  while (!(await launch.ready().catch(() => false))) {
    if (ended === undefined && Date.now() < until) {
      await pause(50);
      continue;
    }
    await stop();
    throw new Error(`${launch.program} did not start (${ended ?? "no answer in time"}): ${printed}`);
  }
  return { printed: () => printed, stop };
}

function spawned({ program, args, env, folder, as }: Launch): ChildProcess {
  const path = program.startsWith("/") ? program : (programOf(program) ?? program);
  // When a test's process is killed, its servers are told to end too.
  const guard = process.platform === "linux" ? programOf("setpriv") : undefined;
  const [command, ...all] =
    guard === undefined ? [path, ...args] : [guard, "--pdeathsig", "TERM", "--", path, ...args];
  return spawn(command ?? path, all, {
    cwd: folder,
    // Nothing of ours: a server must not find a setting of the machine that tests it.
    env: { PATH: process.env.PATH ?? "", HOME: folder, TMPDIR: folder, LC_ALL: "C.UTF-8", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    ...ownerOf(as),
  });
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/** A port of 127.0.0.1 that nobody listens on at this moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo; // It listens on TCP.
      server.close(() => resolve(port));
    });
  });
}

/** For `ready`: somebody accepts connections there. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** For `ready`: it answers GET with a status below 500. */
export async function answers(url: string): Promise<boolean> {
  const reply = await fetch(url, { signal: AbortSignal.timeout(2_000), redirect: "manual" });
  await reply.arrayBuffer();
  return reply.status < 500;
}
