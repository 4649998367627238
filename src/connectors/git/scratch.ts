import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type GitRun, runGit } from "./run.ts";
import { CA_FILE, cloneMaxBytes, environmentOf, type GitSettings } from "./settings.ts";

const PREFIX = "git-";

/** A bare repository for one message: made empty, gone afterwards. Two messages never share one. */
export interface Scratch {
  readonly settings: GitSettings;
  readonly folder: string;
  readonly signal: AbortSignal;
  /** One git process in it. */
  git(argv: readonly string[], more?: GitOptions): Promise<GitRun>;
}

interface GitOptions {
  readonly input?: string | Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
  readonly outputMaxBytes?: number;
}

/** Something that git could not do before anything was sent. Not an answer of the provider. */
export class GitUnable extends Error {
  override readonly name = "GitUnable";
}

/** Makes the repository, works in it, and removes it whatever happened. Throws `GitUnable` when it cannot be made. */
export async function inScratch<Value>(
  settings: GitSettings,
  signal: AbortSignal,
  work: (scratch: Scratch) => Promise<Value>,
): Promise<Value> {
  const home = await homeIn(settings);
  try {
    const scratch = scratchAt(home, settings, signal);
    const argv = ["init", "--quiet", "--bare", "--template=", "--object-format=sha1", scratch.folder];
    done(await scratch.git(argv), "init");
    return await work(scratch);
  } finally {
    // What was learned is worth more than an empty folder: what cannot be removed now stays.
    await rm(home, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

const LEFTOVER_MS = 86_400_000;

/** Removes what a process that was killed left behind. No message lives for a day. */
export async function sweep({ folder }: Pick<GitSettings, "folder">): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(PREFIX))) {
    const home = join(folder, name);
    const made = await stat(home).catch(() => undefined);
    if (made === undefined || Date.now() - made.mtimeMs < LEFTOVER_MS) continue;
    await rm(home, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function homeIn({ folder, ca }: GitSettings): Promise<string> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const home = await mkdtemp(join(folder, PREFIX));
    await mkdir(join(home, "bare.git"));
    if (ca !== undefined) await writeFile(join(home, CA_FILE), ca);
    return home;
  } catch (error) {
    throw new GitUnable(`there is no room for a scratch clone: ${String(error)}`);
  }
}

function scratchAt(home: string, settings: GitSettings, signal: AbortSignal): Scratch {
  const folder = join(home, "bare.git");
  const base = environmentOf(settings, home);
  return {
    settings,
    folder,
    signal,
    git: (argv, { environment, ...more } = {}) =>
      runGit({
        argv,
        cwd: folder,
        environment: { ...base, GIT_DIR: folder, ...environment },
        signal,
        growth: { folder, maxBytes: cloneMaxBytes(settings) },
        ...more,
      }),
  };
}

/** The output of a process that ended well; throws `GitUnable` with its words for any other. */
export function done(run: GitRun, what: string): string {
  if (run.code === 0) return run.stdout.toString("utf8");
  throw new GitUnable(`git ${what}: ${run.stopped ?? wordsOf(run.stderr)}`);
}

/** What git said: its last complaint first stands for all. */
function wordsOf(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const complaint = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines.at(-1);
  return (complaint ?? "it gave no reason").slice(0, 500);
}
