import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { lintContract } from "../../src/core/contract-lint.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { TRANSPORTS } from "../../src/core/transport.ts";
import { BROKEN, lookup, SOUND } from "./broken-contracts.ts";

const lint = (changes: JsonObject) => lintContract(parseContract({ ...SOUND, ...changes }));

test("a sound contract contradicts nothing", () => {
  expect(lint({})).toEqual([]);
});

/** As somebody who also speaks other transports would read it: the rules know only those that are there. */
function parse(written: JsonObject): ReturnType<typeof parseContract> {
  const given = Object.entries(written).filter(([, value]) => value !== undefined);
  return parseContract(Object.fromEntries(given), { ...TRANSPORTS, telegraph: TRANSPORTS.http });
}

describe("a contract that contradicts itself is told what to mend", () => {
  test.each(BROKEN)("%s at %s", (rule, at, changes, says) => {
    const found = lintContract(parse({ ...SOUND, ...changes }));

    expect(found).toContainEqual({ rule, at, says: expect.stringContaining(says) });
  });

  test("in these very words (vitest -u writes the file)", async () => {
    const words = BROKEN.flatMap(([rule, at, changes]) =>
      lintContract(parse({ ...SOUND, ...changes }))
        .filter((found) => found.rule === rule && found.at === at)
        .map(({ says }) => `${rule} ${at}\n  ${says}\n`),
    );

    await expect(words.join("\n")).toMatchFileSnapshot("contract-lint.says.txt");
  });

  test("and every rule that there is has a contract that breaks it", () => {
    const folder = new URL("../../src/core/", import.meta.url);
    const text = [
      "contract-lint",
      "transport-lint",
      "certainty-lint",
      "outcome-shadow",
      "variable-lint",
      "http-message",
    ]
      .map((name) => readFileSync(new URL(`${name}.ts`, folder), "utf8"))
      .join("\n");
    const rules = [...text.matchAll(/(?:finding\(\s*|rule: )"([a-z-]+)"/g)].map(([, rule]) => rule);

    expect([...new Set(rules)].sort()).toEqual(
      [...new Set(BROKEN.map(([rule]) => rule)), "headers-unknown", "shadowed-outcome"].sort(),
    );
  });
});

test("C112 a lookup by an id that only the lost answer had is refused as a lookup", () => {
  const found = lint({
    ...lookup({
      strength: "positive",
      request: { method: "GET", url: "{{base}}/payments/{{args.paymentId}}" },
    }),
    barrier: "none",
  });

  expect(found.map(({ rule }) => rule)).toEqual(["lookup-by-resemblance"]);
});
