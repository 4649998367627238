import { describe, expect, onTestFinished, test } from "vitest";
import type { Connector, Ports } from "../../src/service/ports.ts";
import { startWorker, WORKER_BOUNDS, type Worker, type WorkerBounds } from "../../src/worker.ts";
import { cutProxy } from "../support/cut-proxy.ts";
import { instance } from "../support/instance.ts";
import { type Shop, shop } from "../support/shop.ts";
import { standstill } from "../support/standstill.ts";

const QUICK: WorkerBounds = { ...WORKER_BOUNDS, idleMs: 20 };

function working(ports: Ports, bounds = QUICK): Worker {
  const worker = startWorker(ports, bounds);
  onTestFinished(() => worker.stop(5_000));
  return worker;
}

/** Operations that are authorized and due, of which nobody has taken one yet. */
async function waiting(here: Shop, count: number, tenants = ["acme"]): Promise<void> {
  for (let n = 0; n < count; n++)
    await here.place(`o${n}`, {
      key: `k${n}`,
      execute: "later",
      session: here.as({ tenantId: tenants[n % tenants.length] as never }),
    });
  await here.run("update operations set execute = 'now', due_at = writ_now()");
}

const states = async (here: Shop): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await here.run("select state, count(*)::int as n from operations group by state")).map((row) => [
      row.state,
      row.n,
    ]),
  );
const reaches = (here: Shop, wanted: Record<string, number>) =>
  expect.poll(() => states(here), { timeout: 15_000, interval: 20 }).toEqual(wanted);

/** How many requests are on their way at a time, in all and of each tenant. */
function crowd(): { through: (connector: Connector) => Connector; most: Map<string, number> } {
  const now = new Map<string, number>();
  const most = new Map<string, number>();
  const count = (name: string, by: number): void => {
    now.set(name, (now.get(name) ?? 0) + by);
    most.set(name, Math.max(most.get(name) ?? 0, now.get(name) ?? 0));
  };
  const through = (connector: Connector): Connector => ({
    ...connector,
    perform: async (errand) => {
      const names = ["all", errand.action.tenantId];
      for (const name of names) count(name, 1);
      const outcome = await connector.perform(errand);
      for (const name of names) count(name, -1);
      return outcome;
    },
  });
  return { through, most };
}

describe("a worker", () => {
  test("finds by itself what is due: an execution, a repeat, a lookup, an end of waiting, and an end of a lease", async () => {
    const here = await shop({ of: "key", tool: { reviewForMs: 60_000 } });
    await waiting(here, 3);
    here.provider.fault("drop_after");
    await here.place("lost");

    working(here.ports);

    await reaches(here, { succeeded: 4 });
    expect(here.orders()).toBe(4);
  });

  test("C057: ends what waited too long for people, though nobody asks for it", async () => {
    const here = await shop({ tool: { autonomy: "never" } });
    await here.place("o1");
    await here.clock.ahead(61_000);

    working(here.ports);

    await reaches(here, { rejected: 1 });
    expect((await here.run("select reason from operations"))[0]).toEqual({ reason: "expired" });
  });

  test("clears a lost answer by asking, and is done with it", async () => {
    const here = await shop({ of: "lookup" });
    here.provider.fault("drop_after");
    await here.place("o1");

    working(here.ports);

    await reaches(here, { succeeded: 1 });
    expect(here.orders()).toBe(1);
    expect((await here.run("select count(*)::int as n from operations where due_at is not null"))[0]).toEqual(
      {
        n: 0,
      },
    );
  });

  test("C087: leaves alone what another process is executing, also right after its start", async () => {
    const still = standstill();
    const here = await shop({ of: "nothing", through: still.through });
    still.stop("before");
    const begun = await here.ask({ order: "o1", item: "main/bolt", quantity: 1 }, { tool: "orders.place" });
    await still.stopped();
    const others = await Promise.all(["w2", "w3"].map((name) => instance(here, name)));
    for (const { ports } of others) working(ports);
    await waiting(here, 0);
    await here.place("o2", { key: "k2" });

    still.release();
    const settled = await begun.done;

    expect(settled).toMatchObject({ state: "succeeded", attempts: [{ n: 1, worker: here.ports.worker }] });
    expect(here.provider.requests()).toHaveLength(2);
  });

  test("takes on no more of one provider, and of one tenant, than it may", async () => {
    const { through, most } = crowd();
    const here = await shop({ through });
    here.provider.fault("slow", { ms: 30, times: "always", match: { method: "POST" } });
    await waiting(here, 40, ["acme", "globex"]);

    working(here.ports, { atOnceMax: 16, providerMax: 7, tenantMax: 5, idleMs: 20 });

    await reaches(here, { succeeded: 40 });
    expect(most.get("all")).toBe(7);
    expect(most.get("acme")).toBeLessThanOrEqual(5);
    expect(most.get("globex")).toBeLessThanOrEqual(5);
    expect(here.orders()).toBe(40);
  });

  test("C013, C070: three of them share the work: each operation once, each within its own bounds", async () => {
    const { through, most } = crowd();
    const here = await shop({ through, of: "nothing" });
    here.provider.fault("slow", { ms: 10, times: "always", match: { method: "POST" } });
    await waiting(here, 60, ["acme", "globex"]);
    const others = await Promise.all(["w2", "w3"].map((name) => instance(here, name)));

    for (const { ports } of [here, ...others])
      working(ports, { atOnceMax: 6, providerMax: 4, tenantMax: 4, idleMs: 20 });

    await reaches(here, { succeeded: 60 });
    expect(most.get("all")).toBeLessThanOrEqual(12);
    expect(here.orders()).toBe(60);
    expect(here.provider.requests().filter((request) => request.method === "POST")).toHaveLength(60);
    const [tried] = await here.run("select max(jsonb_array_length(attempts))::int as n from operations");
    expect(tried).toEqual({ n: 1 });
  });

  test("told to stop, finishes what is in hand and leaves the rest where it was", async () => {
    const still = standstill();
    const here = await shop({ through: still.through });
    await waiting(here, 5);
    still.stop("after");
    const worker = startWorker(here.ports, { ...QUICK, atOnceMax: 1, providerMax: 1, tenantMax: 1 });
    await still.stopped();

    const stopping = worker.stop(10_000);
    still.release();
    await stopping;
    const then = await states(here);

    expect(then).toEqual({ succeeded: 1, authorized: 4 });
    expect(here.orders()).toBe(1);
  });

  test("told to stop, does not wait for ever for what hangs: its lease ends and somebody else asks", async () => {
    const still = standstill();
    const here = await shop({ of: "lookup", through: still.through });
    await waiting(here, 1);
    still.stop("after");
    const worker = startWorker(here.ports, QUICK);
    await still.stopped();

    await worker.stop(50);
    await here.clock.ahead(7_000);
    working((await instance(here, "w2")).ports);

    await reaches(here, { succeeded: 1 });
    still.release();
    expect(here.orders()).toBe(1);
  });

  test("outlives an absence of the database, and goes on when it is back", async () => {
    const here = await shop();
    const proxy = await cutProxy(here.url);
    const behind = await instance(here, "w2", proxy.url);
    await waiting(here, 6);
    const cut = proxy.cut("before commit", "writ_now()", "down");

    working(behind.ports, { ...QUICK, atOnceMax: 2 });
    await cut;
    proxy.up();

    await reaches(here, { succeeded: 6 });
    expect(here.orders()).toBe(6);
  });
});
