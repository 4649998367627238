import { Agent, type IncomingHttpHeaders, request } from "node:http";
import type { Grant } from "../../src/identity/mint.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Of a JSON answer. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer is what it checks.
  readonly body: any;
}

export interface Call {
  /** Whose token; `null` sends none. */
  readonly as?: Partial<Grant> | null;
  /** Sent as JSON, unless it is a text: then as it is. */
  readonly body?: object | string | Buffer;
  /** A list sends the header more than once. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly signal?: AbortSignal;
}

/** One request, with full command of its headers. */
export function exchange(
  port: number,
  method: string,
  path: string,
  { body, headers = {}, signal }: Call,
): Promise<Answer> {
  const bytes =
    typeof body === "string" || Buffer.isBuffer(body)
      ? body
      : body === undefined
        ? undefined
        : JSON.stringify(body);
  const typed =
    bytes !== undefined && headers["content-type"] === undefined
      ? { "content-type": "application/json" }
      : {};
  const length = bytes === undefined ? {} : { "content-length": String(Buffer.byteLength(bytes)) };
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port,
        method,
        path,
        // Its type forgets that a list may be read-only.
        headers: { ...typed, ...length, ...headers } as Record<string, string | string[]>,
        agent: new Agent({ keepAlive: false }),
        ...(signal === undefined ? {} : { signal }),
      },
      (reply) => {
        const parts: Buffer[] = [];
        reply.on("data", (part: Buffer) => parts.push(part));
        reply.on("error", reject);
        reply.on("end", () => {
          const text = Buffer.concat(parts).toString("utf8");
          const json = /json/.test(reply.headers["content-type"] ?? "") && text !== "";
          resolve({
            status: reply.statusCode ?? 0,
            headers: reply.headers,
            text,
            body: json ? JSON.parse(text) : undefined,
          });
        });
      },
    );
    sent.on("error", reject);
    sent.end(bytes);
  });
}
