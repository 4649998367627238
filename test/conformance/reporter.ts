import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Reporter } from "vitest/node";
import { holds, type Row } from "./row.ts";
import { CASES } from "./subject.ts";
import { markdownTables, plainTable, sorted } from "./table.ts";

const PAGE = fileURLToPath(new URL("../../docs/conformance.md", import.meta.url));
const BEGIN = "<!-- made by npm run conformance:providers -- --write -->";
const END = "<!-- end -->";

/**
 * The end of `npm run conformance:providers`: the table of results on standard output, as `WRIT_CONFORMANCE` says. `write` puts it into
 * docs/conformance.md, if every row holds.
 */
export function conformanceTable(): Reporter {
  const how = process.env.WRIT_CONFORMANCE ?? "table";
  return {
    onTestRunEnd(modules) {
      const tests = modules.flatMap((module) => [...module.children.allTests()]);
      const rows = sorted(
        tests.flatMap((test): readonly Row[] => {
          const row = test.meta().conformance;
          return row === undefined ? [] : [row];
        }),
        CASES,
      );
      if (how === "json") process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`);
      else process.stdout.write(`\n${plainTable(rows)}\n`);
      const skipped = tests.some((test) => test.result().state === "skipped");
      if (how !== "write") return;
      if (skipped || rows.length === 0 || !rows.every(holds)) {
        process.stderr.write(
          "docs/conformance.md is left as it is: not every server was here, or not every row holds\n",
        );
        process.exitCode = 1;
      } else writePage(rows);
    },
  };
}

function writePage(rows: readonly Row[]): void {
  const page = readFileSync(PAGE, "utf8");
  const [before = ""] = page.split(BEGIN);
  const after = page.split(END)[1] ?? "\n";
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${markdownTables(rows)}\n${END}${after}`);
}
