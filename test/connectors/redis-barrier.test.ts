import { expect } from "vitest";
import { redisConnector } from "../../src/connectors/redis.ts";
import type { Operation } from "../../src/core/operation.ts";
import { cuttingProxy } from "../conformance/cutting-proxy.ts";
import { redis } from "../servers/redis.ts";
import { movableClock } from "../support/clock.ts";
import { needs } from "../support/needs.ts";
import { redisOnlooker } from "../support/onlooker-redis.ts";
import { rig } from "../support/rig.ts";
import { errandOf, preset, toolWith } from "./errand.ts";
import { closeAfter } from "./rig.ts";

const test = needs(redis);
// What was sent may act for longer than the permission lasts: only a barrier can end the doubt sooner.
const CONTRACT = preset("redis/stream-append", {
  requestLife: "5s",
  maxPause: "5s",
  lease: "11s",
  settle: { bounded: "10m" },
});
const TOOL = toolWith(CONTRACT, { name: "orders.append", title: "Append an order", provider: "cache" });

/** The first attempt is lost, nobody knows whether it arrived, and the permission lapses before anybody may repeat it. */
async function lostAndLapsed(cut: "before send" | "after effect") {
  const server = await redis.start();
  closeAfter(() => server.stop());
  const onlooker = await redisOnlooker(server);
  closeAfter(async () => onlooker.close());
  const answers = /\$\d+\r\n\{/;
  const speech = { begins: /\*\d+\r\n\$4\r\nEVAL/, middle: /^\*/, answers, head: answers };
  const target = { host: "127.0.0.1", port: Number(new URL(server.url).port) };
  const proxy = await cuttingProxy(target, speech);
  closeAfter(() => proxy.close());
  const made = redisConnector({
    url: `redis://${proxy.host}:${proxy.port}`,
    auth: { basic: { user: "default", password: server.password } },
    allowPrivate: ["127.0.0.1"],
  });
  closeAfter(() => made.close());
  const here = await rig({ tools: [TOOL], connectors: { cache: made } });
  const clock = await movableClock(here);
  proxy.cut(cut);
  const first = await here.done({ item: "bolt" }, { tool: TOOL.name, key: "k" });
  await clock.ahead(120_000);
  let last: Operation = first;
  for (let steps = 0; steps < 6 && last.settledAt === undefined; steps++) last = await here.step(last);
  const length = async () => Number(await onlooker.$("XLEN", "orders:bolt"));
  return { first, last, length, made };
}

test("a lost attempt that did not arrive is barred and rejected at once, and its late bytes have no effect", async () => {
  const { first, last, length, made } = await lostAndLapsed("before send");

  const late = errandOf(CONTRACT, { resource: "bolt", arguments: { item: "bolt" } });
  const arrived = await made.perform({
    ...late,
    action: { ...late.action, operationId: last.id },
    digest: last.digest,
  });

  expect(first.state).toBe("unknown");
  expect(last).toMatchObject({ state: "rejected", reason: "not_applied", inquiry: { barrier: "raised" } });
  expect(arrived).toMatchObject({ kind: "refused", reason: "provider_refused" });
  expect(await length()).toBe(0);
});

test("a lost attempt that did arrive succeeds by its marker, and no barrier is raised over it", async () => {
  const { first, last, length } = await lostAndLapsed("after effect");

  expect(first.state).toBe("unknown");
  expect(last.state).toBe("succeeded");
  expect(await length()).toBe(1);
});
