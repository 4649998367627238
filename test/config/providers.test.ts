import { expect, test } from "vitest";
import { load } from "./folder.ts";

function providersOf(text: string, environment: Readonly<Record<string, string>> = {}) {
  return load({ "writ.yaml": `providers:\n${text}` }, environment).providers;
}

test("a git remote has its people, its limits and its credential by reference", () => {
  const { code } = providersOf(
    `  code:
    kind: git
    remote: https://git.acme.example/config.git
    author: { name: Writ, email: writ@acme.example }
    auth: { basic: { user: writ, password: env:TOKEN } }
    branches: [main]
    paths: [config/]
`,
    { TOKEN: "t0ken" },
  );

  expect(code).toMatchObject({
    kind: "git",
    transport: "git",
    settings: {
      remote: "https://git.acme.example/config.git",
      author: { name: "Writ", email: "writ@acme.example" },
      auth: { user: "writ", password: "t0ken" },
      branches: ["main"],
      paths: ["config/"],
      allowFile: false,
    },
  });
});

test("a mail server has its two servers, its sender and its archive", () => {
  const { mail } = providersOf(
    `  mail:
    kind: smtp
    submission: { host: mail.acme.example, port: 465, tls: implicit }
    auth: { basic: { user: writ, password: env:MAIL } }
    from: writ@acme.example
    domain: acme.example
    archive: { address: log@acme.example, host: imap.acme.example, port: 993, user: log, password: env:LOG }
`,
    { MAIL: "one", LOG: "two" },
  );

  expect(mail).toMatchObject({
    kind: "smtp",
    transport: "smtp",
    settings: {
      host: "mail.acme.example",
      port: 465,
      tls: "implicit",
      user: "writ",
      password: "one",
      archiveAddress: "log@acme.example",
      imap: { host: "imap.acme.example", tls: "implicit", password: "two", mailbox: "INBOX" },
    },
  });
});

test("postgres is the ledger's own database, or another one by a reference to its connection string", () => {
  const { own, other } = providersOf(
    "  own: { kind: postgres }\n  other: { kind: postgres, database: env:THERE }\n",
    { THERE: "postgres://writ:secret@db.acme.example/shop" },
  );

  expect(own).toMatchObject({ transport: "postgres-ledger", settings: { database: "ledger" } });
  expect(other).toMatchObject({
    transport: "postgres",
    settings: { url: "postgres://writ:secret@db.acme.example/shop" },
  });
});

test("a broker has its places, its login by reference and no credential in an address", () => {
  const { bus, cache, queue } = providersOf(
    `  bus:
    kind: nats
    url: [tls://a.acme.example, tls://b.acme.example:4333]
    auth: { bearer: env:BUS }
  cache: { kind: redis, url: rediss://cache.acme.example/2, auth: { basic: { user: default, password: env:BUS } } }
  queue:
    kind: rabbitmq
    url: amqps://queue.acme.example/orders
    auth: { basic: { user: writ, password: env:BUS } }
    allowPrivate: [10.0.0.0/8]
    connect: 2s
`,
    { BUS: "the-word" },
  );

  expect(bus).toMatchObject({
    kind: "nats",
    transport: "nats",
    settings: {
      url: ["tls://a.acme.example", "tls://b.acme.example:4333"],
      auth: { bearer: "the-word" },
      allowPrivate: false,
    },
  });
  expect(cache).toMatchObject({
    transport: "redis",
    settings: {
      url: ["rediss://cache.acme.example/2"],
      auth: { basic: { user: "default", password: "the-word" } },
    },
  });
  expect(queue).toMatchObject({
    transport: "rabbitmq",
    settings: { url: ["amqps://queue.acme.example/orders"], allowPrivate: ["10.0.0.0/8"], connectMs: 2_000 },
  });
});

test.each([
  ["kind: nats, url: nats://writ:word@bus.acme.example", "a credential is never written here"],
  ["kind: nats, url: redis://bus.acme.example", "write an address of this kind"],
  ["kind: redis, url: redis://cache.acme.example?db=2", "leave ?… and #… out"],
  ["kind: redis, url: redis://cache.acme.example, auth: { bearer: env:BUS }", "write basic"],
  ["kind: rabbitmq, url: amqp://queue.acme.example", "lets nobody in without"],
  ["kind: nats, url: nats://bus.acme.example, base: https://x.example", 'has no "base"'],
])("a broker with { %s } is refused: %s", (settings, says) => {
  expect(() => providersOf(`  bus: { ${settings} }\n`, { BUS: "the-word" })).toThrow(says);
});

test("tools over a remote, a mail server and another database take their presets", () => {
  const { tools } = load(
    {
      "writ.yaml": `providers:
  code: { kind: git, remote: "git://git.acme.example/x.git", author: { name: Writ, email: writ@acme.example } }
  mail:
    kind: smtp
    submission: { host: mail.acme.example, port: 25, tls: none }
    from: writ@acme.example
    domain: acme.example
    archive: { address: log@acme.example }
  other: { kind: postgres, database: env:THERE }
`,
      "tools/commit.yaml": `tool: code.commit
title: Commit files
provider: code
input: { type: object, required: [branch], properties: { branch: { type: string } } }
resource: { type: Branch, id: "{branch}" }
expectedVersion: required
contract: presets/git/commit
`,
      "tools/send.yaml": `tool: mail.send
title: Send a letter
provider: mail
input: { type: object, required: [to], properties: { to: { type: string } } }
resource: { type: Letter, id: "{to}" }
expectedVersion: none
permissionFor: 30m
contract: presets/smtp/send
`,
      "tools/set.yaml": `tool: shop.set
title: Set what is available
provider: other
input: { type: object, required: [item], properties: { item: { type: string } } }
resource: { type: Item, id: "{item}" }
expectedVersion: required
sql:
  perform: update stock set n = 1 where tenant_id = :tenant and item = :item and version = :expectedVersion
contract: presets/postgres/marker
`,
    },
    { THERE: "postgres://writ:secret@db.acme.example/shop" },
  );

  expect(tools.map(({ name, contract }) => [name, contract.transport])).toEqual([
    ["code.commit", "git"],
    ["mail.send", "smtp"],
    ["shop.set", "postgres"],
  ]);
});
