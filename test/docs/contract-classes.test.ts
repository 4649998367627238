import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Classed {
  readonly class: string;
  /** Why it is not what its facts alone would make it, or why it cannot be expressed. */
  readonly why?: string;
}
interface Facts {
  readonly verified: boolean;
  readonly dedup: string;
  readonly retentionS: number | null;
  readonly unverified: readonly string[];
}

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const CLASSES: Readonly<Record<string, Classed>> = JSON.parse(read("docs/contract-classes.json"));
const ROWS: Readonly<Record<string, Facts>> = JSON.parse(read("test/connectors/contract-rows.json"));

/** What each class can promise, in the order of strength. */
const SAYS = {
  marker: "A marker is written with the effect, in one step. A lost answer is cleared by itself, for ever.",
  "created-once": 'It is made under a name of the operation\'s. A repeat is safe for ever: "taken" means us.',
  "key-forever": "The key is remembered for ever. A repeat is safe at any time.",
  "key-closed":
    "The key is remembered for a time, and refused afterwards. A repeat is safe; an old one settles nothing.",
  key: "The key is remembered for a known time and executes again afterwards. A repeat is safe inside it; then a lookup or a person.",
  "version-or-created-once":
    "Written under a version, or created once under a name of the operation's. A repeat is safe for the second; for the first where `writ probe` measured that the condition is atomic, and versions never return.",
  "subject-once":
    'It can happen only once for its subject, but "done already" may be somebody else\'s doing. A lookup tells whose, or a person.',
  "key-seen": 'The key is remembered before the effect. "Seen" proves nothing; a lookup or a person.',
  "key-unknown":
    "A key is sent, but how long it is remembered is not known. No repeat; a lookup or a person.",
  version:
    "A condition, and nothing that names us. Nobody else's change is overwritten; a lost answer is a lookup's or a person's.",
  upsert: "An absolute write under a name. A repeat could overwrite what came after; a lookup or a person.",
  "one-send":
    "Nothing recognizes a repeat. At most one request is sent that is not proved absent; a lookup or a person.",
  "not-expressible": "No contract can say it, or no connector can send it.",
} as const;

const ORDER = Object.keys(SAYS);

test("every row has a class, and every class is one that is explained", () => {
  expect(Object.keys(CLASSES).sort()).toEqual(Object.keys(ROWS).sort());
  expect(Object.keys(CLASSES)).toHaveLength(97);
  expect(Object.values(CLASSES).filter(({ class: name }) => !ORDER.includes(name))).toEqual([]);
});

test("what cannot be expressed, and what is less or more than its facts say, has a reason", () => {
  const odd = Object.entries(CLASSES).filter(([id, { class: name, why }]) => {
    const row = ROWS[id];
    return why === undefined && row !== undefined && !expected(row).includes(name);
  });

  expect(odd).toEqual([]);
});

/** The classes that the facts alone allow. */
function expected({ verified, dedup, retentionS, unverified }: Facts): readonly string[] {
  const unknown = retentionS === null || unverified.some((fact) => /retention|window/.test(fact));
  if (!verified) return [];
  switch (dedup) {
    case "txn_marker":
      return ["marker"];
    case "key":
    case "window":
      return unknown ? ["key-unknown"] : retentionS === -1 ? ["key-forever"] : ["key", "key-closed"];
    case "natural_key":
    case "client_id":
      return retentionS === null
        ? ["key-unknown"]
        : ["created-once", "subject-once", "version-or-created-once"];
    case "upsert":
      return ["upsert"];
    default:
      return ["one-send", "version"];
  }
}

test("docs/contract-classes.md is made from them (vitest -u writes it)", async () => {
  const ids = Object.entries(CLASSES).sort(
    ([one, { class: left }], [other, { class: right }]) =>
      ORDER.indexOf(left) - ORDER.indexOf(right) || (one < other ? -1 : 1),
  );
  const table = ids.map(([id, { class: name, why = "" }]) => `| \`${id}\` | ${name} | ${why} |`);
  const page = `<!-- Made from docs/contract-classes.json; test/docs/contract-classes.test.ts holds the two together. -->
# What real providers can promise

${ids.length} operations of real providers, as they were read or measured in 2026, each with the strongest class of contract that its
verified facts carry. What is not verified is not relied on. A class says what a contract in it can promise; [contracts.md](contracts.md)
says how one is written.

| class | what it can promise | operations |
| --- | --- | --- |
${ORDER.map((name) => `| ${name} | ${SAYS[name as keyof typeof SAYS]} | ${ids.filter(([, row]) => row.class === name).length} |`).join("\n")}

| operation | class | reason |
| --- | --- | --- |
${table.join("\n")}
`;

  await expect(page).toMatchFileSnapshot("../../docs/contract-classes.md");
});
