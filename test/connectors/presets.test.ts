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

test("docs/presets.md tells what each promises, in the words of `writ contract explain` (vitest -u writes it)", async () => {
  const told = [...NAMES].sort().map((name) => {
    const text = readFileSync(new URL(name, FOLDER), "utf8");
    const lines = text.split("\n");
    const head = lines.slice(
      0,
      lines.findIndex((line) => !line.startsWith("#")),
    );
    const about = head
      .map((line) => line.slice(2))
      .filter((line) => !/^(contracts\.json|not relied on):/.test(line));
    const sentences = promise(parseContract(parse(text))).map((sentence) => `- ${sentence}`);
    return `## presets/${name.replace(".yaml", "")}\n\n${about.join("\n")}\n\n${sentences.join("\n")}\n`;
  });
  const page = `<!-- Made from presets/; test/connectors/presets.test.ts holds the two together. -->
# Presets

Contracts that are ready to use by name: \`contract: presets/http/etcd\`, or \`{ from: presets/http/etcd, … }\` with members that take the
place of its own. Each rests on what was read or measured of real providers, and on nothing that could not be verified. [contracts.md](contracts.md)
tells how one is written.

${told.join("\n")}`;

  await expect(page).toMatchFileSnapshot("../../docs/presets.md");
});
