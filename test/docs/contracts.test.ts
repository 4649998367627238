import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { lintContract } from "../../src/core/contract-lint.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import { contractSchema } from "../../src/core/contract-schema.ts";
import type { JsonObject } from "../../src/core/json.ts";

const PAGE = readFileSync(new URL("../../docs/contracts.md", import.meta.url), "utf8");
const EXAMPLES = [...PAGE.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);

describe("docs/contracts.md", () => {
  test.each(EXAMPLES.map((text) => [text.split("\n")[0], text]))("%s contradicts nothing", (_, text) => {
    expect(lintContract(parseContract(parse(text)))).toEqual([]);
  });

  test("tells of every member and every choice", () => {
    const { allOf: _, ...schema } = contractSchema();
    const silent = [...new Set(wordsOf(schema))].filter((word) => !PAGE.includes(word));

    expect(silent.filter((word) => !TRANSPORTS_OF_OTHERS.includes(word))).toEqual([]);
  });
});

/** Each has a page of its own. */
const TRANSPORTS_OF_OTHERS = (
  contractSchema().properties as { readonly transport: { readonly enum: readonly string[] } }
).transport.enum.filter((name) => name !== "http");

/** The names of members, and the choices. */
function wordsOf(form: JsonObject): readonly string[] {
  const members = Object.entries((form.properties ?? {}) as Readonly<Record<string, JsonObject>>);
  const inner = [
    ...members.map(([, member]) => member),
    ...((form.anyOf ?? []) as readonly JsonObject[]),
    ...(form.items === undefined ? [] : [form.items as JsonObject]),
  ];
  return [
    ...members.map(([name]) => name),
    ...((form.enum ?? []) as readonly string[]),
    ...inner.flatMap(wordsOf),
  ];
}
