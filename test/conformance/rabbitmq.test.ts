import { connect as amqp, type Channel } from "amqplib";
import { rabbitmqConnector } from "../../src/connectors/rabbitmq.ts";
import { preset } from "../connectors/errand.ts";
import { rabbitmq } from "../servers/rabbitmq.ts";
import { addressOf } from "./ask.ts";
import { conform } from "./conform.ts";
import { DONE, DOUBT } from "./subject.ts";

// A connection with its handshake comes first, and on a busy machine it takes longer than what is tested.
const LIFE = { requestLife: "5s", maxPause: "5s", lease: "11s", settle: { bounded: "11s" } };

type Running = Awaited<ReturnType<typeof rabbitmq.start>>;

// A method frame on channel 1 with basic.publish, and one with basic.ack (AMQP 0-9-1, 2.3.5 and 1.8.3).
const PUBLISH = "\\x01\\x00\\x01[\\s\\S]{4}\\x00\\x3c\\x00\\x28";
const ACK = /\x01\x00\x01[\s\S]{4}\x00\x3c\x00\x50/;

async function looking<Value>(
  { url, user, password }: Running,
  work: (channel: Channel) => Promise<Value>,
): Promise<Value> {
  const model = await amqp({
    hostname: "127.0.0.1",
    port: Number(new URL(url).port),
    username: user,
    password,
  });
  try {
    return await work(await model.createChannel());
  } finally {
    await model.close();
  }
}

conform({
  name: "mandatory message with a confirm",
  server: rabbitmq,
  tool: { contract: preset("rabbitmq/publish", LIFE), expectedVersion: "none" },
  address: addressOf,
  connect: ({ user, password }, { host, port }) =>
    rabbitmqConnector({
      url: `amqp://${host}:${port}`,
      auth: { basic: { user, password } },
      allowPrivate: ["127.0.0.1"],
    }),
  speech: {
    begins: new RegExp(PUBLISH),
    middle: new RegExp(`^${PUBLISH}[\\s\\S]{40}`),
    answers: ACK,
    head: ACK,
  },
  prepare: (running, item) =>
    looking(running, async (channel) => {
      await channel.assertExchange("orders", "direct");
      await channel.assertQueue(item, { durable: true });
      await channel.bindQueue(item, "orders", item);
      return { arguments: { quantity: 2 } };
    }),
  effects: (running, { item }) =>
    looking(running, async (channel) => (await channel.checkQueue(item)).messageCount),
  ends: {
    direct: DONE,
    "before send": DOUBT.withoutEffect,
    "mid body": DOUBT.withoutEffect,
    "after effect": DOUBT.withEffect,
    "after headers": DOUBT.withEffect,
  },
});
