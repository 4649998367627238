import { TRANSPORTS } from "../core/transport.ts";
import { defineConnector } from "./define.ts";
import type { Exchange, Sending } from "./exchange.ts";
import { searchArchive } from "./smtp/archive.ts";
import { type SmtpAsk, smtpAskOf } from "./smtp/letter.ts";
import { sendLetter } from "./smtp/send.ts";
import { checkSettings, type SmtpSettings, secretsOf, settingsDigestValue } from "./smtp/settings.ts";

export type { SmtpSettings } from "./smtp/settings.ts";

/** Mail servers. One operation is one letter to one addressee, with a copy to an archive where it can be found again. */
export const SMTP = defineConnector<SmtpSettings, SmtpAsk>({
  kind: "smtp",
  transport: TRANSPORTS.smtp,
  settings: {
    pinned: (settings) => {
      checkSettings(settings);
      return settingsDigestValue(settings);
    },
    secrets: secretsOf,
  },
  write: smtpAskOf,
  open: (settings) => ({
    send: (ask, sending) => send(settings, ask, sending),
    // A connection for every letter: one that was idle could be closing just now.
    close: async () => undefined,
  }),
});

async function send(settings: SmtpSettings, ask: SmtpAsk, sending: Sending): Promise<Exchange> {
  if (ask.kind === "letter") return sendLetter(settings, ask.letter, sending);
  return settings.imap === undefined
    ? { kind: "unsent", why: "the provider's settings name no archive that can be searched (imap)" }
    : searchArchive(settings.imap, ask.operation, sending);
}
