import { expect, test } from "vitest";
import { TRANSPORTS } from "../../src/core/transport.ts";
import { mistakeIn, STOCK, WRIT } from "./folder.ts";

const tool = (change: (text: string) => string) => ({ "writ.yaml": WRIT, "tools/stock.yaml": change(STOCK) });
const writ = (text: string) => ({ "writ.yaml": text });

test.each<[string, Readonly<Record<string, string>>, string]>([
  [
    "a misspelt setting",
    writ("listn: 127.0.0.1:1\n"),
    'writ.yaml:1:1: "listn" is not known here; did you mean "listen"?',
  ],
  [
    "an unknown setting",
    writ("\nentirely: 1\n"),
    'writ.yaml:2:1: "entirely" is not known here; database, listen',
  ],
  ["a duplicate", writ("listen: a:1\nlisten: b:2\n"), "writ.yaml:2:1: "],
  ["broken YAML", writ("roles: [\n"), "writ.yaml:"],
  [
    "a tag",
    writ("listen: !!binary aGk=\n"),
    "writ.yaml:1:1: write a text, a number, true, false, a list or members",
  ],
  ["two documents", writ("listen: a:1\n---\nlisten: b:2\n"), "writ.yaml:2:1: "],
  ["__proto__", writ("roles:\n  __proto__: []\n"), "writ.yaml:2:3: this name is refused"],
  [
    "a number beyond 2^53",
    writ("bodyMax: 9007199254740993\n"),
    "writ.yaml:1:1: a number beyond 2^53-1 is not exact",
  ],
  ["an address without a port", writ("listen: localhost\n"), "writ.yaml:1:1: write host:port"],
  ["a port that does not exist", writ("listen: localhost:70000\n"), "writ.yaml:1:1: write host:port"],
  [
    "a body limit out of bounds",
    writ("bodyMax: 5\n"),
    "writ.yaml:1:1: write a whole number from 1024 to 4194304",
  ],
  ["a tenant in capitals", writ("tenants: [Acme]\n"), "writ.yaml:1:11: a tenant's name is"],
  [
    "a secret in the open",
    writ("database: postgres://me:pw@host/db\n"),
    "writ.yaml:1:1: a secret is never written here; write env:NAME or file:/path",
  ],
  [
    "a variable that is not set",
    writ("database: env:NOWHERE\n"),
    "writ.yaml:1:1: the variable NOWHERE is not set",
  ],
  [
    "a file that is not there",
    writ("database: file:/nowhere/at/all\n"),
    "writ.yaml:1:1: /nowhere/at/all cannot be read (ENOENT)",
  ],
  [
    "a provider without a kind",
    writ("providers:\n  shop: {}\n"),
    'writ.yaml:2:3: "kind" is missing: what speaks to it.',
  ],
  [
    "a provider of an unknown kind",
    writ("providers:\n  shop: { kind: soap }\n"),
    "writ.yaml:2:11: write one of postgres, ",
  ],
  [
    "an http provider without a base",
    writ("providers:\n  shop: { kind: http }\n"),
    'writ.yaml:2:3: "base" is missing: scheme, host and path',
  ],
  [
    "a base with a credential",
    writ("providers:\n  shop: { kind: http, base: 'https://u:p@shop' }\n"),
    "writ.yaml:2:23: a credential is never written here",
  ],
  [
    "another kind's setting",
    writ("providers:\n  stock: { kind: postgres, base: 'https://x' }\n"),
    'writ.yaml:2:28: a provider of kind postgres has no "base"',
  ],
  [
    "two credentials",
    writ(
      "providers:\n  s: { kind: http, base: 'https://x', auth: { bearer: env:A, basic: { user: u, password: env:B } } }\n",
    ),
    "writ.yaml:2:39: write exactly one of bearer, header and basic",
  ],
  [
    "a role for a tool that nobody offers",
    writ("roles:\n  agent: [inventory.set]\n"),
    'writ.yaml:2:11: "inventory.set" is not known here; there is none',
  ],
  [
    "an issuer without a tenant",
    writ("issuers:\n  - { issuer: 'https://a', audience: b, keys: file:c }\n"),
    "writ.yaml:2:5: write either tenant or tenantClaim",
  ],
  [
    "a tool without a title",
    tool((text) => text.replace(/title:.*\n/, "")),
    'tools/stock.yaml:1:1: "title" is missing: what it does',
  ],
  [
    "a tool of Writ's own name",
    tool((text) => text.replace("tool: inventory", "tool: writ")),
    "tools/stock.yaml:1:1: names that begin with writ.",
  ],
  [
    "an unknown provider",
    tool((text) => text.replace("provider: stock", "provider: stok")),
    'tools/stock.yaml:3:1: "stok" is not known here; did you mean "stock"?',
  ],
  [
    "a schema that cannot be checked",
    tool((text) => text.replace("minimum: 0", "minimum: low")),
    "tools/stock.yaml:4:1: this is not a JSON Schema",
  ],
  [
    "a taken argument",
    tool((text) =>
      text.replace("    item: { type: string }", "    item: { type: string }\n    intent: { type: string }"),
    ),
    'tools/stock.yaml:11:5: "intent" is what Writ itself takes',
  ],
  [
    "a resource of an unknown argument",
    tool((text) => text.replace("{item}", "{itm}")),
    'tools/stock.yaml:12:25: the input has no argument "itm"',
  ],
  [
    "a resource of an argument that may be missing",
    tool((text) =>
      text.replace("required: [warehouse, item, available]", "required: [warehouse, available]"),
    ),
    'tools/stock.yaml:12:25: "item" names the resource, so the input must require it',
  ],
  [
    "a time without a unit",
    tool((text) => `${text}permissionFor: 5\n`),
    "tools/stock.yaml:16:1: write a number and a unit",
  ],
  [
    "a limit that counts nothing",
    tool((text) => `${text}limits: [{ per: 1h }]\n`),
    "tools/stock.yaml:16:10: write either count, how many operations, or sum with max",
  ],
  [
    "a sum without a maximum",
    tool((text) => `${text}limits: [{ sum: /available, per: 1h }]\n`),
    'tools/stock.yaml:16:10: a sum has its "max" beside it',
  ],
  [
    "a sum of a text",
    tool((text) => `${text}limits: [{ sum: /item, max: 5, per: 1h }]\n`),
    'tools/stock.yaml:16:12: "item" is summed, so it must be of type integer or number',
  ],
  [
    "a limit by nothing known",
    tool((text) => `${text}limits: [{ count: 5, per: 1h, by: [team] }]\n`),
    "tools/stock.yaml:16:36: write one of principal, client, resource",
  ],
  [
    "two limits of one name",
    tool((text) => `${text}limits: [{ count: 5, per: 1h }, { count: 9, per: 1h }]\n`),
    'tools/stock.yaml:16:33: another limit is "operations per 1h" too',
  ],
  [
    "no statements for a table",
    tool((text) => text.replace(/sql:\n.*\n/, "")),
    'tools/stock.yaml:1:1: "sql" is missing',
  ],
  [
    "an unknown preset",
    tool((text) => text.replace("presets/postgres-ledger", "presets/postgres")),
    "tools/stock.yaml:15:1: there is no presets/postgres.yaml, neither in this folder nor among the presets of Writ",
  ],
  [
    "a path out of the folder",
    tool((text) => text.replace("presets/postgres-ledger", "../secrets")),
    "tools/stock.yaml:15:1: write presets/NAME, or a path inside this folder",
  ],
  [
    "a contract's mistake in the tool's file",
    tool((text) =>
      text.replace(
        "contract: presets/postgres-ledger",
        "contract: { from: presets/postgres-ledger, lease: soon }",
      ),
    ),
    "tools/stock.yaml:15:44: write a number and a unit",
  ],
  [
    "a contract that contradicts itself",
    tool((text) =>
      text.replace(
        "contract: presets/postgres-ledger",
        "contract: { from: presets/postgres-ledger, lease: 1s }",
      ),
    ),
    "tools/stock.yaml:15:44: ",
  ],
  [
    "a contract's mistake in its own file",
    {
      ...tool((text) => text.replace("presets/postgres-ledger", "mine")),
      "mine.yaml": "contract: mine/v1\ntransport: carrier\n",
    },
    `mine.yaml:2:1: write one of ${Object.keys(TRANSPORTS).join(", ")}`,
  ],
  [
    "a permission that ends before one request may",
    tool((text) => `${text}permissionFor: 7s\n`),
    "tools/stock.yaml:16:1: a permission must last longer than one request may (the contract's maxPause + requestLife = 7000 ms), or nothing is ever sent",
  ],
  [
    "two arguments in one segment of a resource's name",
    tool((text) => text.replace('"{warehouse}/{item}"', '"{warehouse}:{item}"')),
    'only "/" may stand between two arguments: write {a}/{b}, so that the name has one reading',
  ],
  [
    "a contract for another transport",
    { ...tool((text) => text), "writ.yaml": "providers:\n  stock: { kind: http, base: 'https://x' }\n" },
    "tools/stock.yaml:13:1: a provider of kind http takes no statements",
  ],
  [
    "one name for two tools",
    { ...tool((text) => text), "tools/twice.yaml": STOCK },
    "tools/twice.yaml:1:1: inventory.set_available is already the tool of tools/stock.yaml",
  ],
  [
    "something else among the tools",
    { "writ.yaml": WRIT, "tools/stock.yml": STOCK },
    "tools/stock.yml:1:1: what stands in tools/ is a tool's file and ends in .yaml",
  ],
])("%s is one sentence with its place", (_name, files, sentence) => {
  expect(mistakeIn(files, { A: "a", B: "b" })).toContain(sentence);
});

test("a mistake in a variable is named by the variable", () => {
  expect(mistakeIn({}, { WRIT_LISTEN: "everywhere" })).toBe(
    "WRIT_LISTEN: write host:port, such as 127.0.0.1:7070 or [::1]:7070",
  );
  expect(mistakeIn({}, { WRIT_DATABASE: "mysql://x" })).toBe(
    "WRIT_DATABASE: the connection string must begin with postgres://",
  );
});

test("a contract may only use secrets that its provider has", () => {
  const files = {
    "writ.yaml": "providers:\n  shop: { kind: http, base: 'https://shop.example' }\n",
    "tools/order.yaml": `tool: shop.order
title: Order
provider: shop
input: { type: object, required: [item], properties: { item: { type: string } } }
resource: { type: Product, id: "{item}" }
expectedVersion: none
contract:
  contract: shop.order/v1
  transport: http
  settle: { bounded: 60s }
  request: { method: POST, url: "{{base}}/orders", headers: { X-Key: "{{secret:key}}" } }
  outcomes: [{ when: { status: 201 }, is: effect }]
`,
  };

  expect(mistakeIn(files)).toContain(
    'the contract uses {{secret:key}}, and the provider has no "key" under secrets',
  );
});

test("a private key among an issuer's keys is refused, and not repeated", () => {
  const key = { kty: "OKP", crv: "Ed25519", x: "eA", kid: "one", d: "cHJpdmF0ZQ" };
  const said = mistakeIn({
    "writ.yaml":
      "issuers:\n  - { issuer: 'https://a.example', audience: b, keys: file:keys.json, tenant: acme }\n",
    "keys.json": JSON.stringify({ keys: [key] }),
  });

  expect(said).toContain("the file holds a private key");
  expect(said).not.toContain("cHJpdmF0ZQ");
});

test("an unknown tag is a mistake", () => {
  expect(mistakeIn({ "writ.yaml": "listen: !place here:1\n" })).toMatch(/^writ\.yaml:1:9: Unresolved tag/);
});
