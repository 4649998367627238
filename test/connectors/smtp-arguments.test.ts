import { describe, expect, test } from "vitest";
import { letterBytes } from "../../src/connectors/smtp/letter.ts";
import { SMTP } from "../../src/connectors/smtp.ts";
import { operationIdOf } from "../../src/core/ids.ts";
import { connectorTo, scripted, settingsOf, writing } from "./smtp-rig.ts";

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
  test.each(hostile)("%s is refused before anybody is connected to", async (_name, args) => {
    const { port, connections } = await scripted(() => undefined);

    expect(await connectorTo({ port }).perform(writing(args))).toMatchObject({
      kind: "refused",
      detail: expect.stringContaining("cannot be written"),
    });
    expect(connections()).toBe(0);
  });
});

test("every attempt writes the same bytes, in which nothing but our dot could end the letter", async () => {
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

test.each([
  ["a password without protection", { user: "a", password: "b" }],
  ["two senders", { from: "a@b.c, d@e.f" }],
  ["a domain with a line end", { domain: "a\r\nb" }],
  ["an archive's password in the open", { imap: { ...settingsOf().imap, host: "imap.example" } as never }],
] as const)("settings with %s are refused", (_name, changes) => {
  expect(() => SMTP.connect(settingsOf(changes))).toThrow(/provider's/);
});
