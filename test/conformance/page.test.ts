import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CASES } from "./subject.ts";

const HERE = new URL("./", import.meta.url);
const PAGE = readFileSync(new URL("../../docs/conformance.md", HERE), "utf8");
const [, results = ""] = PAGE.split("## Results");
const rows = results
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (case|---) /.test(line))
  .map((line) =>
    line
      .split("|")
      .map((cell) => cell.trim())
      .slice(1, -1),
  );

describe("docs/conformance.md", () => {
  test("shows known cases only, and in every row was seen what was claimed", () => {
    expect(rows.length).toBeGreaterThan(0);
    for (const [name = "", claimed = "", seen = ""] of rows) {
      expect(CASES).toContain(name);
      expect(seen.replace(/ \([a-z_]+\)/, "")).toBe(claimed);
    }
  });

  test("shows no duplicate, and no effect of what was rejected", () => {
    for (const [, , seen = ""] of rows) {
      expect(seen).toMatch(/^(succeeded|rejected( \([a-z_]+\))?|unknown), [01] effects?(, a person)?$/);
      if (seen.startsWith("rejected")) expect(seen).toContain(" 0 effects");
      if (seen.startsWith("succeeded")) expect(seen).toContain(" 1 effect");
    }
  });

  test("shows every contract of the suite; npm run conformance:providers -- --write mends it", () => {
    const files = readdirSync(HERE).filter((file) => file.endsWith(".test.ts") && file !== "page.test.ts");
    for (const file of files) {
      const source = readFileSync(new URL(file, HERE), "utf8");
      for (const [, name = ""] of source.matchAll(/^ {2}name: "([^"]+)",$/gm))
        expect(results, `${file} has a contract "${name}"`).toContain(`: ${name}\n`);
    }
  });
});
