import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REASONS } from "../../src/core/answer.ts";
import { PROBLEMS } from "../../src/core/problem.ts";

const page = readFileSync(new URL("../../docs/states.md", import.meta.url), "utf8");
const schema = readFileSync(new URL("../../migrations/0001_ledger.sql", import.meta.url), "utf8");

/** The first cell of each row of the page's nth table, where it is code. */
function rows(part: string): readonly string[] {
  return [...part.matchAll(/^\| `([a-z_]+)` \|/gm)].map((row) => row[1] ?? "");
}

/** The words that a check of the schema allows in a column. */
function allowed(column: string): readonly string[] {
  const list =
    new RegExp(`${column} text (?:not null )?check \\(${column} in \\(([^)]*)\\)`).exec(schema)?.[1] ?? "";
  return [...list.matchAll(/'([a-z_]+)'/g)].map((word) => word[1] ?? "");
}

const [states = "", reasons = ""] = page.split("## Reasons for `rejected`");

test("the page, the schema and the code know the same states", () => {
  const known = rows(states);

  expect(known).toEqual(["proposed", "authorized", "executing", "succeeded", "rejected", "unknown"]);
  expect(new Set(allowed("state"))).toEqual(new Set(known));
});

test("the page, the schema, the answers and the problems know the same reasons", () => {
  const known = rows(reasons);

  expect(known).toEqual(Object.keys(REASONS));
  expect(new Set(allowed("reason"))).toEqual(new Set(known));
  for (const reason of known) expect(PROBLEMS).toHaveProperty(reason);
});

test("a page that forgot a state would be noticed", () => {
  expect(rows(states.replace("| `unknown` |", "| unknown |"))).not.toContain("unknown");
});
