import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect } from "vitest";
import { natsConnector } from "../../src/connectors/nats.ts";
import { redisConnector } from "../../src/connectors/redis.ts";
import { nats } from "../servers/nats.ts";
import { redis } from "../servers/redis.ts";
import { needs } from "../support/needs.ts";
import { natsOnlooker } from "../support/onlooker-nats.ts";
import { redisOnlooker } from "../support/onlooker-redis.ts";
import { errandOf, preset } from "./errand.ts";
import { closeAfter } from "./rig.ts";

/** A wire that is there, or not: what the client says while it is gone reaches nobody. */
async function wireTo(url: string) {
  const sockets = new Set<Socket>();
  let up = true;
  let opened = 0;
  const server = createServer((client) => {
    if (!up) return void client.destroy();
    opened += 1;
    const upstream = connect(Number(new URL(url).port), "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const down = (): void => {
    up = false;
    for (const socket of sockets) socket.destroy();
  };
  closeAfter(async () => {
    down();
    server.close();
  });
  const there = new URL(url);
  there.port = String((server.address() as AddressInfo).port); // It listens on TCP.
  return {
    url: there.href,
    down,
    opened: () => opened,
    restore: () => {
      up = true;
    },
  };
}

describe("a connection that was kept and has ended", () => {
  needs(nats)(
    "NATS: what was proposed while it was away is unsent and never arrives; the next message opens a new one",
    async () => {
      const server = await nats.start();
      closeAfter(() => server.stop());
      const onlooker = await natsOnlooker(server);
      closeAfter(() => onlooker.close());
      await onlooker.stream({ name: "JOBS", subjects: ["jobs.>"] });
      const wire = await wireTo(server.url);
      const { user, password } = server;
      const auth = { basic: { user, password } };
      const made = natsConnector({ url: wire.url.replace(/\/$/, ""), auth, allowPrivate: ["127.0.0.1"] });
      closeAfter(() => made.close());
      const perform = (operation: number) =>
        made.perform(errandOf(preset("nats/jetstream-queue"), { resource: "held", operation }));

      const kinds = [(await perform(1)).kind];
      wire.down();
      kinds.push((await perform(2)).kind, (await perform(3)).kind);
      wire.restore();
      kinds.push((await perform(4)).kind);

      // The first one after the end may not have heard of it yet: then it is lost, and not said to be absent.
      expect(kinds).toEqual(["confirmed", expect.stringMatching(/absent|lost/), "absent", "confirmed"]);
      const ids = (await onlooker.kept("JOBS")).map(({ headers }) => headers["Nats-Msg-Id"]);
      expect(ids).toEqual([1, 4].map((operation) => idOf(operation)));
      // Each time one to hear the server's first word, and one to speak on.
      expect(wire.opened()).toBe(4);
    },
  );

  needs(redis)(
    "Redis: what was proposed while it was away is unsent and never arrives; the next message opens a new one",
    async () => {
      const server = await redis.start();
      closeAfter(() => server.stop());
      const onlooker = await redisOnlooker(server);
      closeAfter(async () => onlooker.close());
      const wire = await wireTo(server.url);
      const made = redisConnector({
        url: wire.url,
        auth: { basic: { user: "default", password: server.password } },
        allowPrivate: ["127.0.0.1"],
      });
      closeAfter(() => made.close());
      const perform = (operation: number) =>
        made.perform(errandOf(preset("redis/stream-append"), { resource: "held", operation }));

      const kinds = [(await perform(1)).kind];
      wire.down();
      kinds.push((await perform(2)).kind, (await perform(3)).kind);
      wire.restore();
      kinds.push((await perform(4)).kind);

      expect(kinds).toEqual(["confirmed", expect.stringMatching(/absent|lost/), "absent", "confirmed"]);
      const entries = (await onlooker.$("XRANGE", "orders:held", "-", "+")) as readonly [string, string[]][];
      expect(entries.map(([, words]) => words[1])).toEqual([1, 4].map((operation) => idOf(operation)));
      expect(wire.opened()).toBe(2);
    },
  );
});

function idOf(operation: number): string {
  return errandOf(preset("redis/stream-append"), { operation }).action.operationId;
}
