import type { JetStreamManager, StoredMsg } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { type Json, type JsonObject, parseJson } from "../../core/json.ts";
import { Problem } from "../../core/problem.ts";
import { type Deadline, LATE, SILENT_LATE, UNSENT_GATE, UNSENT_LATE, wordsOf } from "../deadline.ts";
import type { Exchange, Reply, Sending } from "../exchange.ts";
import type { NatsLibrary } from "./connection.ts";
import type { NatsMessage } from "./message.ts";

type Publish = Extract<NatsMessage, { kind: "publish" }>;

/** One connection, and the client's two halves that speak on it. */
export interface NatsSpeaker {
  readonly library: NatsLibrary;
  readonly connection: NatsConnection;
  /** Only asks. What it repeats is a question. */
  readonly manager: JetStreamManager;
}

interface Terms extends Pick<Sending, "gate" | "remembersMs" | "answerMaxBytes"> {
  readonly deadline: Deadline;
}

/**
 * Publishes one message once. The client's own `publish` for streams sends a second time when nobody answers: so this is a plain request,
 * whose answer is the server's acknowledgement or refusal.
 */
export async function publish(
  { library, connection, manager }: NatsSpeaker,
  message: Publish,
  { deadline, gate, remembersMs, answerMaxBytes }: Terms,
): Promise<Exchange> {
  const lack =
    remembersMs === undefined
      ? undefined
      : await deadline.race(windowLack(manager, message.stream, remembersMs));
  if (lack === LATE) return UNSENT_LATE;
  if (lack !== undefined) return { kind: "unsent", why: lack };
  const headers = library.headers();
  for (const [name, value] of message.headers) headers.set(name, value);
  const bytes = message.payload.length + headerBytes(message.headers);
  const largest = connection.info?.max_payload;
  if (largest === undefined) return { kind: "unsent", why: "the connection ended before it was sent" };
  if (bytes > largest)
    return { kind: "unsent", why: `the message has ${bytes} bytes and the server takes ${largest}` };
  if (!gate()) return UNSENT_GATE;
  // The client writes at the end of this turn.
  try {
    const timeout = deadline.leftMs();
    const answer = await deadline.race(
      connection.request(message.subject, message.payload, { timeout, headers }),
    );
    if (answer === LATE) return SILENT_LATE;
    return acknowledged(answer.data, answerMaxBytes);
  } catch (error) {
    return refusalIn(library, error) ?? { kind: "silent", cause: wordsOf(error), phase: "sent" };
  }
}

/** "NATS/1.0", a line for each header, an empty line. */
function headerBytes(headers: Publish["headers"]): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 12);
}

/** Why the server may not recognize a repeat as long as the contract counts on it. Asked every time: an operator can change the stream. */
async function windowLack(
  manager: JetStreamManager,
  stream: string,
  remembersMs: number,
): Promise<string | undefined> {
  try {
    const { config } = await manager.streams.info(stream);
    const windowMs = Math.floor(config.duplicate_window / 1_000_000);
    return windowMs >= remembersMs
      ? undefined
      : `the stream ${stream} remembers message ids for ${windowMs} ms and the contract counts on ${remembersMs} ms: nothing is sent`;
  } catch (error) {
    return `the stream ${stream} does not say how long it remembers message ids: ${wordsOf(error)}`;
  }
}

function acknowledged(bytes: Uint8Array, answerMaxBytes: number): Exchange {
  if (bytes.length > answerMaxBytes)
    return { kind: "silent", cause: `the answer is larger than ${answerMaxBytes} bytes`, phase: "sent" };
  const body = jsonIn(bytes);
  const at = Date.now();
  if (body === undefined)
    return {
      kind: "answered",
      reply: {
        status: 200,
        headers: {},
        unreadable: "an answer that is not JSON with exactly one reading",
        at,
      },
    };
  return { kind: "answered", reply: { status: statusOf(body), headers: {}, body, at } };
}

/** The code of the server's refusal; 200 without one. */
function statusOf(body: Json): number {
  const error = objectIn(body)?.error;
  const code = error === undefined ? 200 : objectIn(error as Json)?.code;
  return typeof code === "number" && code >= 200 && code <= 599 ? code : 500;
}

function objectIn(value: Json): JsonObject | undefined {
  return value === null || typeof value !== "object" || Array.isArray(value)
    ? undefined
    : (value as JsonObject);
}

/** Two answers of the server that the client throws: nobody hears this subject, and: you may not write there. */
function refusalIn(
  { NoRespondersError, PermissionViolationError, RequestError }: NatsLibrary,
  error: unknown,
) {
  const cause = error instanceof RequestError ? error.cause : error;
  if (cause instanceof NoRespondersError)
    return answered(503, { error: { code: 503, description: "nobody hears this subject" } });
  if (cause instanceof PermissionViolationError && cause.operation === "publish")
    return answered(403, { error: { code: 403, description: "no permission to publish there" } });
  return undefined;
}

export function answered(status: number, body: Json): Exchange {
  return { kind: "answered", reply: { status, headers: {}, body, at: Date.now() } };
}

const ANSWER_BOUNDS = {
  bytesMax: 64 * 1024 * 1024,
  depthMax: 64,
  valuesMax: 500_000,
  stringMax: 64 * 1024 * 1024,
};

function jsonIn(bytes: Uint8Array): Json | undefined {
  try {
    return parseJson(bytes, ANSWER_BOUNDS);
  } catch (problem) {
    if (problem instanceof Problem) return undefined;
    throw problem;
  }
}

/** The newest message of the subject, as the stream's leader has it. */
export async function last(
  { manager }: NatsSpeaker,
  { stream, subject }: Extract<NatsMessage, { kind: "last" }>,
  answerMaxBytes: number,
): Promise<Exchange> {
  const stored = await manager.streams.getMessage(stream, { last_by_subj: subject });
  if (stored === null) return answered(404, { error: { code: 404, description: "no message found" } });
  if (stored.data.length > answerMaxBytes)
    return { kind: "silent", cause: `the message is larger than ${answerMaxBytes} bytes` };
  return answered(200, shown(stored));
}

/** A stored message as contracts look into it: what it says stands in `data` when it is JSON, else in `text`. */
function shown({ seq, subject, header, timestamp, data }: StoredMsg): NonNullable<Reply["body"]> {
  const names = header?.keys() ?? [];
  const json = jsonIn(data);
  return {
    seq,
    subject,
    time: timestamp,
    headers: Object.fromEntries(names.map((name) => [name, header.get(name)])),
    ...(json === undefined ? { text: Buffer.from(data).toString("utf8").toWellFormed() } : { data: json }),
  };
}
