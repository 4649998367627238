import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { LAWS, type Law } from "./laws.ts";
import { codeFiles } from "./tree.ts";

const FILES = codeFiles();

describe.each(Object.entries(LAWS))("%s", (_name, law) => {
  test("the whole tree keeps it", () => {
    const complaints = FILES.flatMap(({ path, text }) =>
      law(path, text).map(({ line, what }) => `${path}:${line} ${what}`),
    );

    expect(complaints).toEqual([]);
  });
});

test("the tree that is read is the real one", () => {
  const paths = FILES.map(({ path }) => path);

  expect(paths).toEqual(expect.arrayContaining(["bin/writ.mjs", "test/house/laws.ts", "src/core/digest.ts"]));
});

/** In examples/, each line of NAME.broken.txt is one thing to refuse; no line of NAME.sound.txt is. */
describe.each<[string, Law, string]>([
  ["silenced-test", LAWS.noSilencedTest, "test/a.test.ts"],
  ["escaped-import", LAWS.noEscapedImport, "src/ledger/a.ts"],
  ["impure-core", LAWS.noImpureCore, "src/core/a.ts"],
  ["heavy-client", LAWS.noHeavyClient, "src/client.ts"],
])("%s", (name, law, path) => {
  test.each(example(`${name}.broken`))("refuses: %s", (line) => {
    expect(law(path, `\n${line}\n`)).toContainEqual({ line: 2, what: expect.any(String) });
  });

  test("allows the sound example", () => {
    expect(law(path, example(`${name}.sound`).join("\n"))).toEqual([]);
  });

  test("leaves other places alone", () => {
    expect(law("scripts/a.mjs", example(`${name}.broken`).join("\n"))).toEqual([]);
  });
});

test("a file of 301 lines is refused and one of 300 is not", () => {
  expect(LAWS.noLongFile("src/core/a.ts", "x\n".repeat(301))).toHaveLength(1);
  expect(LAWS.noLongFile("src/core/a.ts", "x\n".repeat(300))).toEqual([]);
});

test.each([
  "src/core/utils.ts",
  "src/core/index.ts",
  "test/helpers/a.ts",
  "bin/common.mjs",
  "src/types.d.ts",
])("the name %s is refused", (path) => {
  expect(LAWS.noEmptyName(path, "")).toHaveLength(1);
});

test.each(["src/index.ts", "src/core/receipt.ts", "src/ledger/typed-rows.ts"])(
  "the name %s is sound",
  (path) => {
    expect(LAWS.noEmptyName(path, "")).toEqual([]);
  },
);

function example(name: string): string[] {
  const text = readFileSync(new URL(`examples/${name}.txt`, import.meta.url), "utf8");
  return text.split("\n").filter((line) => line.trim() !== "");
}
