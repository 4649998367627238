import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "./tree.ts";

const BIOME = fileURLToPath(import.meta.resolve("@biomejs/biome/bin/biome"));

type Finding = { readonly path: string; readonly line: number; readonly message: string };

/** What one rule of the repository's own biome.json says of these files, put into an otherwise empty tree. */
export function findings(rule: string, files: Readonly<Record<string, string>>): Finding[] {
  const root = mkdtempSync(join(tmpdir(), "writ-house-"));
  try {
    const { $schema, vcs, ...settings } = JSON.parse(readFileSync(join(ROOT, "biome.json"), "utf8"));
    for (const [path, text] of Object.entries({ ...files, "biome.json": JSON.stringify(settings) })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return lint(rule, root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** What one rule says of the tree that stands in `root`. */
export function lint(rule: string, root: string): Finding[] {
  const args = [BIOME, "lint", `--only=${rule}`, "--reporter=json", "--max-diagnostics=none", "."];
  const run = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", timeout: 60_000 });
  if (!run.stdout.startsWith("{")) throw new Error(`biome did not answer: ${run.stdout}${run.stderr}`);
  const { diagnostics, summary } = JSON.parse(run.stdout) as Answer;
  if (summary.diagnosticsNotPrinted > 0) throw new Error("biome kept diagnostics to itself");
  const ours = diagnostics.filter(({ category }) => category === `lint/${rule}`);
  return ours.map(({ location, message }) => ({ path: location.path, line: location.start.line, message }));
}

type Answer = {
  summary: { diagnosticsNotPrinted: number };
  diagnostics: { category: string; message: string; location: { path: string; start: { line: number } } }[];
};
