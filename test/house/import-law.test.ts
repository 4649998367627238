import { expect, test } from "vitest";
import { findings, lint } from "./biome.ts";
import { FLOORS } from "./floors.ts";
import { ROOT } from "./tree.ts";

const IMPORTS = "style/noRestrictedImports";
const CYCLES = "suspicious/noImportCycles";

const REFUSED = refused();

test.each(FLOORS)("$file imports what its floor may and nothing else", ({ file, may, mayNot }) => {
  expect(REFUSED.get(file) ?? []).toEqual([...mayNot]);
  expect([...may].filter((name) => mayNot.includes(name))).toEqual([]);
});

test.each([
  'import "../ledger/rows.ts";',
  'import { rowOf } from "../ledger/rows.ts";',
  'import type { Row } from "../ledger/rows.ts";',
  'export { rowOf } from "../ledger/rows.ts";',
  'export type { Row } from "../ledger/rows.ts";',
  'export * from "../ledger/rows.ts";',
  'await import("../ledger/rows.ts");',
  'const { rowOf } = await import("../ledger/rows.ts");',
])("the law holds for: %s", (line) => {
  expect(findings(IMPORTS, { "src/core/ids.ts": `${line}\n` })).toHaveLength(1);
});

test("a circle is refused, also one of types", () => {
  const found = findings(CYCLES, {
    "src/core/a.ts": 'import type { B } from "./b.ts";\nexport type A = { b: B };\n',
    "src/core/b.ts": 'import type { C } from "./c.ts";\nexport type B = { c: C };\n',
    "src/core/c.ts": 'import type { A } from "./a.ts";\nexport type C = { a: A };\n',
    "src/core/d.ts": 'import type { A } from "./a.ts";\nexport type D = { a: A };\n',
  });

  expect(found.map(({ path }) => path).sort()).toEqual(["src/core/a.ts", "src/core/b.ts", "src/core/c.ts"]);
});

test.each([IMPORTS, CYCLES])("the whole tree keeps %s", (rule) => {
  expect(lint(rule, ROOT)).toEqual([]);
});

/** For each floor's file, the names that Biome refuses there, in order. One run for all of them. */
function refused(): Map<string, string[]> {
  const names = new Map(FLOORS.map(({ file, may, mayNot }) => [file, [...may, ...mayNot]]));
  const texts = [...names].map(([file, list]) => [file, list.map((name) => `import "${name}";\n`).join("")]);
  const found = findings(IMPORTS, Object.fromEntries(texts)).sort((one, other) => one.line - other.line);
  const byFile = new Map<string, string[]>();
  for (const { path, line } of found)
    byFile.set(path, [...(byFile.get(path) ?? []), names.get(path)?.[line - 1] ?? "?"]);
  return byFile;
}
