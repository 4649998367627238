import { spawn } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** How one git process ended. */
export interface GitRun {
  /** Null when it was stopped, or never began. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** Why we stopped it, or why it never began. */
  readonly stopped?: string;
}

export interface GitCall {
  /** Fixed words and checked values: there is no shell, and nothing here is read as an option unless we wrote it. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly signal: AbortSignal;
  readonly outputMaxBytes?: number;
  /** A bare repository that may not grow beyond this while the process runs. */
  readonly growth?: { readonly folder: string; readonly maxBytes: number };
}

const OUTPUT_MAX_BYTES = 4 * 1024 * 1024;
const STDERR_MAX_BYTES = 64 * 1024;
const GROWTH_EVERY_MS = 250;

/** Runs git once, with its helpers in one process group: what is stopped is stopped whole. Never rejects. */
export function runGit(call: GitCall): Promise<GitRun> {
  return new Promise((resolve) => {
    if (call.signal.aborted) return resolve(notBegun("its time was over before it began"));
    const child = spawn("git", [...call.argv], {
      cwd: call.cwd,
      env: { ...call.environment },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      shell: false,
    });
    const out = kept(call.outputMaxBytes ?? OUTPUT_MAX_BYTES);
    const err = kept(STDERR_MAX_BYTES);
    let stopped: string | undefined;
    const stop = (why: string): void => {
      stopped ??= why;
      if (child.pid !== undefined) killGroup(child.pid);
    };
    const abort = (): void => stop("its time was over");
    const watch = call.growth === undefined ? undefined : watchGrowth(call.growth, stop);
    call.signal.addEventListener("abort", abort, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      if (!out.keep(chunk)) stop("it answered more than is read");
    });
    child.stderr.on("data", (chunk: Buffer) => void err.keep(chunk));
    const end = (run: GitRun): void => {
      clearInterval(watch);
      call.signal.removeEventListener("abort", abort);
      resolve(run);
    };
    child.once("error", (error) => end(notBegun(`git cannot be run: ${error.message}`)));
    child.once("close", (code) =>
      end({
        code: stopped === undefined ? code : null,
        stdout: out.bytes(),
        stderr: err.bytes().toString("utf8"),
        ...(stopped === undefined ? {} : { stopped }),
      }),
    );
    // A process that ended early has closed its input: how it ended says more than that.
    child.stdin.on("error", () => undefined);
    child.stdin.end(call.input ?? "");
  });
}

function notBegun(why: string): GitRun {
  return { code: null, stdout: Buffer.alloc(0), stderr: "", stopped: why };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // It ended by itself at this moment.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

interface Kept {
  /** False once there is more than may be kept; the rest is dropped. */
  keep(chunk: Buffer): boolean;
  bytes(): Buffer;
}

function kept(maxBytes: number): Kept {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    keep: (chunk) => {
      if (size >= maxBytes) return false;
      chunks.push(chunk.subarray(0, maxBytes - size));
      size += chunk.length;
      return size <= maxBytes;
    },
    bytes: () => Buffer.concat(chunks),
  };
}

/** What a server sends is bounded by nothing else: git itself takes a pack of any size. */
function watchGrowth(
  { folder, maxBytes }: { readonly folder: string; readonly maxBytes: number },
  stop: (why: string) => void,
): NodeJS.Timeout {
  return setInterval(() => {
    void packsOf(folder).then((bytes) => {
      if (bytes > maxBytes) stop(`the server sent more than ${maxBytes} bytes`);
    });
  }, GROWTH_EVERY_MS);
}

async function packsOf(folder: string): Promise<number> {
  const packs = join(folder, "objects", "pack");
  const names = await readdir(packs).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(packs, name)).then(
        (found) => found.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
