// `npm run check`: what a tool can check, in order, one line each. The first that fails shows what it said.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const STEP_TIMEOUT_MS = 300_000;

const packed = mkdtempSync(join(tmpdir(), "writ-check-"));
try {
  const tarball = join(packed, `${packageOf(".").name}-${packageOf(".").version}.tgz`);
  step("biome", tool("@biomejs/biome", "biome"), "ci", "--error-on-warnings", "--colors=off", ".");
  step("types", tool("typescript", "tsc"), "-p", "tsconfig.json");
  step("knip", tool("knip"), "--no-progress");
  step("house", tool("vitest"), "run", "--mode", "house");
  step("pack", npm(), "pack", "--ignore-scripts", "--pack-destination", packed);
  step("publint", tool("publint"), "run", "--strict", tarball);
  step("attw", tool("@arethetypeswrong/cli", "attw"), "--profile", "esm-only", "--no-emoji", tarball);
} finally {
  rmSync(packed, { recursive: true, force: true });
}

function step(name, [command, ...first], ...args) {
  if (process.exitCode) return;
  const start = Date.now();
  const result = spawnSync(command, [...first, ...args], {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined },
    maxBuffer: 2 ** 26,
    timeout: STEP_TIMEOUT_MS,
  });
  const time = `${((Date.now() - start) / 1000).toFixed(1)} s`;
  const good = result.status === 0;
  console.log(`${good ? "ok  " : "FAIL"}  ${name.padEnd(8)} ${time.padStart(7)}`);
  if (good) return;
  console.log(`${result.stdout ?? ""}${result.stderr ?? ""}${result.error ?? ""}`.trimEnd());
  process.exitCode = 1;
}

/** A tool's own script, run by this Node: the links in node_modules/.bin differ between systems. */
function tool(name, command = name) {
  const { bin } = packageOf(join("node_modules", name));
  return [process.execPath, join(ROOT, "node_modules", name, typeof bin === "string" ? bin : bin[command])];
}

function npm() {
  const script = process.env.npm_execpath ?? "";
  return /npm-cli\.js$/.test(script) ? [process.execPath, script] : ["npm"];
}

function packageOf(folder) {
  return JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
}
