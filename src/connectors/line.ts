import type { Message } from "../core/message.ts";
import { Problem } from "../core/problem.ts";
import type { Exchange, Sending } from "./exchange.ts";
import type { Subject } from "./variable.ts";

/** One provider of one transport, ready to be asked. */
export interface Line<Rendered> {
  /**
   * Sends one message, once: no redirect, no retry, no second connection after the first byte. Never throws for what a provider did.
   * What is not known to be unsent is `silent`.
   */
  send(rendered: Rendered, sending: Sending): Promise<Exchange>;
  /** Ends what is kept open. */
  close(): Promise<void>;
}

/** A line that opens when it is first needed. */
export interface OpenLine {
  ask(
    message: Message,
    subject: Subject,
    sending: Omit<Sending, "answerMaxBytes">,
  ): Promise<Exchange | Unwritable>;
  close(): Promise<void>;
}

/** The same action would give the same "no" for ever. */
interface Unwritable {
  readonly kind: "unwritable";
  readonly why: string;
}

export interface LineSource<Rendered> {
  /** Throws `invalid` for a message that this action can never fill. */
  readonly write: (message: Message, subject: Subject) => Rendered;
  /** Loads the client library. It need not connect: what it waits for is waited for by the first message. */
  readonly open: () => Line<Rendered> | Promise<Line<Rendered>>;
  readonly answerMaxBytes: number;
}

const CLOSED: Exchange = { kind: "unsent", why: "the connector was closed" };

/** A line that could not be opened is opened anew for the next message; while it is not open, nothing has left. */
export function openLine<Rendered>({ write, open, answerMaxBytes }: LineSource<Rendered>): OpenLine {
  let opened: Promise<Line<Rendered>> | undefined;
  let closed = false;
  const ready = (): Promise<Line<Rendered>> => {
    const opening = opened ?? (async () => open())();
    opened = opening;
    opening.catch(() => {
      if (opened === opening) opened = undefined;
    });
    return opening;
  };
  return {
    ask: async (message, subject, sending) => {
      const rendered = written(() => write(message, subject));
      if ("why" in rendered) return { kind: "unwritable", why: rendered.why };
      if (closed) return CLOSED;
      const began = performance.now();
      const line = await within(ready(), sending.signal, sending.lifeMs);
      if (typeof line === "string") return { kind: "unsent", why: line };
      if (closed) return CLOSED;
      const lifeMs = Math.max(0, sending.lifeMs - (performance.now() - began));
      return line.send(rendered.value, { ...sending, lifeMs, answerMaxBytes });
    },
    close: async () => {
      closed = true;
      const line = await opened?.catch(() => undefined);
      await line?.close();
    },
  };
}

function written<Rendered>(write: () => Rendered): { readonly value: Rendered } | { readonly why: string } {
  try {
    return { value: write() };
  } catch (problem) {
    if (problem instanceof Problem) return { why: problem.message };
    throw problem;
  }
}

/** What was waited for, or why the wait ended without it. */
function within<Value extends object>(
  wanted: Promise<Value>,
  signal: AbortSignal,
  ms: number,
): Promise<Value | string> {
  return new Promise((resolve) => {
    const finish = (result: Value | string): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", late);
      resolve(result);
    };
    const late = (): void => finish("its time was over before it was sent");
    const timer = setTimeout(late, ms);
    if (signal.aborted) return finish("it was stopped before it began");
    signal.addEventListener("abort", late, { once: true });
    wanted.then(finish, (error: unknown) => finish(error instanceof Error ? error.message : String(error)));
  });
}
