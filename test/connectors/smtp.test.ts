import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test as plain } from "vitest";
import { letterBytes } from "../../src/connectors/smtp/letter.ts";
import { SMTP, type SmtpSettings } from "../../src/connectors/smtp.ts";
import { operationIdOf } from "../../src/core/ids.ts";
import { eximDovecot, type MailServer } from "../servers/exim-dovecot.ts";
import { needs } from "../support/needs.ts";
import { selfSigned } from "./certificate.ts";
import { errandOf, preset } from "./errand.ts";
import { closeAfter } from "./rig.ts";

const test = needs(eximDovecot);
const CONTRACT = preset("smtp/send", { requestLife: "20s", maxPause: "1s", lease: "25s" });

let server: MailServer | undefined;
let sent = 0;
beforeAll(async () => {
  if (eximDovecot.installed() === undefined) server = await eximDovecot.start();
}, 120_000);
afterAll(async () => {
  await server?.stop();
});

function settingsOf(changes: Partial<SmtpSettings> = {}): SmtpSettings {
  const { smtpPort = 1, imapPort = 1, password = "" } = server ?? {};
  return {
    host: "127.0.0.1",
    port: smtpPort,
    tls: "none",
    from: "writ@example.test",
    archiveAddress: "archive@example.test",
    domain: "writ.example.test",
    imap: { host: "127.0.0.1", port: imapPort, tls: "none", user: "archive", password, mailbox: "INBOX" },
    ...changes,
  };
}

function connectorTo(changes: Partial<SmtpSettings> = {}) {
  const connector = SMTP.connect(settingsOf(changes));
  closeAfter(() => connector.close());
  return connector;
}

/** Every letter of this file is another operation, unless it says which. */
function writing(args: Record<string, unknown> = {}, choices: Parameters<typeof errandOf>[1] = {}) {
  sent += 1;
  return errandOf(CONTRACT, {
    operation: sent,
    ...choices,
    arguments: { to: "ann@example.test", subject: "News", text: "It has changed.\n", ...args } as never, // JSON.
  });
}

function delivered(mailbox: "ann" | "archive", operation: string): number {
  const letters = server?.letters(mailbox) ?? [];
  return letters.filter((letter) => letter.includes(`X-Writ-Operation: ${operation}`)).length;
}

async function arrives(operation: string, times = 1): Promise<void> {
  const both = () => [delivered("ann", operation), delivered("archive", operation)];
  await expect.poll(both, { timeout: 15_000 }).toEqual([times, times]);
}

describe("a letter", () => {
  test("goes to one addressee and the archive, says which operation it is, and is found by that", async () => {
    const errand = writing({ subject: "Grüße", text: "one\n.\n..two\nthree €\n" });
    const { operationId } = errand.action;
    const connector = connectorTo();

    expect(await connector.perform(errand)).toMatchObject({ kind: "confirmed" });
    await arrives(operationId);

    const letter = server?.letters("ann").find((one) => one.includes(operationId)) ?? "";
    expect(letter).toContain(`Message-ID: <${operationId}@writ.example.test>`);
    expect(letter).toContain(`X-Writ-Digest: ${errand.digest}`);
    expect(letter).toContain("Date: Thu, 01 Jan 2026 00:00:00 +0000");
    const body = letter.replaceAll("\r\n", "\n").split("\n\n")[1] ?? "";
    expect(Buffer.from(body, "base64").toString("utf8")).toBe("one\r\n.\r\n..two\r\nthree €\r\n");
    expect(await connector.lookUp(errand, "archive")).toMatchObject({
      kind: "confirmed",
      evidence: { data: { copies: 1 } },
    });
  });

  test("that is sent twice is delivered twice: the server recognizes nothing, as the contract says", async () => {
    const errand = writing();
    const connector = connectorTo();

    await connector.perform(errand);
    await connector.perform(errand);

    await arrives(errand.action.operationId, 2);
    expect(CONTRACT.identity).toEqual({ kind: "none" });
    expect(await connector.lookUp(errand, "archive")).toMatchObject({ evidence: { data: { copies: 2 } } });
  });

  test("of another operation, or with another digest under our name, is not ours", async () => {
    const errand = writing();
    const connector = connectorTo();
    await connector.perform(errand);
    await arrives(errand.action.operationId);

    expect(await connector.lookUp(writing(), "archive")).toEqual({ kind: "absent" });
    expect(
      await connector.lookUp({ ...errand, digest: `sha-256:${"x".repeat(43)}` }, "archive"),
    ).toMatchObject({
      kind: "conflict",
    });
  });

  test("cannot be looked for where nobody may read: that is unclear, never absent", async () => {
    const { imap } = settingsOf();
    const wrong = connectorTo({ ...(imap === undefined ? {} : { imap: { ...imap, password: "wrong" } }) });
    const { imap: _none, ...without } = settingsOf();

    expect(await wrong.lookUp(writing(), "archive")).toMatchObject({ kind: "unclear" });
    expect(await SMTP.connect(without).lookUp(writing(), "archive")).toMatchObject({ kind: "unclear" });
  });
});

describe("a no of the server's", () => {
  test.each([
    ["a full mailbox", { to: "full@example.test" }, "refused"],
    ["nobody of that name", { to: "nobody@example.test" }, "refused"],
    ["a mailbox that is busy", { to: "later@example.test" }, "absent"],
    ["the letter itself, after the dot", { subject: "refuse me" }, "refused"],
    ["the letter itself, for now, after the dot", { subject: "not now" }, "absent"],
  ] as const)("%s: nobody gets it, not even the archive", async (_name, args, kind) => {
    const errand = writing(args);

    expect(await connectorTo().perform(errand)).toMatchObject({ kind });
    expect(server?.waiting()).toBe(0);
    expect(delivered("archive", errand.action.operationId)).toBe(0);
  });

  test("to the archive's copy keeps the letter from its addressee too", async () => {
    const errand = writing();

    expect(await connectorTo({ archiveAddress: "full@example.test" }).perform(errand)).toMatchObject({
      kind: "absent",
    });
    expect(delivered("ann", errand.action.operationId)).toBe(0);
  });

  test("a gate that closes before the dot leaves no letter", async () => {
    let asked = 0;
    const errand = writing({}, { gate: () => ++asked < 2 });

    expect(await connectorTo().perform(errand)).toMatchObject({ kind: "absent" });
    expect(asked).toBe(2);
    expect(server?.waiting()).toBe(0);
    expect(delivered("ann", errand.action.operationId)).toBe(0);
  });
});

/** A server that says what it is told to, and keeps what it heard. */
async function scripted(answer: (heard: string, socket: Socket) => string | undefined) {
  let connections = 0;
  const listening = createServer((socket) => {
    connections += 1;
    let heard = "";
    socket.on("error", () => undefined);
    socket.write("220 scripted\r\n");
    socket.on("data", (bytes) => {
      heard += bytes.toString("latin1");
      const said = answer(heard, socket);
      if (said === undefined) return;
      heard = "";
      socket.write(said);
    });
  });
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  onTestFinished(() => void listening.close());
  return { port: (listening.address() as AddressInfo).port, connections: () => connections };
}

describe("silence", () => {
  const talk =
    (last: (heard: string, socket: Socket) => string | undefined) => (heard: string, socket: Socket) => {
      if (/^(EHLO|MAIL|RCPT).*\r\n$/.test(heard)) return "250 yes\r\n";
      if (heard === "DATA\r\n") return "354 go on\r\n";
      return last(heard, socket);
    };

  plain("before the dot is an absence", async () => {
    const { port } = await scripted((heard, socket) => {
      if (/^RCPT/.test(heard)) socket.destroy();
      return /^(EHLO|MAIL).*\r\n$/.test(heard) ? "250 yes\r\n" : undefined;
    });

    expect(await connectorTo({ port }).perform(writing())).toMatchObject({ kind: "absent" });
  });

  plain("after the dot is lost, whatever was heard of the answer", async () => {
    const ends = [
      (socket: Socket) => void socket.destroy(),
      (socket: Socket) => void socket.end("25"),
      (socket: Socket) => void socket.end("what?\r\n"),
      (socket: Socket) => void socket.end("354 more\r\n"),
    ];
    for (const end of ends) {
      const { port } = await scripted(
        talk((heard, socket) => {
          if (heard.endsWith("\r\n.\r\n")) end(socket);
          return undefined;
        }),
      );
      expect(await connectorTo({ port }).perform(writing())).toMatchObject({
        kind: "lost",
        seen: { phase: "after_dot" },
      });
    }
  });

  plain("of a server that offers no protection is before the dot: nothing is said in the open", async () => {
    const heard: string[] = [];
    const { port } = await scripted((text) => {
      heard.push(text);
      return "250 yes\r\n";
    });
    const connector = connectorTo({ port, tls: "starttls", user: "writ", password: "secret-word" });

    expect(await connector.perform(writing())).toMatchObject({ kind: "absent" });
    expect(heard.join("")).toBe("EHLO writ.example.test\r\n");
  });
});

describe("a server that is protected from the first byte", () => {
  plain(
    "is told the credential inside of TLS, and is not spoken to when its certificate is somebody else's",
    async () => {
      const { key, cert } = selfSigned("localhost");
      const heard: string[] = [];
      const listening = createTlsServer({ key, cert }, (socket) => {
        socket.on("error", () => undefined);
        socket.write("220 yes\r\n");
        socket.on("data", (bytes) => {
          heard.push(bytes.toString("latin1"));
          socket.write(
            heard.at(-1)?.startsWith("EHLO") ? "250-yes\r\n250 AUTH PLAIN LOGIN\r\n" : "535 5.7.8 no\r\n",
          );
        });
      });
      listening.listen(0, "127.0.0.1");
      await once(listening, "listening");
      onTestFinished(() => void listening.close());
      const { port } = listening.address() as AddressInfo;
      const there = {
        host: "localhost",
        port,
        tls: "implicit",
        user: "writ",
        password: "secret-word",
      } as const;

      const trusted = await connectorTo({ ...there, ca: cert }).perform(writing());
      const strange = await connectorTo(there).perform(writing());

      expect(trusted).toMatchObject({ kind: "absent", why: expect.stringContaining("535") });
      expect(heard[1]).toBe(`AUTH PLAIN ${Buffer.from("\0writ\0secret-word").toString("base64")}\r\n`);
      expect(heard).toHaveLength(2);
      expect(strange).toMatchObject({ kind: "absent", why: expect.stringContaining("certificate") });
    },
  );
});

describe("what an argument may not do", () => {
  const hostile: readonly (readonly [string, Record<string, unknown>])[] = [
    ["two addresses", { to: "ann@example.test, bob@example.test" }],
    ["a second command", { to: "ann@example.test>\r\nRCPT TO:<bob@example.test" }],
    ["a name beside the address", { to: "Ann <ann@example.test>" }],
    ["a quoted local part", { to: '"a b"@example.test' }],
    ["a route", { to: "@relay.test:ann@example.test" }],
    ["an address literal", { to: "ann@[127.0.0.1]" }],
    ["a percent route", { to: "ann%example.test@relay.test" }],
    ["a look-alike domain", { to: "ann@ex\u0430mple.test" }],
    ["no address", { to: "" }],
    ["a header in the subject", { subject: "News\r\nBcc: bob@example.test" }],
    ["a lone carriage return", { subject: "News\rBcc: bob@example.test" }],
    ["a line separator", { subject: "News\u2028Bcc: bob@example.test" }],
    ["a subject that is turned around", { subject: "invoice\u202etxt.exe" }],
    ["a NUL in the text", { text: "a\0b" }],
    ["a text that is no Unicode", { text: "\ud800" }],
  ];
  plain.each(hostile)("%s is refused before anybody is connected to", async (_name, args) => {
    const { port, connections } = await scripted(() => undefined);

    expect(await connectorTo({ port }).perform(writing(args))).toMatchObject({
      kind: "refused",
      detail: expect.stringContaining("cannot be written"),
    });
    expect(connections()).toBe(0);
  });
});

plain("every attempt writes the same bytes, in which nothing but our dot could end the letter", async () => {
  const letter = {
    to: "ann@example.test",
    subject: "Grüße",
    text: "a\r\n.\r\nMAIL FROM:<x@y.z>\r\n.",
    html: "<p>a</p>",
    operation: operationIdOf("00000000-0000-7000-8000-000000000001"),
    digest: `sha-256:${"a".repeat(43)}`,
    at: new Date(1_767_225_600_000),
  };

  const bytes = await letterBytes(letter, settingsOf());

  expect(await letterBytes(letter, settingsOf())).toEqual(bytes);
  const text = bytes.toString("latin1");
  expect(text.endsWith("\r\n")).toBe(true);
  expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]|[^\x20-\x7e\t]/);
  expect(text.split("\r\n").filter((line) => line.startsWith("."))).toEqual([]);
});

plain.each([
  ["a password without protection", { user: "a", password: "b" }],
  ["two senders", { from: "a@b.c, d@e.f" }],
  ["a domain with a line end", { domain: "a\r\nb" }],
  ["an archive's password in the open", { imap: { ...settingsOf().imap, host: "imap.example" } as never }],
] as const)("settings with %s are refused", (_name, changes) => {
  expect(() => SMTP.connect(settingsOf(changes))).toThrow(/provider's/);
});
