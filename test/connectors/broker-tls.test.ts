import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { createServer } from "node:tls";
import { expect } from "vitest";
import { natsConnector } from "../../src/connectors/nats.ts";
import { redisConnector } from "../../src/connectors/redis.ts";
import { nats, startNats } from "../servers/nats.ts";
import { redis } from "../servers/redis.ts";
import { needs } from "../support/needs.ts";
import { natsOnlooker } from "../support/onlooker-nats.ts";
import { redisOnlooker } from "../support/onlooker-redis.ts";
import { selfSigned } from "./certificate.ts";
import { errandOf, preset } from "./errand.ts";
import { closeAfter } from "./rig.ts";

const { key, cert } = selfSigned("localhost");
const stranger = selfSigned("localhost").cert;

// What docs/connectors/nats.md says that the user needs.
const NEEDED = [
  "orders.>",
  "$JS.API.STREAM.INFO.ORDERS",
  "$JS.API.STREAM.MSG.GET.ORDERS",
  "$JS.API.CONSUMER.CREATE.ORDERS",
  ...["INFO", "MSG.NEXT", "DELETE"].map((verb) => `$JS.API.CONSUMER.${verb}.ORDERS.>`),
];

needs(nats)(
  "NATS: inside of TLS, with the permissions that the page names, everything works; with another authority's certificate nothing is sent",
  async () => {
    const server = await startNats({ tls: { key, cert }, mayPublish: NEEDED });
    closeAfter(() => server.stop());
    const url = server.url.replace("127.0.0.1", "localhost");
    const onlooker = await natsOnlooker({ ...server, url }, cert);
    closeAfter(() => onlooker.close());
    await onlooker.stream({ name: "ORDERS", subjects: ["orders.>"] });
    const version = String(await onlooker.write("orders.tls", "before"));
    const to = (ca: string, at = url) => {
      const auth = { basic: { user: "limited", password: server.password } };
      const made = natsConnector({ url: at, auth, ca, allowPrivate: ["localhost"] });
      closeAfter(() => made.close());
      return made;
    };
    const errand = errandOf(preset("nats/jetstream-publish"), { resource: "tls", expectedVersion: version });
    const elsewhere = preset("nats/jetstream-queue", {
      request: { publish: { stream: "ORDERS", subject: "jobs.x", headers: { "Nats-Msg-Id": "{{op.id}}" } } },
    });

    const refused = await to(stranger).perform(errand);
    const open = await to(cert, url.replace("tls:", "nats:")).perform(errand);
    const learned = await to(cert).perform(errand);
    const found = await to(cert).lookUp({ ...errand, firstSentAt: Date.now() }, "message_id");
    const forbidden = await to(cert).perform(errandOf(elsewhere));

    expect([refused.kind, open.kind, learned.kind, found.kind]).toEqual([
      "absent",
      "absent",
      "confirmed",
      "confirmed",
    ]);
    expect(forbidden).toMatchObject({ kind: "refused", reason: "provider_refused" });
    expect(await onlooker.kept("ORDERS")).toHaveLength(2);
  },
);

needs(redis)(
  "Redis: inside of TLS the certificate is checked against the name in the settings; with another authority's nothing is sent",
  async () => {
    const server = await redis.start();
    closeAfter(() => server.stop());
    const onlooker = await redisOnlooker(server);
    closeAfter(async () => onlooker.close());
    const port = await tlsBefore(Number(new URL(server.url).port));
    const to = (host: string, ca: string) => {
      const made = redisConnector({
        url: `rediss://${host}:${port}`,
        auth: { basic: { user: "default", password: server.password } },
        ca,
        allowPrivate: ["localhost", "127.0.0.1"],
      });
      closeAfter(() => made.close());
      return made;
    };
    const errand = errandOf(preset("redis/stream-append"));

    const refused = [
      await to("localhost", stranger).perform(errand),
      await to("127.0.0.1", cert).perform(errand),
    ];
    const before = await onlooker.$("KEYS", "*");
    const learned = await to("localhost", cert).perform(errand);

    expect(refused.map(({ kind }) => kind)).toEqual(["absent", "absent"]);
    expect(before).toEqual([]);
    expect(learned.kind).toBe("confirmed");
    expect(await onlooker.$("XLEN", "orders:main/bolt")).toBe(1);
  },
);

/** Takes TLS off before a server that speaks without. */
async function tlsBefore(port: number): Promise<number> {
  const server = createServer({ key, cert }, (socket) => {
    const upstream = connect(port, "127.0.0.1");
    for (const side of [socket, upstream]) side.on("error", () => undefined);
    socket.pipe(upstream).pipe(socket);
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closeAfter(async () => void server.close());
  return (server.address() as AddressInfo).port; // It listens on TCP.
}
