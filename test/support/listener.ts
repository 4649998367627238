import { request } from "node:http";
import { onTestFinished } from "vitest";

export interface Heard {
  readonly id?: string;
  readonly event?: string;
  readonly data?: unknown;
}

export interface Listener {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The next event with data. Rejects when the stream ends first. */
  next(): Promise<Heard>;
  /** The last id that was heard, of blocks without data too. */
  lastId(): string | undefined;
  /** Resolves when the other side has ended the stream. */
  ended(): Promise<void>;
  stop(): void;
}

/** Listens to an event stream over a connection of its own. */
export function listen(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Listener> {
  const heard: Heard[] = [];
  const waiting: { readonly resolve: (event: Heard) => void; readonly reject: (error: Error) => void }[] = [];
  let lastId: string | undefined;
  let over = false;
  let buffer = "";
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, headers, agent: false }, (reply) => {
      const ended = new Promise<void>((done) => {
        reply.once("close", () => {
          over = true;
          for (const each of waiting.splice(0)) each.reject(new Error("the stream ended"));
          done();
        });
      });
      reply.on("error", () => undefined);
      reply.setEncoding("utf8").on("data", (text: string) => {
        buffer += text;
        const blocks = buffer.split("\n\n");
        buffer = blocks.pop() ?? "";
        for (const block of blocks) {
          const event = parsed(block);
          lastId = event.id ?? lastId;
          if (event.data === undefined) continue;
          const next = waiting.shift();
          if (next === undefined) heard.push(event);
          else next.resolve(event);
        }
      });
      const stop = (): void => void sent.destroy();
      onTestFinished(stop);
      resolve({
        status: reply.statusCode ?? 0,
        headers: reply.headers,
        next: async () =>
          heard.shift() ??
          (over
            ? Promise.reject(new Error("the stream ended"))
            : new Promise((done, fail) => void waiting.push({ resolve: done, reject: fail }))),
        lastId: () => lastId,
        ended: () => ended,
        stop,
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

function parsed(block: string): Heard {
  const fields = Object.fromEntries(
    block.split("\n").flatMap((line) => {
      const [, name, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value]];
    }),
  ) as { readonly id?: string; readonly event?: string; readonly data?: string };
  return { ...fields, ...(fields.data === undefined ? {} : { data: JSON.parse(fields.data) }) } as Heard;
}
