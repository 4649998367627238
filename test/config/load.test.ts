import { expect, test } from "vitest";
import { loadConfiguration } from "../../src/config.ts";
import { folderOf, load, STOCK, WRIT } from "./folder.ts";

test("an empty folder is a configuration: every setting has its default", () => {
  const configuration = load({});

  expect(configuration).toMatchObject({
    listen: { host: "127.0.0.1", port: 7070 },
    hosts: [],
    origins: [],
    bodyMax: 262_144,
    tenants: ["main"],
    issuers: [],
    roles: {},
    providers: {},
    tools: [],
  });
  expect(configuration).not.toHaveProperty("database");
});

test("a tool gets its contract from the presets of the package and its defaults from the table", () => {
  const [tool] = load({ "writ.yaml": WRIT, "tools/stock.yaml": STOCK }).tools;

  expect(tool).toMatchObject({
    name: "inventory.set_available",
    expectedVersion: "required",
    permissionForMs: 300_000,
    reviewForMs: 86_400_000,
    autonomy: "drilled",
    lookalikes: "principal",
    intentKey: "optional",
    reversible: false,
    contract: { contract: "postgres-ledger/v1", transport: "postgres-ledger" },
  });
});

test("members beside `from` take the place of the preset's, and a file of the folder goes before one of the package", () => {
  const own = STOCK.replace(
    "contract: presets/postgres-ledger",
    "contract: { from: presets/postgres-ledger, requestLife: 3s, attemptsMax: 2 }",
  );
  const overridden = load({ "writ.yaml": WRIT, "tools/stock.yaml": own }).tools[0]?.contract;
  const shadowing = load({
    "writ.yaml": WRIT,
    "tools/stock.yaml": STOCK,
    "presets/postgres-ledger.yaml": "contract: mine/v1\ntransport: postgres-ledger\n",
  }).tools[0]?.contract;

  expect(overridden).toMatchObject({ contract: "postgres-ledger/v1", requestLifeMs: 3_000, attemptsMax: 2 });
  expect(shadowing?.contract).toBe("mine/v1");
});

test("a whole contract may stand in the tool's file, and may name what its provider has", () => {
  const files = {
    "writ.yaml": `roles: {}
providers:
  shop:
    kind: http
    base: https://shop.example
    auth: { header: { name: X-Api-Key, value: env:KEY } }
    secrets: { extra: file:extra.txt }
    writ: { name: acme }
`,
    "extra.txt": "hidden\n",
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
  request:
    method: POST
    url: "{{base}}/orders"
    headers: { X-Extra: "{{secret:extra}}" }
    body: { item: "{{args.item}}", by: "{{writ.name}}" }
  outcomes: [{ when: { status: 201 }, is: effect }]
`,
  };

  const { providers, tools } = load(files, { KEY: "s3cret" });

  expect(providers).toMatchObject({
    shop: {
      kind: "http",
      transport: "http",
      settings: {
        base: "https://shop.example",
        auth: { header: { name: "X-Api-Key", value: "s3cret" } },
        secrets: { extra: "hidden" },
      },
    },
  });
  expect(tools[0]?.contract.contract).toBe("shop.order/v1");
});

test("variables take the place of what the file says", () => {
  const configuration = load(
    { "writ.yaml": "listen: 127.0.0.1:1\n" },
    {
      WRIT_DATABASE: "postgres://here/db",
      WRIT_LISTEN: "[::1]:8080",
      WRIT_HOSTS: "writ.acme.example, localhost:9",
      WRIT_BODY_MAX: "4096",
    },
  );

  expect(configuration).toMatchObject({
    database: "postgres://here/db",
    listen: { host: "::1", port: 8080 },
    hosts: ["writ.acme.example", "localhost:9"],
    bodyMax: 4096,
  });
});

test("an issuer's keys are read, and the tenants are those that issuers name", () => {
  const key = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", kid: "one" };
  const files = {
    "writ.yaml": `issuers:
  - { issuer: https://login.acme.example, audience: https://writ.acme.example, keys: file:acme.json, tenant: acme, rolesClaim: groups }
`,
    "acme.json": JSON.stringify({ keys: [key] }),
  };

  expect(load(files)).toMatchObject({
    tenants: ["acme"],
    issuers: [
      { issuer: "https://login.acme.example", tenant: "acme", rolesClaim: "groups", keys: { keys: [key] } },
    ],
  });
});

test("the example of the first run is a configuration", () => {
  expect(loadConfiguration("examples/first-run", {}).tools.map(({ name }) => name)).toContain(
    "inventory.set_available",
  );
});

test("a secret's last line end is no part of it", () => {
  const configuration = loadConfiguration(
    folderOf({ "writ.yaml": "database: file:url\n", url: "postgres://there/db\n" }),
    {},
  );

  expect(configuration.database).toBe("postgres://there/db");
});
