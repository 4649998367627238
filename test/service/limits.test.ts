import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type OperationId, operationIdOf } from "../../src/core/ids.ts";
import { type Draw, type Limit, type Reservation, reserve } from "../../src/core/limits.ts";
import { connect } from "../../src/database/pool.ts";
import { statement } from "../../src/database/sql.ts";
import { fullRooms, reserveQueries } from "../../src/ledger/limits.ts";
import { executeLater } from "../../src/service/cancel.ts";
import { movableClock } from "../support/clock.ts";
import { type RigOptions, rig, STOCK_TOOL } from "../support/rig.ts";
import { LEASE_MS, SETTLE_MS, shop } from "../support/shop.ts";
import { refusal, rowsOf, stocked } from "../support/stock.ts";

const HOUR = 3_600_000;
const limit = (change: Partial<Limit> = {}): Limit => ({
  name: "three an hour",
  by: [],
  of: "operations",
  max: 3,
  window: { kind: "sliding", forMs: HOUR },
  ...change,
});
const limited = (limits: readonly Limit[], options: RigOptions = {}) =>
  rig({ tools: [{ ...STOCK_TOOL, limits, lookalikes: "off" }], ...options });
const line = (n: number) => ({ warehouse: "wh_1", item: `item-${n}`, available: n });

describe("a limit on effects in our own database", () => {
  test("lets exactly as many through as it says, of fifty at once; the others store nothing and are told when", async () => {
    const here = await limited([limit()]);
    for (let n = 0; n < 50; n++) await stocked(here, `item-${n}`, 1);

    const answers = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) => here.done(line(n), { version: 1 })),
    );

    const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
    const [written] = await here.run("select count(*)::int as n from inventory where writes > 0");
    expect(written?.n).toBe(3);
    expect(refused).toHaveLength(47);
    for (const problem of refused) {
      expect(problem).toMatchObject({ code: "limit_exceeded" });
      expect(problem.details.retryAfterMs).toBeGreaterThanOrEqual(60_000);
    }
    expect(await rowsOf(here, "operations")).toBe(3);
  });

  test("counts a stale version for nothing: what was rejected gives its room back", async () => {
    const here = await limited([limit({ max: 1 })]);
    await stocked(here, "item-1", 1);

    const stale = await here.done(line(1), { version: 7, key: "a" });
    const good = await here.done(line(1), { version: 1, key: "b" });
    const none = await refusal(here.done(line(1), { version: 2, key: "c" }));

    expect([stale.state, good.state, none.code]).toEqual(["rejected", "succeeded", "limit_exceeded"]);
    expect(await rowsOf(here, "reservations")).toBe(1);
  });

  test("sums an argument, for each principal apart, and never across tenants", async () => {
    const sums = limit({ name: "units", of: { sum: "/available" }, max: 10, by: ["principal"] });
    const here = await limited([sums]);
    for (const n of [4, 6, 1]) await stocked(here, `item-${n}`, 1);
    const bob = here.as({ principalId: "test#bob" });
    const globex = here.as({ tenantId: "globex" as never });
    await here.run(
      "insert into inventory select 'globex', warehouse, item, available, version from inventory",
    );

    const states = [
      (await here.done(line(4), { version: 1 })).state,
      (await here.done(line(6), { version: 1 })).state,
      (await refusal(here.done(line(1), { version: 1 }))).code,
      (await here.done(line(1), { version: 1, session: bob })).state,
      (await here.done(line(6), { version: 1, session: globex })).state,
    ];

    expect(states).toEqual(["succeeded", "succeeded", "limit_exceeded", "succeeded", "succeeded"]);
  });

  test("met at the claim, keeps what is authorized, due again when there is room, and then it runs", async () => {
    const here = await limited([limit({ max: 1, window: { kind: "fixed", forMs: 20_000 } })]);
    const clock = await movableClock(here);
    for (const n of [1, 2]) await stocked(here, `item-${n}`, 1);
    await here.done(line(1), { version: 1 });
    const later = await here.done(line(2), { version: 1, execute: "later" });

    await executeLater(here.ports, here.session, later.id).catch(() => undefined);
    const waiting = await here.again(later);
    const before = await here.stock("item-2");
    await clock.ahead(20_000);
    await executeLater(here.ports, here.session, later.id);

    expect(waiting).toMatchObject({ state: "authorized", attempts: [] });
    expect(before?.writes).toBe(0);
    expect((await here.again(later)).state).toBe("succeeded");
    expect((await here.stock("item-2"))?.writes).toBe(1);
  });

  test("reserves all that an operation draws, or nothing of it", async () => {
    const here = await limited([limit({ name: "wide", max: 5 }), limit({ name: "narrow", max: 1 })]);
    for (const n of [1, 2]) await stocked(here, `item-${n}`, 1);

    await here.done(line(1), { version: 1 });
    const refused = await refusal(here.done(line(2), { version: 1 }));

    expect(refused).toMatchObject({ code: "limit_exceeded" });
    expect(refused.retryAfterMs).toBeGreaterThan(HOUR - 60_000);
    expect(await rowsOf(here, "reservations")).toBe(2);
  });
});

describe("a limit on effects elsewhere", () => {
  const one = limit({ name: "one", max: 1 });

  test("is held for as long as the outcome is unknown, and given back when it is proved that nothing happened", async () => {
    const here = await shop({ of: "lookup", tool: { limits: [one] } });
    here.provider.fault("drop_before");

    const lost = await here.place("o1");
    await here.clock.ahead(2 * HOUR);
    const meanwhile = await refusal(here.place("o2", { key: "second" }));
    await here.clock.ahead(LEASE_MS + SETTLE_MS);
    const settledLater = await here.drive(lost);

    expect(lost.state).toBe("unknown");
    expect(meanwhile.code).toBe("limit_exceeded");
    expect(["succeeded", "rejected"]).toContain(settledLater.state);
    expect(await rowsOf(here, "reservations")).toBe(settledLater.state === "succeeded" ? 1 : 0);
  });

  test("is taken once by an operation that is repeated", async () => {
    const here = await shop({ of: "key", tool: { limits: [one] } });
    here.provider.fault("drop_after");

    const lost = await here.place("o1");
    const done = await here.drive(lost);

    expect(done).toMatchObject({ state: "succeeded" });
    expect(done.attempts.length).toBeGreaterThan(1);
    expect(here.orders()).toBe(1);
    expect(await rowsOf(here, "reservations")).toBe(1);
  });
});

const id = (n: number): OperationId => operationIdOf(n.toString(16).padStart(32, "0"));
const LIFE = fc.array(
  fc.record({
    passMs: fc.integer({ min: 0, max: HOUR / 2 }),
    amount: fc.constantFrom(0.1, 0.2, 0.7, 1, 2, 3.3),
    settles: fc.constantFrom<"succeeded" | "rejected" | undefined>("succeeded", "rejected", undefined),
    which: fc.nat(20),
  }),
  { maxLength: 12 },
);

test("the database reserves exactly as the core's own arithmetic says, in every life of a limit", {
  timeout: 60_000,
}, async () => {
  const here = await rig();
  const clock = await movableClock(here);
  await here.run(
    "create or replace function writ_clock() returns timestamptz language sql volatile as $$ select to_timestamp((select last_value from test_ahead) / 1000.0) $$",
  );
  let lives = 0;

  await fc.assert(
    fc.asyncProperty(
      LIFE,
      fc.constantFrom<"sliding" | "fixed" | "ever">("sliding", "fixed", "ever"),
      async (steps, kind) => {
        const room = `life ${lives++}`;
        const window = kind === "ever" ? { kind } : { kind, forMs: HOUR };
        const rule: Limit = { name: "l", by: [], of: "operations", max: 5, window };
        let held: readonly Reservation[] = [];
        let now = 0;
        for (const [n, { passMs, amount, settles, which }] of steps.entries()) {
          now += passMs;
          await clock.ahead(passMs);
          const [at] = await here.run("select writ_ms(writ_clock()) as at");
          const base = Number(at?.at) - now;
          const pending = held.filter((reservation) => reservation.settledAt === undefined);
          const chosen = pending[which % Math.max(1, pending.length)];
          if (settles !== undefined && chosen !== undefined) {
            const named = [chosen.operationId.slice(3), room];
            if (settles === "rejected") {
              await here.run("delete from reservations where operation_id = $1::uuid and room = $2", named);
              held = held.filter((one) => one !== chosen);
            } else {
              await here.run(
                "update reservations set settled_at = writ_clock() where operation_id = $1::uuid and room = $2",
                named,
              );
              held = held.map((one) => (one === chosen ? { ...one, settledAt: base + now } : one));
            }
          }
          const draw: Draw = { name: "l", room, amount, max: rule.max, window };
          const wanted = { operationId: id(lives * 100 + n), amount };
          const answers = await here.database.flight(
            reserveQueries([
              {
                ord: 0,
                operation: { tenantId: here.session.tenantId, id: wanted.operationId },
                draws: [draw],
              },
            ]),
          );
          const full = fullRooms(answers.at(-1)).get(0);

          const expected = reserve(rule, held, wanted, base + now);

          expect(full === undefined).toBe(expected.ok);
          if (!expected.ok) expect(full?.retryAt).toBe(expected.retryAt);
          else held = [...held, expected.reservation];
        }
      },
    ),
    { numRuns: 40 },
  );
});

test("broken: without a lock on its room, two connections let more through than the limit says", async () => {
  const here = await rig();
  const [a, b] = [await connect({ url: here.url }), await connect({ url: here.url })];
  const draw: Draw = { name: "l", room: "r", amount: 1, max: 1, window: { kind: "ever" } };
  const drawing = (n: number) => ({
    ord: 0,
    operation: { tenantId: here.session.tenantId, id: id(n) },
    draws: [draw],
  });
  const unlocked = (n: number) => reserveQueries([drawing(n)]).slice(1);
  const pause = statement("select pg_sleep(0.3)", []);

  await Promise.all([a.flight([...unlocked(1), pause]), b.flight([...unlocked(2), pause])]);
  const broken = await rowsOf(here, "reservations");
  await here.run("delete from reservations");
  await Promise.all([
    a.flight([...reserveQueries([drawing(1)]), pause]),
    b.flight([...reserveQueries([drawing(2)]), pause]),
  ]);

  expect(broken).toBe(2);
  expect(await rowsOf(here, "reservations")).toBe(1);
  await Promise.all([a.close(), b.close()]);
});
