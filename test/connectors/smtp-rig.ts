import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { SMTP, type SmtpSettings } from "../../src/connectors/smtp.ts";
import { eximDovecot, type MailServer } from "../servers/exim-dovecot.ts";
import { errandOf, preset } from "./errand.ts";
import { closeAfter } from "./rig.ts";

export const CONTRACT = preset("smtp/send", { requestLife: "20s", maxPause: "1s", lease: "25s" });

let server: MailServer | undefined;
let sent = 0;

/** A real server for this file's tests; without it settings name one that is not there. */
export function useMailServer(): void {
  beforeAll(async () => {
    if (eximDovecot.installed() === undefined) server = await eximDovecot.start();
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
  });
}

export function mailServer(): MailServer {
  if (server === undefined) throw new Error("the server was not started");
  return server;
}

export function settingsOf(changes: Partial<SmtpSettings> = {}): SmtpSettings {
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

export function connectorTo(changes: Partial<SmtpSettings> = {}) {
  const connector = SMTP.connect(settingsOf(changes));
  closeAfter(() => connector.close());
  return connector;
}

/** Every letter of this file is another operation, unless it says which. */
export function writing(args: Record<string, unknown> = {}, choices: Parameters<typeof errandOf>[1] = {}) {
  sent += 1;
  return errandOf(CONTRACT, {
    operation: sent,
    ...choices,
    arguments: { to: "ann@example.test", subject: "News", text: "It has changed.\n", ...args } as never, // JSON.
  });
}

export function delivered(mailbox: "ann" | "archive", operation: string): number {
  const letters = server?.letters(mailbox) ?? [];
  return letters.filter((letter) => letter.includes(`X-Writ-Operation: ${operation}`)).length;
}

export async function arrives(operation: string, times = 1): Promise<void> {
  const both = () => [delivered("ann", operation), delivered("archive", operation)];
  await expect.poll(both, { timeout: 15_000 }).toEqual([times, times]);
}

/** A server that says what it is told to, and keeps what it heard. */
export async function scripted(answer: (heard: string, socket: Socket) => string | undefined) {
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
