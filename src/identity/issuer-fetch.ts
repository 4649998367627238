import { Agent, type buildConnector, request } from "undici";

/** Speaks with one issuer. Never follows a redirect, never repeats, and ends with its time and its size. */
export interface IssuerFetch {
  (url: string, init?: IssuerRequest): Promise<Response>;
  close(): Promise<void>;
}

interface IssuerRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const ANSWER_MAX_BYTES = 65_536;
const ANSWER_WITHIN_MS = 3_000;
const CONNECTIONS_MAX = 4;

/** `connect` decides which addresses may be spoken to. Rejects with an Error whose message is one plain sentence part. */
export function issuerFetch(
  connect: buildConnector.connector,
  { answerWithinMs = ANSWER_WITHIN_MS, answerMaxBytes = ANSWER_MAX_BYTES } = {},
): IssuerFetch {
  const dispatcher = new Agent({ connect, connections: CONNECTIONS_MAX, pipelining: 1 });
  const fetch = async (url: string, init: IssuerRequest = {}): Promise<Response> => {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new Error("it does not answer in time")), answerWithinMs);
    try {
      const { method = "GET", headers = {}, body } = init;
      const reply = await request(url, {
        dispatcher,
        // The methods of OAuth and OpenID Connect.
        method: method === "POST" ? "POST" : "GET",
        headers: { accept: "application/json", ...headers, "accept-encoding": "identity" },
        signal: stop.signal,
        ...(body === undefined ? {} : { body }),
      });
      const bytes = await bounded(reply.body, answerMaxBytes, stop);
      return new Response(reply.statusCode === 204 || reply.statusCode === 304 ? null : bytes, {
        status: reply.statusCode < 200 ? 502 : reply.statusCode,
        headers: textsOf(reply.headers, ["content-type", "date"]),
      });
    } catch (error) {
      throw stop.signal.aborted ? stop.signal.reason : error;
    } finally {
      clearTimeout(timer);
    }
  };
  return Object.assign(fetch, { close: () => dispatcher.destroy() });
}

function textsOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
}

async function bounded(
  body: AsyncIterable<Uint8Array>,
  answerMaxBytes: number,
  stop: AbortController,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > answerMaxBytes) stop.abort(new Error(`its answer is larger than ${answerMaxBytes} bytes`));
    stop.signal.throwIfAborted();
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}
