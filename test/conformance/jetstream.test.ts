import { natsConnector } from "../../src/connectors/nats.ts";
import { preset } from "../connectors/errand.ts";
import { type Credentialed, nats } from "../servers/nats.ts";
import { type NatsOnlooker, natsOnlooker } from "../support/onlooker-nats.ts";
import { addressOf } from "./ask.ts";
import { conform } from "./conform.ts";
import type { Address, Speech } from "./cutting-proxy.ts";
import { DONE, DOUBT, REFUSED, type Subject } from "./subject.ts";

// A connection with its handshake comes first, and on a busy machine it takes longer than what is tested.
const LIFE = { requestLife: "5s", maxPause: "5s", lease: "11s", settle: { bounded: "11s" } };

/** A publication to subjects that begin so, on a connection whose handshake is over. */
function natsSpeech(subject: string): Speech {
  const begins = `HPUB ${subject.replaceAll(/[.$]/g, "\\$&")}`;
  return {
    begins: new RegExp(begins),
    middle: new RegExp(`^${begins}[\\s\\S]*?\\r\\n[\\s\\S]{8}`),
    answers: /H?MSG _INBOX/,
    head: /H?MSG _INBOX[^\r]*\r\n/,
  };
}

function connect({ user, password }: Credentialed, { host, port }: Address) {
  return natsConnector({
    url: `nats://${host}:${port}`,
    auth: { basic: { user, password } },
    allowPrivate: ["127.0.0.1"],
  });
}

async function looking<Value>(
  running: Credentialed,
  work: (onlooker: NatsOnlooker) => Promise<Value>,
): Promise<Value> {
  const onlooker = await natsOnlooker(running);
  try {
    return await work(onlooker);
  } finally {
    await onlooker.close();
  }
}

function ofOurs(stream: string, header: string): Subject<Awaited<ReturnType<typeof nats.start>>>["effects"] {
  return (running, { operationId }) =>
    looking(running, async ({ kept }) => {
      const all = await kept(stream);
      return all.filter(({ headers }) => headers[header] === operationId).length;
    });
}

const SETTLED = {
  direct: DONE,
  "before send": DONE,
  "mid body": DONE,
  "after effect": DONE,
  "after headers": DONE,
} as const;

conform({
  name: "message under the expected sequence, with a message id",
  server: nats,
  tool: { contract: preset("nats/jetstream-publish", LIFE), expectedVersion: "required" },
  address: addressOf,
  connect,
  speech: natsSpeech("orders."),
  prepare: (running, item) =>
    looking(running, async ({ stream, write }) => {
      await stream({ name: "ORDERS", subjects: ["orders.*"] });
      return { arguments: { value: "after" }, version: String(await write(`orders.${item}`, "before")) };
    }),
  effects: ofOurs("ORDERS", "Nats-Msg-Id"),
  rival: (running, item, args) =>
    looking(running, async ({ write }) => {
      await write(`orders.${item}`, JSON.stringify({ item, ...args }));
    }),
  ends: {
    ...SETTLED,
    "before send, then another writes the same": REFUSED,
    "after effect, then another writes the same": DONE,
  },
});

conform({
  name: "message into a work queue, with a message id",
  server: nats,
  tool: { contract: preset("nats/jetstream-queue", LIFE), expectedVersion: "none" },
  address: addressOf,
  connect,
  speech: natsSpeech("jobs."),
  prepare: (running) =>
    looking(running, async ({ stream, manager }) => {
      await stream({ name: "JOBS", subjects: ["jobs.*"], retention: "workqueue" as never });
      await manager.streams.info("JOBS");
      return { arguments: { value: "after" } };
    }),
  effects: ofOurs("JOBS", "Nats-Msg-Id"),
  ends: SETTLED,
});

conform({
  name: "key of a bucket at the expected revision",
  server: nats,
  tool: { contract: preset("nats/kv-put", LIFE), expectedVersion: "required" },
  address: addressOf,
  connect,
  speech: natsSpeech("$KV.CONFIG."),
  prepare: (running, item) =>
    looking(running, async ({ stream, write }) => {
      await stream({ name: "KV_CONFIG", subjects: ["$KV.CONFIG.>"], max_msgs_per_subject: 5 });
      return { arguments: { value: "after" }, version: String(await write(`$KV.CONFIG.${item}`, "before")) };
    }),
  effects: ofOurs("KV_CONFIG", "Writ-Operation"),
  rival: (running, item, args) =>
    looking(running, async ({ write }) => {
      await write(`$KV.CONFIG.${item}`, JSON.stringify({ item, ...args }));
    }),
  ends: {
    ...SETTLED,
    "before send, then another writes the same": REFUSED,
    "after effect, then another writes the same": DONE,
  },
});

conform({
  name: "key of a bucket that keeps no history, at the expected revision",
  server: nats,
  tool: {
    contract: preset("nats/kv-put", {
      ...LIFE,
      ...bucketless("KV_PLAIN", "$KV.PLAIN."),
    }),
    expectedVersion: "required",
  },
  address: addressOf,
  connect,
  speech: natsSpeech("$KV.PLAIN."),
  prepare: (running, item) =>
    looking(running, async ({ stream, write }) => {
      await stream({ name: "KV_PLAIN", subjects: ["$KV.PLAIN.>"], max_msgs_per_subject: 1 });
      return { arguments: { value: "after" }, version: String(await write(`$KV.PLAIN.${item}`, "before")) };
    }),
  effects: ofOurs("KV_PLAIN", "Writ-Operation"),
  rival: (running, item, args) =>
    looking(running, async ({ write }) => {
      await write(`$KV.PLAIN.${item}`, JSON.stringify({ item, ...args }));
    }),
  ends: {
    ...SETTLED,
    // Nobody can see any more whose revision it was that came first: a person decides, whatever stands there.
    "before send, then another writes the same": DOUBT.withoutEffect,
    "after effect, then another writes the same": DOUBT.withoutEffect,
  },
});

/** The preset's request and lookup for another bucket. */
function bucketless(stream: string, prefix: string) {
  const subject = `${prefix}{{resource}}`;
  return {
    request: {
      publish: {
        stream,
        subject,
        headers: {
          "Nats-Msg-Id": "{{op.id}}",
          "Nats-Expected-Last-Subject-Sequence": "{{expected.version}}",
          "Writ-Operation": "{{op.id}}",
          "Writ-Digest": "{{op.digest}}",
        },
        payload: "{{args}}",
      },
    },
    lookup: [
      {
        name: "revision",
        strength: "authoritative",
        lag: "0s",
        horizon: "1h",
        request: {
          find: { stream, subject, header: { "Writ-Operation": "{{op.id}}" }, after: "{{expected.version}}" },
        },
        found: { status: 200, body: { "/headers/Writ-Operation": "{{op.id}}" } },
        absent: { status: 404, body: { "/kept": true } },
        digestAt: "/headers/Writ-Digest",
      },
    ],
    outcomes: [
      { when: { status: 200, body: { "/duplicate": true } }, is: "duplicate" },
      { when: { status: 200, body: { "/stream": stream, "/seq": { present: true } } }, is: "effect" },
      { when: { status: 400, body: { "/error/err_code": 10071 } }, is: "precondition_failed" },
    ],
  };
}
