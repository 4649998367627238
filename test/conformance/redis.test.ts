import { redisConnector } from "../../src/connectors/redis.ts";
import { preset } from "../connectors/errand.ts";
import { redis } from "../servers/redis.ts";
import { type RedisOnlooker, redisOnlooker } from "../support/onlooker-redis.ts";
import { addressOf } from "./ask.ts";
import { conform } from "./conform.ts";
import type { Address, Speech } from "./cutting-proxy.ts";
import { DONE, REFUSED } from "./subject.ts";

// A connection with its handshake comes first, and on a busy machine it takes longer than what is tested.
const LIFE = { requestLife: "5s", maxPause: "5s", lease: "11s", settle: { bounded: "11s" } };

type Running = Awaited<ReturnType<typeof redis.start>>;

/** The one script of a connection, and its answer: a bulk string. */
const SPEECH: Speech = {
  begins: /\*\d+\r\n\$4\r\nEVAL\r\n/,
  middle: /^\*\d+\r\n\$4\r\nEVAL\r\n[\s\S]{64}/,
  answers: /\$\d+\r\n\{/,
  head: /\$\d+\r\n\{/,
};

function connect({ password }: Running, { host, port }: Address) {
  return redisConnector({
    url: `redis://${host}:${port}`,
    auth: { basic: { user: "default", password } },
    allowPrivate: ["127.0.0.1"],
  });
}

async function looking<Value>(
  running: Running,
  work: (onlooker: RedisOnlooker) => Promise<Value>,
): Promise<Value> {
  const onlooker = await redisOnlooker(running);
  try {
    return await work(onlooker);
  } finally {
    onlooker.close();
  }
}

const SETTLED = {
  direct: DONE,
  "before send": DONE,
  "mid body": DONE,
  "after effect": DONE,
  "after headers": DONE,
  "after effect, then another writes the same": DONE,
} as const;

conform({
  name: "hash at the expected version, with a marker in the same script",
  server: redis,
  tool: {
    contract: preset("redis/marker", {
      ...LIFE,
      request: {
        write: {
          marker: "{{vars.marker}}",
          operation: "{{op.id}}",
          digest: "{{op.digest}}",
          keep: "30d",
          expect: { key: "item:{{resource}}", field: "version", is: "{{expected.version}}" },
          // The effect is counted where it happens: once for every script that got so far.
          do: [
            ["HSET", "item:{{resource}}", "available", "{{args.available}}"],
            ["INCRBY", "effects:{{op.id}}", 1],
          ],
        },
      },
    }),
    expectedVersion: "required",
  },
  address: addressOf,
  connect,
  speech: SPEECH,
  prepare: (running, item) =>
    looking(running, async ({ $ }) => {
      await $("HSET", `item:${item}`, "available", "20", "version", "7");
      return { arguments: { available: 18 }, version: "7" };
    }),
  effects: (running, { operationId }) =>
    looking(running, async ({ $ }) => Number((await $("GET", `effects:${operationId}`)) ?? 0)),
  rival: (running, item) =>
    looking(running, async ({ $ }) => {
      await $("HSET", `item:${item}`, "available", "18");
      await $("HINCRBY", `item:${item}`, "version", "1");
    }),
  ends: { ...SETTLED, "before send, then another writes the same": REFUSED },
});

conform({
  name: "entry of a stream, with a marker in the same script",
  server: redis,
  tool: { contract: preset("redis/stream-append", LIFE), expectedVersion: "none" },
  address: addressOf,
  connect,
  speech: SPEECH,
  prepare: async () => ({ arguments: { quantity: 2 } }),
  effects: (running, { item, operationId }) =>
    looking(running, async ({ $ }) => {
      const entries = (await $("XRANGE", `orders:${item}`, "-", "+")) as readonly [
        string,
        readonly string[],
      ][];
      return entries.filter(([, fields]) => fields.includes(operationId)).length;
    }),
  rival: (running, item) =>
    looking(running, async ({ $ }) => {
      await $("XADD", `orders:${item}`, "*", "order", JSON.stringify({ quantity: 2 }));
    }),
  // Another's equal entry is another entry.
  ends: { ...SETTLED, "before send, then another writes the same": DONE },
});
