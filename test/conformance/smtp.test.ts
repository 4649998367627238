import { SMTP } from "../../src/connectors/smtp.ts";
import { preset } from "../connectors/errand.ts";
import { eximDovecot, type MailServer } from "../servers/exim-dovecot.ts";
import { conform } from "./conform.ts";
import { DONE, DOUBT } from "./subject.ts";

conform<MailServer>({
  name: "one letter, with a copy to the archive",
  server: eximDovecot,
  tool: {
    contract: preset("smtp/send", {
      requestLife: "20s",
      maxPause: "10s",
      lease: "35s",
      settle: { bounded: "30s" },
    }),
    expectedVersion: "none",
  },
  address: ({ smtpPort }) => ({ host: "127.0.0.1", port: smtpPort }),
  connect: ({ imapPort, password }, { host, port }) =>
    SMTP.connect({
      host,
      port,
      tls: "none",
      from: "writ@example.test",
      archiveAddress: "archive@example.test",
      domain: "writ.example.test",
      imap: { host: "127.0.0.1", port: imapPort, tls: "none", user: "archive", password, mailbox: "INBOX" },
    }),
  speech: {
    begins: /DATA\r\n/,
    middle: /^DATA\r\n[\s\S]{40}/,
    answers: /250 OK id=/,
    head: /250 OK id=[^\r\n]*\r\n/,
  },
  prepare: async (_running, item) => ({
    arguments: { to: "ann@example.test", subject: `About ${item}`, text: "It has changed.\n" },
  }),
  effects: async (running, { operationId }) =>
    running.letters("ann").filter((letter) => letter.includes(`X-Writ-Operation: ${operationId}`)).length,
  ends: {
    direct: DONE,
    "before send": DONE,
    // A short letter has left us whole, with its dot, before we notice: then the archive alone can say, and here it has nothing to say.
    "mid body": DOUBT.withoutEffect,
    "after effect": DONE,
    "after headers": DONE,
  },
});
