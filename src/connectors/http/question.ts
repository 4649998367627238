import { Agent, request } from "undici";
import { type Json, parseJson } from "../../core/json.ts";
import { type EgressRule, guardedConnector } from "./egress.ts";

export interface QuestionSettings extends EgressRule {
  /** Scheme, host and path that every question begins with. */
  readonly base: string;
  readonly token?: string;
  readonly ca?: string;
}

interface JsonAnswer {
  readonly status: number;
  readonly body: Json;
}

/** Asks one place in JSON. Rejects for whatever is no whole answer in time. */
export interface Asker {
  ask(path: string, body: Json, signal: AbortSignal): Promise<JsonAnswer>;
  close(): Promise<void>;
}

const CONNECT_MS = 1_000;
const CONNECTIONS_MAX = 16;
const ANSWER_MAX_BYTES = 65_536;

/** One place, pinned by its settings. One try; a redirect is an answer like any other, and is not followed. */
export function jsonAsker(settings: QuestionSettings): Asker {
  const agent = new Agent({
    connect: guardedConnector(settings, CONNECT_MS, settings.ca),
    connections: CONNECTIONS_MAX,
    pipelining: 1,
  });
  const authorization = settings.token === undefined ? {} : { authorization: `Bearer ${settings.token}` };
  return {
    ask: async (path, asked, signal) => {
      const { statusCode, body } = await request(`${settings.base}${path}`, {
        dispatcher: agent,
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json", ...authorization },
        body: JSON.stringify(asked),
        signal,
      });
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of body as AsyncIterable<Buffer>) {
        size += chunk.byteLength;
        if (size > ANSWER_MAX_BYTES) throw new Error(`the answer is larger than ${ANSWER_MAX_BYTES} bytes`);
        chunks.push(chunk);
      }
      return { status: statusCode, body: parseJson(Buffer.concat(chunks)) };
    },
    close: () => agent.destroy(),
  };
}
