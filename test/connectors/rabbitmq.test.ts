import { type Channel, type ChannelModel, connect } from "amqplib";
import { afterAll, beforeAll, expect } from "vitest";
import { rabbitmqConnector } from "../../src/connectors/rabbitmq.ts";
import type { BrokerSettings } from "../../src/connectors/reach.ts";
import { freePort } from "../servers/launch.ts";
import { rabbitmq } from "../servers/rabbitmq.ts";
import { needs } from "../support/needs.ts";
import { errandOf, preset } from "./errand.ts";
import { closeAfter } from "./rig.ts";

const test = needs(rabbitmq);
const PUBLISH = preset("rabbitmq/publish");

let server: Awaited<ReturnType<typeof rabbitmq.start>>;
let onlooker: ChannelModel;
let channel: Channel;

beforeAll(async () => {
  if (rabbitmq.installed() !== undefined) return;
  server = await rabbitmq.start();
  const { url, user, password } = server;
  const port = Number(new URL(url).port);
  onlooker = await connect({ hostname: "127.0.0.1", port, username: user, password });
  channel = await onlooker.createChannel();
  await channel.assertExchange("orders", "direct");
}, 120_000);
afterAll(async () => {
  await onlooker?.close();
  await server?.stop();
});

function connector(settings: Partial<BrokerSettings> = {}) {
  const { user, password, url } = server;
  const made = rabbitmqConnector({
    url,
    auth: { basic: { user, password } },
    allowPrivate: ["127.0.0.1"],
    ...settings,
  });
  closeAfter(() => made.close());
  return made;
}

async function queue(name: string): Promise<() => Promise<number>> {
  await channel.assertQueue(name, { durable: true });
  await channel.bindQueue(name, "orders", name);
  return async () => (await channel.checkQueue(name)).messageCount;
}

test("one publication is one persistent message with its id and its content; the same id again is a second message", async () => {
  const depth = await queue("once");
  const errand = errandOf(PUBLISH, { resource: "once" });

  const learned = await connector().perform(errand);
  const message = await channel.get("once", { noAck: true });
  await connector().perform(errand);
  await connector().perform({ ...errand, attempt: 2 });

  expect(learned).toMatchObject({ kind: "confirmed", evidence: { data: { attempt: 1, status: 200 } } });
  if (message === false) throw new Error("the queue is empty");
  expect(message.content.toString("utf8")).toBe('{"item":"main/bolt","quantity":2}');
  expect(message.properties).toMatchObject({
    messageId: errand.action.operationId,
    contentType: "application/json",
    deliveryMode: 2,
    headers: { "writ-digest": errand.digest },
  });
  // Why the contract permits no repeat: this is what one would do.
  expect(await depth()).toBe(2);
});

test("what no queue takes, and what no exchange is there for, is a definite no", async () => {
  const made = connector();
  const nowhere = preset("rabbitmq/publish", {
    request: { publish: { exchange: "missing", routingKey: "x", payload: "{{args}}" } },
  });

  const unroutable = await made.perform(errandOf(PUBLISH, { resource: "nobody" }));
  const missing = await made.perform(errandOf(nowhere));

  expect(unroutable).toMatchObject({
    kind: "refused",
    reason: "provider_refused",
    detail: expect.stringContaining("NO_ROUTE"),
  });
  expect(missing).toMatchObject({ kind: "refused", detail: expect.stringContaining("404") });
});

test("a closed gate, an aborted signal and a place that cannot be reached leave nothing, now and later", async () => {
  const depth = await queue("quiet");
  const at = (more = {}) => errandOf(PUBLISH, { resource: "quiet", ...more });
  const none = `amqp://127.0.0.1:${await freePort()}`;

  const learned = [
    await connector().perform(at({ gate: () => false })),
    await connector().perform(at({ signal: AbortSignal.abort() })),
    await connector({ url: none }).perform(at()),
    await connector({ allowPrivate: false }).perform(at()),
    await connector({ auth: { basic: { user: "guest", password: "wrong" } } }).perform(at()),
  ];
  await connector().perform(at());

  expect(learned.map(({ kind }) => kind)).toEqual(Array(5).fill("absent"));
  // The one that was sent last came after whatever else was on its way.
  expect(await depth()).toBe(1);
});

test("a queue that refuses to grow is not a no: another queue may have taken the message", async () => {
  await channel.assertQueue("full", {
    durable: true,
    arguments: { "x-max-length": 1, "x-overflow": "reject-publish" },
  });
  await channel.bindQueue("full", "orders", "full");
  const made = connector();
  await made.perform(errandOf(PUBLISH, { resource: "full" }));

  const learned = await made.perform(errandOf(PUBLISH, { resource: "full", operation: 2 }));

  expect(learned).toMatchObject({ kind: "lost", seen: { status: 500 } });
});
