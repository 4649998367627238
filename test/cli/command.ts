import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { discard } from "../../src/database/embedded.ts";
import { placeOf } from "../../src/database/embedded-place.ts";

const WRIT = fileURLToPath(new URL("../../bin/writ.mjs", import.meta.url));

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
}

/** The built command as a process of its own, with an environment that says nothing about Writ, colours or a database. */
export function start(args: readonly string[], { cwd = tmpdir(), env = {} }: RunOptions = {}): ChildProcess {
  const { PATH, HOME } = process.env;
  return spawn(process.execPath, [WRIT, ...args], { cwd, env: { PATH, HOME, ...env } });
}

export function writ(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const child = start(args, options);
  child.stdin?.end(options.input ?? "");
  return ended(child);
}

export function ended(child: ChildProcess): Promise<Ended> {
  const heard = listen(child);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, stdout: heard.stdout, stderr: heard.stderr }));
  });
}

/** What a process has said so far. */
export function listen(child: ChildProcess): { stdout: string; stderr: string } {
  const heard = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      heard[name] += text;
    });
  return heard;
}

/** An empty folder that any user can walk into: as root, PostgreSQL runs as another one. */
export function folder(): string {
  const made = mkdtempSync(join(realpathSync(tmpdir()), "writ-cli-"));
  chmodSync(made, 0o755);
  return made;
}

/** Removes a folder with the database that a killed process left in it. */
export async function removeFolder(made: string): Promise<void> {
  await discard(made);
  for (const each of [placeOf(made).home, made]) rmSync(each, { recursive: true, force: true });
}

/** A `writ dev` that runs, and what it printed. */
export interface RunningDev {
  readonly child: ChildProcess;
  readonly heard: { stdout: string; stderr: string };
  /** The command that it printed, to be pasted. */
  readonly command: string;
}

const READY_WITHIN_MS = 90_000;

export async function startDev(cwd: string, ...flags: readonly string[]): Promise<RunningDev> {
  const child = start(["dev", ...flags], { cwd });
  const heard = listen(child);
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  for (;;) {
    // The pattern that the newcomer's test (scripts/fresh.mjs) looks for.
    const command = heard.stdout.match(/^[ \t]*(curl (?:.*\\\r?\n)*.*)\r?\n/m)?.[1];
    if (command !== undefined) return { child, heard, command };
    if (child.exitCode !== null || Date.now() > giveUpAt)
      throw new Error(`writ dev printed no command: ${heard.stdout}${heard.stderr}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Pastes a command into a shell that knows nothing but where programs are. */
export function paste(command: string): Promise<Ended> {
  const { PATH, HOME } = process.env;
  return ended(spawn("bash", ["-c", command], { cwd: tmpdir(), env: { PATH, HOME } }));
}
