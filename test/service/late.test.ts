import { describe, expect, test } from "vitest";
import type { Operation } from "../../src/core/operation.ts";
import type { Proposed } from "../../src/service/propose.ts";
import { movableProcessClock } from "../support/process-clock.ts";
import { KINDS, LEASE_MS, type Shop, type ShopOptions, shop } from "../support/shop.ts";
import { type Standstill, standstill } from "../support/standstill.ts";

interface Stopped {
  readonly here: Shop;
  readonly worker: Standstill;
  readonly begun: Proposed;
  readonly operation: Operation;
}

/** An operation whose worker stands still under its claim. */
async function stopped(where: "before" | "after", options: ShopOptions): Promise<Stopped> {
  const worker = standstill();
  const here = await shop({ ...options, through: worker.through });
  worker.stop(where);
  const begun = await here.ask({ order: "o1", item: "main/bolt", quantity: 1 }, { tool: "orders.place" });
  await worker.stopped();
  return { here, worker, begun, operation: begun.operation };
}

/** The lease ends while the worker still stands. */
async function leaseEnds({ here, operation }: Stopped): Promise<Operation> {
  await here.clock.ahead(LEASE_MS + 100);
  return here.step(operation);
}

const posts = (here: Shop) => here.provider.requests().filter((request) => request.method === "POST");

describe("a worker that was killed under its claim", () => {
  test("C057: before its lease ends nobody touches the operation", async () => {
    const it = await stopped("before", { of: "key" });

    const early = await it.here.step(it.operation);

    expect(early).toMatchObject({ state: "executing", revision: it.operation.revision });
    expect(posts(it.here)).toHaveLength(0);
    it.worker.release();
    await it.begun.done;
  });

  test("C057, C058: with a key, the next worker sends under the same key: one effect", async () => {
    const it = await stopped("before", { of: "key" });

    const unknown = await leaseEnds(it);
    const settled = await it.here.drive(unknown);

    expect(unknown).toMatchObject({ state: "unknown" });
    expect(settled).toMatchObject({ state: "succeeded", attempts: [{ n: 1 }, { n: 2 }] });
    expect(posts(it.here).map((request) => request.key)).toEqual([it.operation.id]);
    expect(it.here.orders()).toBe(1);
    it.worker.release();
    await it.begun.done;
    expect(it.here.orders()).toBe(1);
  });

  test.each(["before", "after"] as const)(
    "C007, C058, C088: without any guarantee (killed %s the request), the end of the lease is never a second request, but a person's",
    async (where) => {
      const it = await stopped(where, { of: "nothing" });

      const unknown = await leaseEnds(it);

      expect(unknown).toMatchObject({ state: "unknown", attention: expect.any(String) });
      expect(unknown.dueAt).toBeUndefined();
      expect(posts(it.here)).toHaveLength(where === "before" ? 0 : 1);
      it.worker.release();
      await it.begun.done;
    },
  );

  test("with a lookup, what was never sent is settled as not applied", async () => {
    const it = await stopped("before", { of: "lookup" });

    const settled = await it.here.drive(await leaseEnds(it));

    expect(settled).toMatchObject({ state: "rejected", reason: "not_applied" });
    it.worker.release();
    await it.begun.done;
  });
});

describe("an answer that comes after the lease", () => {
  test("C086: is recorded on its own attempt and settles the operation: one request, one effect", async () => {
    const it = await stopped("after", { of: "nothing" });
    const unknown = await leaseEnds(it);

    it.worker.release();
    const settled = await it.begun.done;

    expect(unknown.state).toBe("unknown");
    expect(settled).toMatchObject({
      state: "succeeded",
      attempts: [{ n: 1, outcome: { kind: "confirmed" } }],
    });
    expect(settled?.attention).toBeUndefined();
    expect(posts(it.here)).toHaveLength(1);
  });

  test("of an attempt that another one has overtaken, is kept and changes nothing", async () => {
    const it = await stopped("after", { of: "key" });
    const settled = await it.here.drive(await leaseEnds(it));
    const receipt = await it.here.ledger.receipt(settled.tenantId, settled.id);

    it.worker.release();
    const late = await it.begun.done;

    expect(settled).toMatchObject({ state: "succeeded", attempts: [{ n: 1 }, { n: 2 }] });
    expect(late).toMatchObject({ state: "succeeded", attempts: [{ outcome: { kind: "confirmed" } }, {}] });
    expect(late?.settledAt).toBe(settled.settledAt);
    expect(await it.here.ledger.receipt(settled.tenantId, settled.id)).toBe(receipt);
    expect(it.here.alarms).toEqual([]);
    expect(it.here.orders()).toBe(1);
  });

  test("against a settled operation raises the alarm, is kept, becomes a person's case, and changes neither state nor receipt", async () => {
    // The contract promises that an effect is visible after five seconds; this provider shows it after an hour.
    const it = await stopped("after", { of: "lookup", guarantees: { lookup: { lagMs: 3_600_000 } } });
    const rejected = await it.here.drive(await leaseEnds(it));
    const receipt = await it.here.ledger.receipt(rejected.tenantId, rejected.id);

    it.worker.release();
    await it.begun.done;

    const late = await it.here.again(rejected);
    expect(rejected).toMatchObject({ state: "rejected", reason: "not_applied" });
    expect(late).toMatchObject({
      state: "rejected",
      reason: "not_applied",
      settledAt: rejected.settledAt,
      attempts: [{ outcome: { kind: "confirmed" } }],
      attention: expect.stringContaining("the contract is wrong"),
    });
    expect(await it.here.ledger.receipt(late.tenantId, late.id)).toBe(receipt);
    expect(it.here.alarms).toHaveLength(1);
    const [found] = await it.here.ledger.list(late.tenantId, { attention: true, max: 10 });
    expect(found?.id).toBe(late.id);
    const events = await it.here.ledger.events(late.tenantId, late.id);
    expect(events.slice(-2).map((event) => JSON.parse(event.body).type)).toEqual(["confirmed", "alarm"]);
  });
});

describe("the send gate", () => {
  test.each([
    ["paused for longer than it may be", "pause"],
    ["suspended, so that its monotonic clock stood still", "suspend"],
  ] as const)("C088: a worker that was %s sends nothing, and says so", async (_name, how) => {
    const clock = movableProcessClock();
    const it = await stopped("before", { of: "nothing", overrides: { clock } });
    clock[how](KINDS.nothing.contract.maxPauseMs);

    it.worker.release();
    const operation = await it.begun.done;

    expect(operation).toMatchObject({
      state: "authorized",
      attempts: [{ outcome: { kind: "absent" } }],
    });
    expect(posts(it.here)).toHaveLength(0);
    expect(await it.here.drive(operation as Operation)).toMatchObject({ state: "succeeded" });
    expect(it.here.orders()).toBe(1);
  });

  test("C026: a request that might still act when the permission has ended is not sent", async () => {
    const clock = movableProcessClock();
    const { maxPauseMs, requestLifeMs } = KINDS.nothing.contract;
    const permissionForMs = maxPauseMs + requestLifeMs + 1_500;
    const it = await stopped("before", { of: "nothing", overrides: { clock }, tool: { permissionForMs } });
    clock.pause(1_600);

    it.worker.release();
    const operation = await it.begun.done;
    const settled = await it.here.drive(operation as Operation);

    expect(operation).toMatchObject({ state: "authorized", attempts: [{ outcome: { kind: "absent" } }] });
    expect(settled).toMatchObject({ state: "rejected", reason: "expired" });
    expect(posts(it.here)).toHaveLength(0);
  });
});

test("a connector that throws has said nothing about the effect: the operation is unknown, not lost and not refused", async () => {
  const here = await shop({
    of: "nothing",
    through: (connector) => ({
      ...connector,
      perform: async (errand) => {
        await connector.perform(errand);
        throw new TypeError("a bug after the request");
      },
    }),
  });

  const operation = await here.place("o1");

  expect(operation).toMatchObject({ state: "unknown", attempts: [{ outcome: { kind: "lost" } }] });
  expect(here.orders()).toBe(1);
  expect(here.alarms).toHaveLength(1);
});
