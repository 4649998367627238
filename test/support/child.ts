import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { onTestFinished } from "vitest";

// Inside node_modules, so that the built file finds its packages.
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/writ-test/", import.meta.url));

/**
 * Runs a module of our sources as a process of its own: one that a test may kill. Gives it together with the
 * first message that it sends. It is killed when the test ends.
 */
export async function runChild<Message>(
  module: URL,
  args: readonly string[],
): Promise<{ readonly child: ChildProcess; readonly message: Message }> {
  const child = fork(await built(fileURLToPath(module)), args, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const [message] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code]) =>
      Promise.reject(new Error(`the child ended with ${code} before its message`)),
    ),
  ])) as [Message];
  return { child, message };
}

/** Kills a process as nothing can prevent, and waits until it is gone. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** Node 20 runs no TypeScript: one file of it and all that it imports of ours. */
async function built(entry: string): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const outDir = mkdtempSync(join(CACHE, "child-"));
  onTestFinished(() => rmSync(outDir, { recursive: true, force: true }));
  await build({
    configFile: false,
    logLevel: "error",
    build: {
      ssr: entry,
      outDir,
      target: "node20",
      minify: false,
      rollupOptions: { output: { format: "es" } },
    },
  });
  return join(outDir, basename(entry).replace(/\.ts$/, ".js"));
}
