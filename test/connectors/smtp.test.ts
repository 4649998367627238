import { describe, expect } from "vitest";
import { SMTP } from "../../src/connectors/smtp.ts";
import { eximDovecot } from "../servers/exim-dovecot.ts";
import { needs } from "../support/needs.ts";
import {
  arrives,
  CONTRACT,
  connectorTo,
  delivered,
  mailServer,
  settingsOf,
  useMailServer,
  writing,
} from "./smtp-rig.ts";

const test = needs(eximDovecot);
useMailServer();

describe("a letter", () => {
  test("goes to one addressee and the archive, says which operation it is, and is found by that", async () => {
    const errand = writing({ subject: "Grüße", text: "one\n.\n..two\nthree €\n" });
    const { operationId } = errand.action;
    const connector = connectorTo();

    expect(await connector.perform(errand)).toMatchObject({ kind: "confirmed" });
    await arrives(operationId);

    const letter =
      mailServer()
        .letters("ann")
        .find((one) => one.includes(operationId)) ?? "";
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
    expect(mailServer().waiting()).toBe(0);
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
    expect(mailServer().waiting()).toBe(0);
    expect(delivered("ann", errand.action.operationId)).toBe(0);
  });
});
