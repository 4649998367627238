import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { type Json, parseJson } from "../../core/json.ts";
import { Problem } from "../../core/problem.ts";
import type { Exchange, Reply, Sending } from "../exchange.ts";
import type { RenderedRequest } from "../template.ts";

interface HttpSending extends Omit<Sending, "fresh"> {
  readonly request: RenderedRequest;
  /** Of the provider's settings. */
  readonly headers: readonly (readonly [string, string])[];
  /** Ends the connection with the answer. */
  readonly close: boolean;
}

/** The request is on the wire, or was. */
interface Begun {
  readonly controller: Dispatcher.DispatchController;
  readonly chunks: Buffer[];
  size: number;
  head?: { readonly status: number; readonly headers: Reply["headers"] };
}

/** One request under way: `finish` counts once, and nothing begins after it. */
interface Run {
  readonly sending: HttpSending;
  readonly finish: (result: Exchange) => void;
  over: boolean;
  begun?: Begun;
}

/**
 * Sends one request once. No redirect, no retry, no decompression, no proxy.
 *
 * Where the gate stands: undici calls `onRequestStart` synchronously from the function that writes the request, after the connection
 * (with TLS) is established and immediately before it publishes `undici:client:sendHeaders` and writes the first byte; an abort in there
 * returns before the write. So what has not begun has not sent a byte, whatever error ends it, and nothing begins after the end.
 */
export function exchange(dispatcher: Dispatcher, sending: HttpSending): Promise<Exchange> {
  return new Promise((resolve) => {
    const { signal } = sending;
    if (signal.aborted) return resolve({ kind: "unsent", why: "it was stopped before it began" });
    const stop = (): void => {
      const { begun } = run;
      run.finish(
        begun === undefined
          ? unsent(TOO_LATE)
          : silent("no whole answer came within the request's life", begun),
      );
      begun?.controller.abort(new Error(TOO_LATE));
    };
    const timer = setTimeout(stop, sending.lifeMs);
    const finish = (result: Exchange): void => {
      if (run.over) return;
      run.over = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve(result);
    };
    const run: Run = { sending, finish, over: false };
    signal.addEventListener("abort", stop, { once: true });
    dispatcher.dispatch(optionsOf(sending), handlerOf(run));
  });
}

const TOO_LATE = "its time was over before it was sent";

function unsent(why: string): Exchange {
  return { kind: "unsent", why };
}

function silent(cause: string, { head }: Begun): Exchange {
  return { kind: "silent", cause, phase: "sent", ...(head === undefined ? {} : { status: head.status }) };
}

function handlerOf(run: Run): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller) {
      const why = refusalToBegin(run);
      if (why === undefined) run.begun = { controller, chunks: [], size: 0 };
      else {
        run.finish(why);
        controller.abort(new Error("not sent"));
      }
    },
    onResponseStart(_controller, status, headers) {
      // 1xx only announces: the answer comes later.
      if (run.begun !== undefined && status >= 200) run.begun.head = { status, headers: flat(headers) };
    },
    onResponseData(controller, chunk) {
      const { begun, sending } = run;
      if (begun === undefined || run.over) return;
      begun.size += chunk.length;
      begun.chunks.push(chunk);
      if (begun.size <= sending.answerMaxBytes) return;
      run.finish(silent(`the answer is larger than ${sending.answerMaxBytes} bytes`, begun));
      controller.abort(new Error("the answer is too large"));
    },
    onResponseEnd() {
      const { begun } = run;
      if (begun?.head === undefined)
        run.finish({ kind: "silent", cause: "the connection ended without an answer", phase: "sent" });
      else run.finish({ kind: "answered", reply: replyOf(begun.head, Buffer.concat(begun.chunks)) });
    },
    onResponseError(_controller, error) {
      run.finish(run.begun === undefined ? unsent(wordsOf(error)) : silent(wordsOf(error), run.begun));
    },
  };
}

function refusalToBegin({ begun, over, sending }: Run): Exchange | undefined {
  // A client that loses its connection may put a request back and write it again. Ours goes over the wire once.
  if (begun !== undefined) return silent("the connection was lost while it was being sent", begun);
  if (over || sending.signal.aborted) return unsent(TOO_LATE);
  return sending.gate() ? undefined : unsent("the send gate was closed");
}

function optionsOf({ request, headers, lifeMs, close, pauseMs }: HttpSending): Dispatcher.DispatchOptions {
  // The provider's whole answer in the form it has: a compressing proxy changes validators (RFC 9110 8.8.3).
  const all = [["accept-encoding", "identity"] as const, ...request.headers, ...headers];
  if (pauseMs !== undefined) all.push(["content-length", String(Buffer.byteLength(request.body ?? ""))]);
  return {
    path: request.path,
    method: request.method,
    headers: all.flat(),
    body: pauseMs === undefined ? (request.body ?? null) : Readable.from(slowly(request.body ?? "", pauseMs)),
    idempotent: false,
    headersTimeout: lifeMs,
    bodyTimeout: lifeMs,
    // Undici's `reset` writes "connection: close".
    ...(close ? { reset: true } : {}),
  };
}

/** Half of the bytes, a pause, the other half. */
async function* slowly(body: string, pauseMs: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body, "utf8");
  const half = Math.floor(bytes.length / 2);
  yield bytes.subarray(0, half);
  await pause(pauseMs);
  yield bytes.subarray(half);
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Reply["headers"] {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined
      ? []
      : [[name.toLowerCase(), (typeof value === "string" ? value : value.join(", ")).trim()]],
  );
  return Object.fromEntries(entries);
}

// Answers are larger and deeper than what callers may send us, and only looked into.
const ANSWER_BOUNDS = {
  bytesMax: 64 * 1024 * 1024,
  depthMax: 64,
  valuesMax: 500_000,
  stringMax: 64 * 1024 * 1024,
};

function replyOf(
  head: { readonly status: number; readonly headers: Reply["headers"] },
  bytes: Buffer,
): Reply {
  const reply = { ...head, at: Date.now() };
  if (bytes.length === 0) return reply;
  const coding = head.headers["content-encoding"] ?? "identity";
  if (coding.toLowerCase() !== "identity")
    return { ...reply, unreadable: "an answer in a coding that was not asked for" };
  const told = { ...reply, text: bytes.toString("utf8") };
  const body = readOf(bytes);
  return body === undefined
    ? { ...told, unreadable: "an answer that is not JSON with exactly one reading" }
    : { ...told, body };
}

function readOf(bytes: Buffer): Json | undefined {
  try {
    return parseJson(bytes, ANSWER_BOUNDS);
  } catch (problem) {
    if (problem instanceof Problem) return undefined;
    throw problem;
  }
}

/** An error of the client in its own words. The provider's address may stand there, its answer and our request do not. */
function wordsOf(error: Error & { readonly code?: unknown }): string {
  const code = typeof error.code === "string" ? error.code : error.name;
  return `${code}: ${error.message}`;
}
