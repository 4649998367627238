import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Check, fail, ok } from "./check.ts";
import { devFilePath } from "./dev-file.ts";

/** Keys and tokens, which nobody but their owner may read. */
export function fileChecks(folder: string): readonly Check[] {
  // Windows has no such bits; there the folder's own rights decide.
  if (process.platform === "win32") return [];
  const keys = join(folder, ".writ", "keys");
  const files = [...listed(keys).map((name) => join(keys, name)), devFilePath(folder)];
  const open = files.filter((path) => ((modeOf(path) ?? 0) & 0o077) !== 0);
  if (open.length > 0)
    return open.map((path) =>
      fail(
        "keys",
        `others may read ${path}`,
        `chmod 600 ${path}; if others could log in here, remove it and let a new one be made.`,
      ),
    );
  const there = files.filter((path) => modeOf(path) !== undefined);
  return [
    ok(
      "keys",
      there.length === 0 ? "none made here yet" : `${there.length} files that only their owner reads`,
    ),
  ];
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode;
}
