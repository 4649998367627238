// One at a time in a folder: a lock file that names its owner, so that the next one can tell a live owner
// from a dead one.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

const WAIT_MAX_MS = 900_000;
const POLL_MS = 100;
// A lock is created and then filled; an empty one that stays so was left by a process that died between.
const FILL_MAX_MS = 5_000;

/** Runs `work` while no other process does, and gives the lock back whatever happens, exit included. */
export function locked(folder, work) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "bootstrap.lock");
  acquire(file);
  const release = () => rmSync(file, { force: true });
  process.once("exit", release);
  try {
    return work();
  } finally {
    release();
    process.off("exit", release);
  }
}

function acquire(file) {
  const giveUpAt = Date.now() + WAIT_MAX_MS;
  let told = false;
  while (!created(file)) {
    const seen = read(file);
    if (seen === undefined) continue;
    if (abandoned(file, seen)) {
      takeAway(file, seen);
      continue;
    }
    if (!told) process.stderr.write(`writ: waiting for ${owner(seen)}; if there is none, delete ${file}\n`);
    told = true;
    if (Date.now() > giveUpAt) throw new Error(`${file} was held for ${WAIT_MAX_MS / 60_000} minutes`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
}

function created(file) {
  try {
    writeFileSync(file, JSON.stringify({ pid: process.pid, host: hostname() }), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** Only a pid of this host can be asked for: a lock of another host is waited for. */
function abandoned(file, seen) {
  const { pid, host } = parse(seen);
  if (pid === undefined)
    return Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > FILL_MAX_MS;
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // EPERM is the answer of a live process of another user.
    return error.code === "ESRCH";
  }
}

/** Two may find the same dead owner. A rename has one winner; who moved a fresh lock by mistake puts it back. */
function takeAway(file, seen) {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (read(aside) !== seen) linkSync(aside, file);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  }
  rmSync(aside, { force: true });
}

function owner(seen) {
  const { pid, host } = parse(seen);
  return pid === undefined
    ? "another start in this folder"
    : `the start in this folder of process ${pid} on ${host}`;
}

function parse(seen) {
  try {
    return JSON.parse(seen) ?? {};
  } catch {
    return {};
  }
}

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
