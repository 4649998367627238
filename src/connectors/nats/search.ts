import type { ConsumerConfig, JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import type { Deadline } from "../deadline.ts";
import { LATE } from "../deadline.ts";
import type { Exchange } from "../exchange.ts";
import type { NatsSearch } from "./message.ts";
import { answered, type NatsSpeaker } from "./send.ts";

// One question must end: a busier subject than this is not searched to its end, and what was not seen is not absent.
const MESSAGES_MAX = 100_000;
const BATCH_MAX = 1_000;
// The ledger's clock and the server's may differ by minutes before anything else stops working.
const CLOCKS_MS = 10 * 60_000;

/**
 * The first message of the subject whose header has the value, or that there is none and whether the stream would still have it. Reads
 * headers only, through a consumer that the server forgets when we do.
 */
export async function find(
  { library, manager }: NatsSpeaker,
  search: NatsSearch,
  deadline: Deadline,
): Promise<Exchange> {
  const { stream, subject, header } = search;
  const { config } = await manager.streams.info(stream);
  // A consumer on such a stream would change what it keeps and who gets it.
  if (config.retention !== "limits")
    return answered(404, { kept: false, scanned: 0, why: "the stream drops what was read" });
  const { DeliverPolicy, AckPolicy } = await import("@nats-io/jetstream");
  const start: Partial<ConsumerConfig> =
    "after" in search.from
      ? { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: search.from.after + 1 }
      : {
          deliver_policy: DeliverPolicy.StartTime,
          opt_start_time: new Date(search.from.since - CLOCKS_MS).toISOString(),
        };
  const info = await manager.consumers.add(stream, {
    ...start,
    filter_subject: subject,
    ack_policy: AckPolicy.None,
    headers_only: true,
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: library.nanos(30_000),
  });
  try {
    const seen = await scan(manager, search, { consumer: info.name, pending: info.num_pending, deadline });
    if (seen === undefined)
      return { kind: "silent", cause: `the stream ${stream} did not show all of ${subject}` };
    if ("seq" in seen)
      return answered(200, { ...seen, subject, headers: { [header[0]]: header[1], ...seen.headers } });
    const why = await forgetting(manager, search);
    return answered(404, {
      kept: why === undefined,
      scanned: seen.scanned,
      ...(why === undefined ? {} : { why }),
    });
  } finally {
    await manager.consumers.delete(stream, info.name).catch(() => undefined);
  }
}

interface Scanning {
  readonly consumer: string;
  readonly pending: number;
  readonly deadline: Deadline;
}

interface Found {
  readonly seq: number;
  readonly time: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What was found, or how many messages were looked at; undefined when they were not all there to be looked at. */
async function scan(
  manager: JetStreamManager,
  { stream, header: [name, value] }: NatsSearch,
  { consumer, pending, deadline }: Scanning,
): Promise<Found | { readonly scanned: number } | undefined> {
  if (pending > MESSAGES_MAX) return undefined;
  const pull = await manager.jetstream().consumers.get(stream, consumer);
  let scanned = 0;
  while (scanned < pending) {
    const batch = await pull.fetch({
      max_messages: Math.min(BATCH_MAX, pending - scanned),
      // The client refuses to wait for less than a second.
      expires: Math.max(1_000, deadline.leftMs()),
    });
    const before = scanned;
    const messages = batch[Symbol.asyncIterator]();
    for (let next = await deadline.race(messages.next()); ; next = await deadline.race(messages.next())) {
      if (next === LATE) {
        batch.stop();
        return undefined;
      }
      if (next.done === true) break;
      const { headers, seq, time } = next.value;
      scanned += 1;
      if (headers?.get(name) !== value) continue;
      batch.stop();
      const all = headers.keys().map((key) => [key, headers.get(key)]);
      return { seq, time: time.toISOString(), headers: Object.fromEntries(all) };
    }
    if (scanned === before) return undefined;
  }
  return { scanned };
}

/**
 * Why a message that was stored after that time or sequence may be gone again, or undefined when it cannot be. Asked after the search:
 * what the stream has lost until then is seen here. Messages that somebody deletes one by one out of a subject's history are not.
 */
async function forgetting(
  manager: JetStreamManager,
  { stream, subject, from }: NatsSearch,
): Promise<string | undefined> {
  const info = await manager.streams.info(stream, { subjects_filter: subject });
  const { config, state } = info;
  if ("since" in from)
    return whole(info, from.since - CLOCKS_MS) ? undefined : "the stream has lost messages since then";
  if (config.max_age > 0) return "the stream drops messages by age";
  if (from.after > 0) {
    // The version that was replaced is still there: whatever replaced it, later, is too.
    const version = await manager.streams.getMessage(stream, { seq: from.after });
    return version?.subject === subject ? undefined : "the version that it would have replaced is gone";
  }
  if (state.messages === 0 && state.last_seq > 0) return "the stream was emptied";
  const limited = config.max_msgs > 0 || config.max_bytes > 0;
  const history = state.subjects?.[subject] ?? 0;
  const full = config.max_msgs_per_subject > 0 && history >= config.max_msgs_per_subject;
  return limited || full ? "the subject's first messages may be gone" : undefined;
}

/** No hole between the first message and the last, and the first is older than the time or the first ever. */
function whole({ state }: StreamInfo, since: number): boolean {
  const { first_seq, last_seq, messages, first_ts } = state;
  if (last_seq === 0) return true;
  if (messages === 0 || last_seq - first_seq + 1 !== messages) return false;
  return first_seq === 1 || new Date(first_ts).getTime() < since;
}
