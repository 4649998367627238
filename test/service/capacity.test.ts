import { expect, test } from "vitest";
import { CAPACITY, capacity } from "../../src/service/capacity.ts";
import { startWorker, WORKER_BOUNDS } from "../../src/worker.ts";
import { shop } from "../support/shop.ts";

test("a provider and a tenant have so many places each; a place is given back once", () => {
  const places = capacity({ providerMax: 3, tenantMax: 2 });
  const take = (provider: string, tenant: string) => places.take(provider, tenant as never);

  const first = take("shop", "acme");
  const second = take("shop", "acme");
  expect([take("shop", "acme"), take("desk", "acme")]).toEqual([undefined, undefined]);
  expect(take("shop", "globex")).toBeDefined();
  expect(take("shop", "initech")).toBeUndefined();
  first?.free();
  first?.free();
  expect(take("shop", "acme")).toBeDefined();
  expect(take("shop", "acme")).toBeUndefined();
  second?.free();
});

test("when a provider hangs, so many proposals are sent and wait; the others are authorized at once, and a worker executes each of them once", {
  timeout: 60_000,
}, async () => {
  const here = await shop({
    of: "key",
    overrides: { capacity: capacity({ ...CAPACITY, providerMax: 4 }) },
  });
  here.provider.fault("slow", { ms: 1_500, times: 4 });

  const asked = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      here.ask({ order: `o${n}`, item: "main/bolt", quantity: 1 }, { tool: "orders.place", key: `k${n}` }),
    ),
  );
  const states = asked.map(({ operation }) => operation.state);

  expect(states.filter((state) => state === "executing")).toHaveLength(4);
  expect(states.filter((state) => state === "authorized")).toHaveLength(16);
  const worker = startWorker(here.ports, { ...WORKER_BOUNDS, idleMs: 20 });
  await expect
    .poll(
      async () =>
        (await Promise.all(asked.map(({ operation }) => here.again(operation)))).map(
          (o) => o.reason ?? o.state,
        ),
      {
        timeout: 30_000,
      },
    )
    .toEqual(Array.from({ length: 20 }, () => "succeeded"));
  await worker.stop(1_000);
  expect(here.orders()).toBe(20);
});
