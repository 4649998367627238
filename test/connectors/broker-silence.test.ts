import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import type { ContractConnector } from "../../src/connectors/contract-connector.ts";
import { natsConnector } from "../../src/connectors/nats.ts";
import { rabbitmqConnector } from "../../src/connectors/rabbitmq.ts";
import { type BrokerSettings, pinnedBroker } from "../../src/connectors/reach.ts";
import { redisConnector } from "../../src/connectors/redis.ts";
import { errandOf, living, preset } from "./errand.ts";
import { closeAfter } from "./rig.ts";

interface Kind {
  readonly preset: string;
  readonly scheme: string;
  readonly connect: (settings: BrokerSettings) => ContractConnector;
}

const KINDS: readonly Kind[] = [
  { preset: "nats/jetstream-queue", scheme: "nats", connect: natsConnector },
  { preset: "redis/stream-append", scheme: "redis", connect: redisConnector },
  { preset: "rabbitmq/publish", scheme: "amqp", connect: rabbitmqConnector },
];
const AUTH = { basic: { user: "writ", password: "the-word-of-this-test" } };

/** Accepts connections, hears, and says what it is told to. */
async function listener(says: string): Promise<{ readonly port: number; readonly open: () => number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", () => socket.write(says));
    if (says !== "") socket.write(says);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closeAfter(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return { port, open: () => sockets.size };
}

test.each(KINDS)(
  "$scheme: a server that accepts and says nothing, or something else, is an absence in its time, and no connection stays behind",
  async ({ preset: name, scheme, connect }) => {
    for (const says of ["", "HTTP/1.1 400 Bad Request\r\n\r\n"]) {
      const { port, open } = await listener(says);
      const url = `${scheme}://127.0.0.1:${port}`;
      const made = connect({ url, auth: AUTH, allowPrivate: ["127.0.0.1"], connectMs: 500 });
      closeAfter(() => made.close());

      const learned = await made.perform(errandOf(preset(name, living("250ms"))));

      expect(learned.kind).toBe("absent");
      expect(JSON.stringify(learned)).not.toContain(AUTH.basic.password);
      await expect.poll(open, { timeout: 10_000 }).toBe(0);
    }
  },
);

test.each(KINDS)(
  "$scheme: settings that could be read as something else are refused before anything is opened",
  ({ scheme, connect }) => {
    const url = `${scheme}://broker.acme.example`;
    for (const settings of [
      { url: "https://broker.acme.example", auth: AUTH },
      { url: `${scheme}://writ:word@broker.acme.example`, auth: AUTH },
      { url: `${url}?x=1`, auth: AUTH },
      { url: [], auth: AUTH },
    ])
      expect(() => connect(settings)).toThrow(/^the provider's "url"/);
    expect(() => connect({ url, auth: AUTH })).not.toThrow();
  },
);

test("what an action pins holds no credential, and changes with it", () => {
  const schemes = { plain: "nats", tls: "tls", port: { plain: 1, tls: 1 } };
  const pin = (password: string) =>
    JSON.stringify(
      pinnedBroker("nats", { url: "nats://a.example", auth: { basic: { user: "writ", password } } }, schemes),
    );

  expect(pin("one-word")).not.toContain("one-word");
  expect(pin("one-word")).toBe(pin("one-word"));
  expect(pin("one-word")).not.toBe(pin("another"));
});
