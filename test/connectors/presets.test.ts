import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { lintContract } from "../../src/core/contract-lint.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import { promise } from "../../src/core/contract-promise.ts";

const FOLDER = new URL("../../presets/", import.meta.url);
const NAMES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".yaml"),
);

test("there are presets for each class of guarantee, and one for the ledger's own database", () => {
  expect(NAMES).toEqual(
    expect.arrayContaining([
      "postgres-ledger.yaml",
      ...["idempotency-key", "etag-document", "marker-lookup", "no-guarantees"].map(
        (name) => `http/${name}.yaml`,
      ),
    ]),
  );
});

test.each(NAMES)(
  "%s is read, contradicts nothing, is named after its file, and says what it promises",
  (name) => {
    const contract = parseContract(parse(readFileSync(new URL(name, FOLDER), "utf8")));

    expect(lintContract(contract)).toEqual([]);
    expect(contract.contract).toMatch(new RegExp(`^${name.replace(".yaml", "")}/v\\d+$`));
    expect(promise(contract).length).toBeGreaterThan(2);
  },
);
