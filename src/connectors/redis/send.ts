import { canonicalJson, type Json, parseJson } from "../../core/json.ts";
import { Problem } from "../../core/problem.ts";
import { type Deadline, LATE, SILENT_LATE, UNSENT_GATE, UNSENT_LATE, wordsOf } from "../deadline.ts";
import type { Exchange, Sending } from "../exchange.ts";
import { factsOf, type RedisLibrary, type RedisSpeaker, type ServerFacts } from "./connection.ts";
import type { RedisMessage } from "./message.ts";
import { barScript, type Script, writeScript } from "./script.ts";

interface Terms extends Pick<Sending, "gate" | "answerMaxBytes"> {
  readonly deadline: Deadline;
}

type Question = Extract<RedisMessage, { kind: "find" | "hash" }>;

/** Runs one script once. The connection is nobody else's meanwhile. */
export async function run(
  library: RedisLibrary,
  { client, server }: RedisSpeaker,
  message: Exclude<RedisMessage, Question>,
  { deadline, gate, answerMaxBytes }: Terms,
): Promise<Exchange> {
  const lack = unreliable(server, message.keepMs !== undefined);
  if (lack !== undefined) return { kind: "unsent", why: lack };
  const script = message.kind === "write" ? writeScript(message) : barScript(message);
  const stop = new AbortController();
  let asked: "not yet" | "yes" | "no" = "not yet";
  // The client writes in an immediate of its own, which is queued behind this one: nothing stands between the gate and the bytes. What it
  // has not written an abort takes back; what it has written no abort reaches.
  setImmediate(() => {
    if (stop.signal.aborted) return;
    asked = gate() ? "yes" : "no";
    if (asked === "no") stop.abort();
  });
  const sent = client.sendCommand(wordsIn(script), { abortSignal: stop.signal });
  try {
    const answer = await deadline.race(sent);
    if (answer !== LATE) return answered(answer, answerMaxBytes);
    if (state() === "not yet") {
      stop.abort();
      return UNSENT_LATE;
    }
    return SILENT_LATE;
  } catch (error) {
    if (state() === "no") return UNSENT_GATE;
    if (state() === "not yet") return { kind: "unsent", why: wordsOf(error) };
    return refusalIn(library, error) ?? { kind: "silent", cause: wordsOf(error), phase: "sent" };
  }
  // The compiler does not see that it changes in the immediate.
  function state(): "not yet" | "yes" | "no" {
    return asked;
  }
}

function wordsIn({ text, keys, args }: Script): string[] {
  return ["EVAL", text, String(keys.length), ...keys, ...args];
}

/** Why a marker that is written here may not be there when it is looked for. */
function unreliable({ role, evicts }: ServerFacts, expires: boolean): string | undefined {
  if (role !== "master")
    return `this Redis is a ${role === "" ? "server that does not say its role" : role}, not the primary`;
  if (evicts === undefined || (evicts.startsWith("volatile") && !expires)) return undefined;
  return `this Redis drops keys when its memory is full (maxmemory-policy ${evicts}), and with them the markers of what was done`;
}

function answered(answer: unknown, answerMaxBytes: number): Exchange {
  const text = typeof answer === "string" ? answer : "";
  if (Buffer.byteLength(text) > answerMaxBytes)
    return { kind: "silent", cause: `the answer is larger than ${answerMaxBytes} bytes`, phase: "sent" };
  const body = jsonIn(text);
  if (body === undefined)
    return { kind: "silent", cause: "the script's answer is not what it says", phase: "sent" };
  return reply(200, body);
}

function jsonIn(text: string): Json | undefined {
  try {
    return parseJson(Buffer.from(text, "utf8"));
  } catch (problem) {
    if (problem instanceof Problem) return undefined;
    throw problem;
  }
}

function reply(status: number, body: Json): Exchange {
  return { kind: "answered", reply: { status, headers: {}, body, at: Date.now() } };
}

// What Redis says before it runs anything of a script.
const NOT_NOW = [
  "BUSY",
  "CLUSTERDOWN",
  "LOADING",
  "MASTERDOWN",
  "MISCONF",
  "MOVED",
  "ASK",
  "NOREPLICAS",
  "OOM",
  "READONLY",
  "TRYAGAIN",
];
const NOT_YOU = ["NOAUTH", "NOPERM", "WRONGPASS"];

/** An error that the server answered with: 503 not now, 403 not you, and 500 for what may have come in the middle. */
function refusalIn({ ErrorReply }: RedisLibrary, error: unknown): Exchange | undefined {
  if (!(error instanceof ErrorReply)) return undefined;
  const code = /^[A-Z]+/.exec(error.message)?.[0] ?? "ERR";
  const status = NOT_NOW.includes(code) ? 503 : NOT_YOU.includes(code) ? 403 : 500;
  return reply(status, { code, message: error.message });
}

/** Asks for one hash: the resource, or the marker. */
export async function ask(
  library: RedisLibrary,
  { client }: RedisSpeaker,
  message: Question,
  answerMaxBytes: number,
): Promise<Exchange> {
  try {
    // Before the question: what was the primary then has everything that was acknowledged until then.
    const server = message.kind === "find" ? await factsOf(client) : undefined;
    const key = message.kind === "find" ? message.marker : message.key;
    const fields = fieldsIn(await client.sendCommand(["HGETALL", key]));
    if (Buffer.byteLength(canonicalJson(fields)) > answerMaxBytes)
      return { kind: "silent", cause: `the answer is larger than ${answerMaxBytes} bytes` };
    if (Object.keys(fields).length > 0) return reply(200, fields);
    if (message.kind === "hash" || server === undefined) return reply(404, { message: "no such key" });
    const why = unreliable(server, message.until !== undefined) ?? (await tooLate(client, message.until));
    return reply(404, { kept: why === undefined, ...(why === undefined ? {} : { why }) });
  } catch (error) {
    return refusalIn(library, error) ?? { kind: "silent", cause: wordsOf(error) };
  }
}

/** HGETALL in the old form of answers: names and values in turn. */
function fieldsIn(answer: unknown): Readonly<Record<string, string>> {
  const words = Array.isArray(answer) ? answer.map(String) : [];
  const entries = words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1] ?? ""]] : []));
  return Object.fromEntries(entries.filter(([name]) => name !== "__proto__"));
}

const CLOCKS_MS = 60_000;

async function tooLate(
  client: RedisSpeaker["client"],
  until: number | undefined,
): Promise<string | undefined> {
  if (until === undefined) return undefined;
  const [seconds] = (await client.sendCommand(["TIME"])) as unknown as readonly string[]; // Seconds and microseconds.
  return Number(seconds) * 1000 + CLOCKS_MS < until ? undefined : "the marker would not be kept any more";
}
