import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** A process runs under this pid, and the system does not say since when. */
export const UNTOLD = "untold";

/**
 * What tells a process from a later one with the same pid: the time of its start. Undefined when none runs; a
 * zombie, which `kill(pid, 0)` still calls alive, does not run.
 */
export function identityOf(pid: number): string | undefined {
  if (existsSync("/proc/self/stat")) return linuxIdentity(pid) ?? (isHidden(pid) ? UNTOLD : undefined);
  if (process.platform === "win32") return exists(pid) ? UNTOLD : undefined;
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-o", "lstart=", "-p", String(pid)], {
    encoding: "utf8",
  });
  const [stat, ...started] = (stdout ?? "").trim().split(/\s+/);
  return stat === undefined || stat === "" || stat.startsWith("Z") ? undefined : started.join(" ");
}

/** Whether this pid is a process that was started for `folder`. On Windows a live pid must do. */
export function servesFolder(pid: number, folder: string): boolean {
  if (identityOf(pid) === undefined) return false;
  if (process.platform === "win32") return true;
  return commandOf(pid).includes(folder);
}

/** The arguments of the process; PostgreSQL's own rewrites its title only in its children. */
function commandOf(pid: number): readonly string[] {
  try {
    if (existsSync("/proc/self/cmdline")) return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
  const { stdout } = spawnSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  const command = (stdout ?? "").trim();
  // Without the zeros between them, the argument behind -D ends where the next one begins.
  const folder = /(?:^| )-D (.*?)(?: -c |$)/.exec(command)?.[1];
  return folder === undefined ? [] : [folder];
}

function linuxIdentity(pid: number): string | undefined {
  try {
    // The second field is the name in parentheses, which may hold anything: what counts stands behind the last one.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state] = fields;
    // Field 22 of proc(5): ticks from the boot to the start.
    return state === "Z" || state === "X" ? undefined : `${bootId()} ${fields[19]}`;
  } catch {
    return undefined;
  }
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

/** Alive, but of another user on a system that hides such processes. */
function isHidden(pid: number): boolean {
  return !existsSync(`/proc/${pid}`) && exists(pid);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
