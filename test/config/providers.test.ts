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
