import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

interface Covered {
  readonly case: string;
  /** A file, and what the name of its test holds: the case's id, or its own words. */
  readonly tests: readonly { readonly file: string; readonly names: string }[];
  /** What of the case is not tested yet, and which work it belongs to. */
  readonly later?: string;
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const COVERAGE: Readonly<Record<string, Readonly<Record<string, Covered>>>> = JSON.parse(
  readFileSync(new URL("coverage.json", import.meta.url), "utf8"),
);
const ENTRIES = Object.values(COVERAGE).flatMap((cases) => Object.entries(cases));

/** Every field case, by kind of fault, and every attack: real incidents and known ways in. Numbers are stable. */
const CASES: Readonly<Record<string, string>> = {
  K1: "C001 C002 C003 C004 C005 C006 C007 C009 C010 C011 C012 C013",
  K2: "C014 C015 C016 C017 C018 C020 C021 C022 C023 C024",
  K3: "C025 C026 C027 C028 C031 C032 C033 C034",
  K4: "C035 C036 C037 C039 C040",
  K5: "C041 C042 C043 C045 C046 C047 C048 C049",
  K6: "C050 C051 C052 C054 C055 C056",
  K7: "C057 C058 C061 C062 C064 C065 C066 C067 C068 C069 C070",
  K8: "C071 C072",
  K9: "C074 C075 C076 C077 C078 C079 C080 C081 C083 C084",
  K10: "C086 C087 C088 C089 C090",
  K11: "C092 C093 C094 C095 C097 C098 C099 C101 C102",
  K12: "C103 C104 C106 C107 C108 C109",
  K13: "C110 C111 C112 C113 C115 C116 C117 C118 C119",
  K14: "C120 C122",
  K15: "C124 C125 C126",
  K16: "C127 C129 C130 C131 C132 C133 C134",
  K17: "C135 C136 C137 C138 C139 C141 C142",
  K18: "C143 C145",
  K19: "C146 C148 C149",
  K20: "C150 C151 C152 C153",
  attacks:
    "A01 A02 A03 A04 A05 A06 A07 A08 A09 A10 A11 A12 A13 A14 A15 A16 A17 A18 A19 A20 A21 A22 A23 A24 A25 A26 A27 A28 A29 A30 A31 A32 A33 A34 A35 A36 A37 A38 A39 A40 A41 A42 A43 A44 A45",
};

/** All texts of a file, its tests' names among them; what stands in comments is no test. */
function textsIn(file: string): string {
  const code = readFileSync(join(ROOT, file), "utf8").replace(/^\s*(\/\/|\/?\*).*$|\s\/\/\s.*$/gm, "");
  return [...code.matchAll(/"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g)].map(([text]) => text).join("\n");
}

describe("the field cases", () => {
  test("are all accounted for, each under its kind", () => {
    const listed = Object.fromEntries(
      Object.entries(COVERAGE).map(([kind, cases]) => [kind, Object.keys(cases).join(" ")]),
    );

    expect(listed).toEqual(CASES);
  });

  test.each(ENTRIES)("%s has a test, or the name of the work that brings it", (_id, { tests, later }) => {
    expect(tests.length > 0 || later !== undefined).toBe(true);
  });

  test.each(ENTRIES)("%s: the tests that are named exist", (id, { tests }) => {
    for (const { file, names } of tests) {
      expect({ id, file, exists: existsSync(join(ROOT, file)) }).toEqual({ id, file, exists: true });
      const held = textsIn(file).includes(names);
      expect({ id, file, names, held }).toEqual({ id, file, names, held: true });
    }
  });

  test("are named here wherever a test names them", () => {
    const missing = testFiles().flatMap((file) => {
      const ids = new Set([...textsIn(file).matchAll(/\b(?:C[01]\d\d|A\d\d)(?=[ ,:])/g)].map(([id]) => id));
      return ENTRIES.filter(
        ([id, { tests }]) => ids.has(id) && !tests.some((known) => known.file === file),
      ).map(([id]) => `${id} in ${file}`);
    });

    expect(missing).toEqual([]);
  });
});

function testFiles(): readonly string[] {
  return readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts") && !name.endsWith("coverage.test.ts"))
    .map((name) => `test/${name}`);
}
