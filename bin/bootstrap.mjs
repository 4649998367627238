// Plain Node, no dependencies: makes node_modules and dist when they are missing or stale, and is silent
// and quick when they are not. Run by `npm start`, `npm test` and the rest instead of npm's own hooks,
// because npm skips hooks without a word under ignore-scripts=true.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { locked } from "./lock.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const at = (...path) => join(ROOT, ...path);

// Slow disks and slow networks fit; a hung registry does not hold a terminal for ever.
const INSTALL_TIMEOUT_MS = 900_000;
const BUILD_TIMEOUT_MS = 300_000;
const OUTPUT_LINES_MAX = 40;

/** When this returns, node_modules and dist are those of the files on disk. Otherwise it ends the process. */
export function bootstrap({ rebuild = false } = {}) {
  needNode(20, 19);
  if (!rebuild && installed() && built()) return;
  try {
    locked(at(".writ"), () => {
      // Another start may have done the work while this one waited.
      if (!installed()) install();
      if (rebuild || !built()) build();
    });
  } catch (error) {
    if (!["EACCES", "EPERM", "EROFS"].includes(error.code)) throw error;
    stop(`cannot write ${error.path ?? ROOT}. Run it as the owner of this folder, or in a copy of your own.`);
  }
}

function needNode(major, minor) {
  const [haveMajor, haveMinor] = process.versions.node.split(".").map(Number);
  if (haveMajor > major || (haveMajor === major && haveMinor >= minor)) return;
  stop(`needs Node ${major}.${minor} or later; this is ${process.version}.`);
}

const LOCKFILE = at("package-lock.json");
// npm's own record of what it put into node_modules.
const RECORD = at("node_modules", ".package-lock.json");
const PACKAGES_STAMP = at("node_modules", ".writ-stamp");

/** Binaries differ by platform, so a folder shared between two of them is installed again. */
function packagesStamp() {
  return digest({ files: [LOCKFILE, RECORD], salt: `${process.platform} ${process.arch}` });
}

function installed() {
  const stamp = packagesStamp();
  if (read(PACKAGES_STAMP) === stamp) return true;
  if (!recordAgrees()) return false;
  keep(PACKAGES_STAMP, stamp);
  return true;
}

/** Whoever ran npm by hand is not made to wait for it again, if what they installed is what the lockfile says. */
function recordAgrees() {
  const record = packagesIn(RECORD);
  const wanted = packagesIn(LOCKFILE);
  if (record === undefined || wanted === undefined) return false;
  for (const path of Object.keys(record)) if (wanted[path]?.version !== record[path].version) return false;
  return Object.keys(wanted).every((path) => path === "" || path in record || !belongsHere(wanted[path]));
}

/** An optional package may be absent, unless it names this platform: then the install was a partial one. */
function belongsHere({ optional, os, cpu, libc }) {
  if (!optional) return true;
  return Boolean(os?.includes(process.platform) && cpu?.includes(process.arch) && libc === undefined);
}

function install() {
  const [command, first] = npm();
  // --include: NODE_ENV=production and omit=dev would leave out the compiler that the next phase needs.
  const args = [...first, "ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund"];
  const advice = "check the network and npm's registry setting, and that package-lock.json is as committed";
  run({ phase: "installing packages", command, args, timeoutMs: INSTALL_TIMEOUT_MS, advice });
  keep(PACKAGES_STAMP, packagesStamp());
}

/** The npm that runs us, or the one on the PATH. Yarn and pnpm set npm_execpath too, to themselves. */
function npm() {
  const script = (process.env.npm_execpath ?? "").replace(/npx-cli\.js$/, "npm-cli.js");
  if (/npm-cli\.js$/.test(script) && existsSync(script)) return [process.execPath, [script]];
  return ["npm", []];
}

/** The stamp lies inside dist, so the two are swapped as one. */
function buildStamp() {
  const settings = ["tsconfig.json", "tsconfig.build.json", "package.json"].map((name) => at(name));
  return digest({ files: [...filesIn(at("src")), ...settings], salt: packagesStamp() });
}

function built() {
  return read(at("dist", ".stamp")) === buildStamp();
}

function build() {
  // Left by a start that was killed half-way; under the lock nobody else uses them.
  for (const name of readdirSync(ROOT)) if (/^dist\.(next|old)-\d+$/.test(name)) remove(at(name));
  const stamp = buildStamp();
  const next = at(`dist.next-${process.pid}`);
  const tsc = at("node_modules", "typescript", "bin", "tsc");
  const args = [tsc, "-p", "tsconfig.build.json", "--outDir", next];
  const advice = "correct the sources; dist is as it was before";
  run({ phase: "building", command: process.execPath, args, timeoutMs: BUILD_TIMEOUT_MS, advice });
  writeFileSync(join(next, ".stamp"), stamp);
  swap(next, at("dist"));
}

/** Two renames: a reader finds the old dist or the new one, never a half-written file. */
function swap(next, dist) {
  const old = at(`dist.old-${process.pid}`);
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(next, dist);
  remove(old);
}

function run({ phase, command, args, timeoutMs, advice }) {
  const start = Date.now();
  process.stderr.write(`writ: ${phase} ... `);
  const result = spawnSync(command, args, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    // On Windows npm is a .cmd file, which only a shell can start.
    shell: process.platform === "win32" && command === "npm",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
  });
  const time = `${((Date.now() - start) / 1000).toFixed(1)} s`;
  if (result.status === 0) return process.stderr.write(`${time}\n`);
  const lines = `${result.stdout ?? ""}${result.stderr ?? ""}`.trimEnd().split("\n");
  const cause = result.error?.code ?? result.signal ?? `exit ${result.status}`;
  process.stderr.write(`${cause} after ${time}\n${lines.slice(-OUTPUT_LINES_MAX).join("\n")}\n`);
  stop(`${phase} did not succeed: ${advice}. The command was: ${[command, ...args].join(" ")}`);
}

function stop(sentence) {
  process.stderr.write(`writ: ${sentence}\n`);
  process.exit(1);
}

function digest({ files, salt }) {
  const hash = createHash("sha256").update(salt);
  for (const file of files) hash.update(`\0${file.slice(ROOT.length)}\0`).update(read(file) ?? "");
  return hash.digest("hex");
}

function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath ?? entry.path, entry.name)).sort();
}

function packagesIn(file) {
  try {
    return JSON.parse(read(file) ?? "{}").packages;
  } catch {
    return undefined;
  }
}

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** A stamp only saves work: where the folder belongs to somebody else, doing without one is right. */
function keep(file, stamp) {
  try {
    writeFileSync(file, stamp);
  } catch (error) {
    if (!["EACCES", "EPERM", "EROFS"].includes(error.code)) throw error;
  }
}

function remove(path) {
  rmSync(path, { recursive: true, force: true });
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  bootstrap({ rebuild: process.argv.includes("--rebuild") });
}
