import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

// Only what is written by hand: SQL is read as a whole, and docs/ is partly generated.
const FOLDERS = ["src", "test", "bench", "scripts", "bin", "console", "examples"];
const CODE = /\.(ts|tsx|mts|mjs|js)$/;

export type CodeFile = { readonly path: string; readonly text: string };

/** Every file of code in the repository, with its path from the root written with slashes. */
export function codeFiles(): CodeFile[] {
  const paths = FOLDERS.flatMap((folder) => below(folder)).filter((path) => CODE.test(path));
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}

function below(folder: string): string[] {
  let entries: string[];
  try {
    entries = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
  const paths = entries.map((entry) => `${folder}/${entry.replaceAll("\\", "/")}`);
  return paths.filter((path) => !/(^|\/)(node_modules|dist)\//.test(path)).sort();
}
