import { once } from "node:events";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { SmtpSettings } from "./settings.ts";

/** One whole reply of the server. */
export interface SmtpReply {
  readonly code: number;
  readonly lines: readonly string[];
}

/** The connection is gone, late, or speaks something else: no reply will come. */
export class NoReply extends Error {
  override readonly name = "NoReply";
}

/** One connection, on which one command at a time is asked and answered. Nothing is sent before the last reply is here. */
export interface Dialogue {
  /** Waits for the next reply. Rejects with `NoReply`. */
  reply(): Promise<SmtpReply>;
  command(line: string): Promise<SmtpReply>;
  /** Resolves when the bytes were handed to the system. */
  write(bytes: Uint8Array): Promise<void>;
  /** Goes on inside of TLS. Refuses when the server said more than its yes: that was said in the open. */
  protect(settings: Pick<SmtpSettings, "host" | "ca">): Promise<void>;
  end(): void;
}

const REPLY_MAX_BYTES = 65_536;
const CONNECT_MS = 10_000;
// RFC 5321 4.2: three digits, then a dash in all lines but the last.
const LINE = /^([2-5]\d\d)(?:([ -])(.*))?$/;

/** A connection to the server, protected where it is to be from its first byte. Rejects with `NoReply` when there is none. */
export async function dial(settings: SmtpSettings, signal: AbortSignal): Promise<Dialogue> {
  const { host, port, tls } = settings;
  const socket =
    tls === "implicit" ? connectTls({ host, port, ...trust(settings) }) : connectPlain({ host, port });
  const timer = setTimeout(
    () => socket.destroy(new Error("no connection in time")),
    settings.connectMs ?? CONNECT_MS,
  );
  const abort = (): void => void socket.destroy(new Error("its time was over"));
  signal.addEventListener("abort", abort, { once: true });
  socket.once("close", () => signal.removeEventListener("abort", abort));
  try {
    if (signal.aborted) abort();
    await once(socket, tls === "implicit" ? "secureConnect" : "connect");
  } catch (error) {
    socket.destroy();
    throw new NoReply(wordsOf(error));
  } finally {
    clearTimeout(timer);
  }
  return dialogueOn(socket, signal);
}

function trust({ host, ca }: Pick<SmtpSettings, "host" | "ca">) {
  // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in somebody's environment cannot unsay it.
  return {
    rejectUnauthorized: true,
    minVersion: "TLSv1.2" as const,
    ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
    ...(ca === undefined ? {} : { ca }),
  };
}

interface Line {
  socket: Socket;
  heard: string;
  /** Why nothing more will be heard. */
  over: string | undefined;
  wake: () => void;
}

function dialogueOn(first: Socket, signal: AbortSignal): Dialogue {
  const line: Line = { socket: first, heard: "", over: undefined, wake: () => undefined };
  listen(line, first);
  const dialogue: Dialogue = {
    reply: () => nextReply(line),
    command: async (text) => {
      // A second line would be a second command.
      if (!/^[\x20-\x7e]{1,1000}$/.test(text)) throw new NoReply("a command is one line of visible ASCII");
      await dialogue.write(Buffer.from(`${text}\r\n`, "latin1"));
      return nextReply(line);
    },
    write: (bytes) => written(line, bytes),
    protect: (settings) => protect(line, settings, signal),
    end: () => void line.socket.destroy(),
  };
  return dialogue;
}

function listen(line: Line, socket: Socket): void {
  const over = (why: string): void => {
    if (line.socket !== socket) return;
    line.over ??= why;
    line.wake();
  };
  socket.setNoDelay(true);
  socket.on("data", (bytes: Buffer) => {
    line.heard += bytes.toString("latin1");
    if (line.heard.length > REPLY_MAX_BYTES) socket.destroy(new Error("a reply that does not end"));
    line.wake();
  });
  socket.on("error", (error) => over(wordsOf(error)));
  socket.on("close", () => over("the connection ended"));
  socket.on("end", () => over("the server ended the connection"));
}

async function nextReply(line: Line): Promise<SmtpReply> {
  for (;;) {
    const reply = takeReply(line);
    if (reply !== undefined) return reply;
    if (line.over !== undefined) throw new NoReply(line.over);
    await new Promise<void>((resolve) => {
      line.wake = resolve;
    });
  }
}

/** The reply at the beginning of what was heard, once its last line is whole. */
function takeReply(line: Line): SmtpReply | undefined {
  const lines: string[] = [];
  let from = 0;
  for (;;) {
    const end = line.heard.indexOf("\n", from);
    if (end < 0) return undefined;
    const [, code = "", mark = " ", text = ""] =
      LINE.exec(line.heard.slice(from, end).replace(/\r$/, "")) ?? [];
    if (code === "") throw new NoReply("the server does not speak SMTP");
    lines.push(text);
    from = end + 1;
    if (mark === "-") continue;
    line.heard = line.heard.slice(from);
    return { code: Number(code), lines };
  }
}

function written(line: Line, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (line.over !== undefined) return reject(new NoReply(line.over));
    line.socket.write(bytes, (error) =>
      error === undefined || error === null ? resolve() : reject(new NoReply(wordsOf(error))),
    );
  });
}

async function protect(
  line: Line,
  settings: Pick<SmtpSettings, "host" | "ca">,
  signal: AbortSignal,
): Promise<void> {
  if (line.heard !== "") throw new NoReply("the server said more before the connection was protected");
  const plain = line.socket;
  plain.removeAllListeners("data");
  const socket = connectTls({ socket: plain, ...trust(settings) });
  line.socket = socket;
  const abort = (): void => void socket.destroy(new Error("its time was over"));
  signal.addEventListener("abort", abort, { once: true });
  socket.once("close", () => signal.removeEventListener("abort", abort));
  try {
    await once(socket, "secureConnect");
  } catch (error) {
    socket.destroy();
    throw new NoReply(wordsOf(error));
  }
  listen(line, socket);
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
