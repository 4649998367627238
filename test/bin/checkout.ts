import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CARRIED = [
  "bin",
  "package.json",
  "package-lock.json",
  ".npmrc",
  "tsconfig.json",
  "tsconfig.build.json",
];

export type Ended = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/** A checkout in a folder of its own, whose only source is a command that prints its arguments. */
export class Checkout {
  readonly root: string;

  constructor(packages: "borrowed" | "none") {
    this.root = mkdtempSync(join(tmpdir(), "writ-checkout-"));
    for (const name of CARRIED) cpSync(join(ROOT, name), this.at(name), { recursive: true });
    this.write("src/cli/main.ts", 'console.log("writ", process.argv.slice(2).join(" "));\n');
    if (packages === "borrowed") symlinkSync(join(ROOT, "node_modules"), this.at("node_modules"));
  }

  at(...path: string[]): string {
    return join(this.root, ...path);
  }

  write(path: string, text: string): void {
    mkdirSync(join(this.at(path), ".."), { recursive: true });
    writeFileSync(this.at(path), text);
  }

  /** Runs `bin/<script>` as a process of its own and gives what it said when it has ended. */
  async run(script: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const options = { cwd: tmpdir(), env: { ...process.env, ...env }, timeout: 300_000 };
    return ended(spawn(process.execPath, [this.at("bin", script), ...args], options));
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

function ended(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, stdout, stderr }));
  });
}
