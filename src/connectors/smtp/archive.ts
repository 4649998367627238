import type { ImapFlow } from "imapflow";
import type { JsonObject } from "../../core/json.ts";
import type { Exchange, Sending } from "../exchange.ts";
import { DIGEST_HEADER, OPERATION_HEADER } from "./letter.ts";
import type { ArchiveSettings } from "./settings.ts";

const FOUND_MAX = 10;
const CONNECT_MS = 10_000;

/**
 * Looks for letters of one operation in the archive's mailbox: 200 with what was found, 404 when the search was answered and found none.
 * Whatever breaks on the way is silence, never "none". Nothing is changed: the mailbox is opened for reading only.
 */
export async function searchArchive(
  archive: ArchiveSettings,
  operation: string,
  { signal, lifeMs }: Pick<Sending, "signal" | "lifeMs">,
): Promise<Exchange> {
  const { ImapFlow: Client } = await import("imapflow");
  const client = new Client(optionsOf(archive, lifeMs));
  const late = AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, Math.ceil(lifeMs)))]);
  const stop = (): void => client.close();
  late.addEventListener("abort", stop, { once: true });
  // Without a listener an error after the answer would end the process.
  client.on("error", () => undefined);
  try {
    if (late.aborted) return { kind: "unsent", why: "its time was over before it was asked" };
    await client.connect();
    return await search(client, archive.mailbox, operation);
  } catch (error) {
    return { kind: "silent", cause: error instanceof Error ? error.message : String(error) };
  } finally {
    late.removeEventListener("abort", stop);
    client.close();
  }
}

function optionsOf({ host, port, tls, user, password, ca }: ArchiveSettings, lifeMs: number) {
  return {
    host,
    port,
    secure: tls === "implicit",
    doSTARTTLS: tls === "starttls",
    auth: { user, pass: password },
    logger: false as const,
    disableAutoIdle: true,
    connectionTimeout: Math.min(CONNECT_MS, lifeMs),
    greetingTimeout: Math.min(CONNECT_MS, lifeMs),
    socketTimeout: lifeMs,
    tls: { rejectUnauthorized: true, minVersion: "TLSv1.2" as const, ...(ca === undefined ? {} : { ca }) },
  };
}

async function search(client: ImapFlow, mailbox: string, operation: string): Promise<Exchange> {
  await client.mailboxOpen(mailbox, { readOnly: true });
  const uids = await client.search({ header: { [OPERATION_HEADER]: operation } }, { uid: true });
  if (uids === false || uids === undefined)
    return { kind: "silent", cause: "the server did not answer the search" };
  const letters: Letter[] = [];
  // RFC 3501 6.4.4: HEADER matches a part of the text; which are ours is decided by the whole.
  const wanted = uids.slice(0, FOUND_MAX).join(",");
  if (wanted !== "")
    for await (const { headers } of client.fetch(
      wanted,
      { headers: [OPERATION_HEADER, DIGEST_HEADER, "Message-ID"] },
      { uid: true },
    )) {
      const letter = letterIn(headers?.toString("latin1") ?? "");
      if (letter.operation === operation) letters.push(letter);
    }
  const [first] = letters;
  if (first === undefined) return reply(404, { found: 0 });
  // Two digests under one identity must not look like one: the one that is not the first's is shown.
  const other = letters.find(({ digest }) => digest !== first.digest);
  return reply(200, { found: letters.length, ...first, ...(other === undefined ? {} : { digest: null }) });
}

type Letter = { readonly operation: string; readonly digest: string; readonly messageId: string };

function letterIn(headers: string): Letter {
  const unfolded = headers.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n");
  const one = (name: string): string => {
    const found = unfolded.filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));
    return found.length === 1 ? (found[0] ?? "").slice(name.length + 1).trim() : "";
  };
  return { operation: one(OPERATION_HEADER), digest: one(DIGEST_HEADER), messageId: one("Message-ID") };
}

function reply(status: 200 | 404, body: JsonObject): Exchange {
  return { kind: "answered", reply: { status, headers: {}, body, at: Date.now() } };
}
