import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type OperationId, operationIdOf } from "../../src/core/ids.ts";
import {
  amountOf,
  drawsOf,
  type Limit,
  type Reservation,
  reserve,
  settleReservation,
} from "../../src/core/limits.ts";

const HOUR = 3_600_000;
const limitOf = (max: number, kind: "sliding" | "fixed" = "sliding"): Limit => ({
  name: "orders",
  by: [],
  of: "operations",
  max,
  window: { kind, forMs: HOUR },
});
const id = (n: number): OperationId => operationIdOf(n.toString(16).padStart(32, "0"));
const done = (n: number, settledAt: number, amount = 1): Reservation => ({
  operationId: id(n),
  amount,
  reservedAt: settledAt,
  settledAt,
});
const open = (n: number, reservedAt: number, amount = 1): Reservation => ({
  operationId: id(n),
  amount,
  reservedAt,
});
const one = { operationId: id(99), amount: 1 };

describe("a limit", () => {
  test("gives room up to its maximum, and says when there is room again", () => {
    const held = [done(1, 1_000), done(2, 2_000)];

    expect(reserve(limitOf(3), held, one, 3_000)).toEqual({
      ok: true,
      reservation: { ...one, reservedAt: 3_000 },
    });
    expect(reserve(limitOf(2), held, one, 3_000)).toEqual({ ok: false, retryAt: 1_000 + HOUR });
    expect(reserve(limitOf(2), held, one, 1_000 + HOUR)).toMatchObject({ ok: true });
  });

  test("with a fixed window begins anew at each multiple of its length", () => {
    const held = [done(1, HOUR + 1), done(2, 2 * HOUR - 1)];

    expect(reserve(limitOf(2, "fixed"), held, one, 2 * HOUR - 1)).toEqual({ ok: false, retryAt: 2 * HOUR });
    expect(reserve(limitOf(2, "fixed"), held, one, 2 * HOUR)).toMatchObject({ ok: true });
    expect(reserve(limitOf(2, "sliding"), held, one, 2 * HOUR)).toMatchObject({ ok: false });
  });

  test("holds what is in doubt for as long as it is in doubt: no time is named for that", () => {
    const held = [open(1, 0), done(2, 0)];

    expect(reserve(limitOf(1), held, one, 100 * HOUR)).toEqual({ ok: false });
    expect(reserve(limitOf(2), held, one, 100 * HOUR)).toMatchObject({ ok: true });
  });

  test("counts what was long in doubt from when it was known to have happened", () => {
    const held = settleReservation([open(1, 0)], id(1), { state: "succeeded", at: 5 * HOUR });

    expect(reserve(limitOf(1), held, one, 5 * HOUR + 1)).toEqual({ ok: false, retryAt: 6 * HOUR });
  });

  test("is given back by what had no effect, and only by that", () => {
    const held = [open(1, 0), open(2, 0)];

    expect(settleReservation(held, id(1), { state: "rejected", at: 5 })).toEqual([open(2, 0)]);
    expect(settleReservation(held, id(1), { state: "succeeded", at: 5 })).toHaveLength(2);
    expect(settleReservation(held, id(7), { state: "rejected", at: 5 })).toEqual(held);
  });

  test("is reserved once for one operation, however often it is attempted", () => {
    const held = [open(1, 0), open(99, 1)];

    expect(reserve(limitOf(2), held, one, 10)).toEqual({ ok: true, reservation: open(99, 1) });
    expect(reserve(limitOf(1), held, one, 10)).toMatchObject({ ok: true });
  });

  test("that the amount alone exceeds never has room", () => {
    expect(reserve(limitOf(10), [], { ...one, amount: 11 }, 0)).toEqual({ ok: false });
  });

  test("adds decimals exactly: ten payments of 10.03 are 100.3", () => {
    const held = Array.from({ length: 9 }, (_, n) => open(n, 0, 10.03));
    const tenth = { ...one, amount: 10.03 };

    expect(reserve(limitOf(100.3), held, tenth, 0)).toMatchObject({ ok: true });
    expect(reserve(limitOf(0.3), [open(1, 0, 0.1)], { ...one, amount: 0.2 }, 0)).toMatchObject({ ok: true });
    expect(reserve(limitOf(100.29), held, tenth, 0)).toEqual({ ok: false });
    expect(reserve(limitOf(1e21), [], { ...one, amount: 1e21 }, 0)).toMatchObject({ ok: true });
    expect(reserve(limitOf(1e-7), [], { ...one, amount: 2e-7 }, 0)).toEqual({ ok: false });
  });

  test("sums the argument that it names, and refuses an operation that has none", () => {
    const limit: Limit = { ...limitOf(100), of: { sum: "/payment/amount" } };

    expect(amountOf(limit, { payment: { amount: 12.5 } })).toBe(12.5);
    expect(amountOf(limitOf(1), { anything: true })).toBe(1);
    for (const args of [{}, { payment: { amount: -1 } }, { payment: { amount: "12" } }, { payment: null }])
      expect(() => amountOf(limit, args)).toThrow(/needs a number that is not negative at \/payment\/amount/);
  });

  test("has a room for each combination of what it is by, and no name of one can be written to look like another", () => {
    const operation = { tool: "t", principalId: "p", clientId: "c", resource: "Item:a", arguments: {} };
    const roomOf = (by: Limit["by"], change: Partial<typeof operation> = {}) =>
      drawsOf([{ ...limitOf(1), by }], { ...operation, ...change })[0]?.room;

    const rooms = [[], ["principal"], ["client"], ["resource"], ["principal", "client"]] as const;
    expect(new Set(rooms.map((by) => roomOf(by))).size).toBe(rooms.length);
    expect(roomOf([], { principalId: "q" })).toBe(roomOf([]));
    expect(roomOf(["principal"], { clientId: "d" })).toBe(roomOf(["principal"]));
    expect(roomOf(["principal"], { principalId: "q" })).not.toBe(roomOf(["principal"]));
    expect(roomOf([], { tool: "u" })).not.toBe(roomOf([]));
    expect(roomOf(["principal", "client"], { principalId: 'p","c' })).not.toBe(
      roomOf(["principal", "client"], { clientId: 'c","c' }),
    );
  });

  test("for ever never gives back what had an effect", () => {
    const limit: Limit = { ...limitOf(1), window: { kind: "ever" } };

    expect(reserve(limit, [done(1, 0)], one, 1_000_000 * HOUR)).toEqual({ ok: false });
    expect(reserve({ ...limit, max: 2 }, [done(1, 0)], one, 5)).toMatchObject({ ok: true });
  });
});

/** A life of one limit: time passes, operations ask for room, and settle one way or the other, or stay in doubt. */
const STEP = fc.record({
  passMs: fc.integer({ min: 0, max: HOUR / 2 }),
  amount: fc.constantFrom(0.1, 0.2, 0.7, 1, 2, 3.3),
  settles: fc.constantFrom<"succeeded" | "rejected" | undefined>("succeeded", "rejected", undefined),
  which: fc.nat(20),
});
const LIFE = fc.record({
  max: fc.integer({ min: 1, max: 6 }),
  kind: fc.constantFrom<"sliding" | "fixed">("sliding", "fixed"),
  steps: fc.array(STEP, { maxLength: 40 }),
});

type Life = typeof LIFE extends fc.Arbitrary<infer T> ? T : never;

function live({ max, kind, steps }: Life, check: (at: Moment) => void): void {
  const limit = limitOf(max, kind);
  let held: readonly Reservation[] = [];
  let clock = 0;
  for (const [n, { passMs, amount, settles, which }] of steps.entries()) {
    clock += passMs;
    const pending = held.filter((reservation) => reservation.settledAt === undefined);
    const chosen = pending[which % Math.max(1, pending.length)];
    if (settles !== undefined && chosen !== undefined)
      held = settleReservation(held, chosen.operationId, { state: settles, at: clock });
    const wanted = { operationId: id(n), amount };
    const answer = reserve(limit, held, wanted, clock);
    check({ limit, held, wanted, clock, answer });
    if (answer.ok) held = [...held, answer.reservation];
  }
}

interface Moment {
  readonly limit: Limit;
  readonly held: readonly Reservation[];
  readonly wanted: { readonly operationId: OperationId; readonly amount: number };
  readonly clock: number;
  readonly answer: ReturnType<typeof reserve>;
}

describe("in every life of a limit", () => {
  test("no more is ever out at a time than the maximum, in tenths so that the sum is exact", () => {
    fc.assert(
      fc.property(LIFE, (life) => {
        live(life, ({ limit, held, wanted, clock, answer }) => {
          if (!answer.ok) return;
          const counting = held.filter(({ settledAt }) => {
            if (settledAt === undefined) return true;
            return limit.window.kind === "sliding"
              ? settledAt > clock - HOUR
              : Math.floor(settledAt / HOUR) >= Math.floor(clock / HOUR);
          });
          const tenths = [...counting, wanted].reduce((sum, { amount }) => sum + Math.round(amount * 10), 0);
          expect(tenths).toBeLessThanOrEqual(limit.max * 10);
        });
      }),
    );
  });

  test("a refusal names the first moment at which there is room, if nothing else happens; and without one there never is", () => {
    fc.assert(
      fc.property(LIFE, (life) => {
        live(life, ({ limit, held, wanted, clock, answer }) => {
          if (answer.ok) return;
          const later = (at: number) => reserve(limit, held, wanted, at).ok;
          if (answer.retryAt === undefined) expect(later(clock + 1_000 * HOUR)).toBe(false);
          else {
            expect(answer.retryAt).toBeGreaterThan(clock);
            expect([later(answer.retryAt - 1), later(answer.retryAt)]).toEqual([false, true]);
          }
        });
      }),
    );
  });

  test("what is rejected leaves no trace", () => {
    fc.assert(
      fc.property(LIFE, (life) => {
        live(life, ({ held, wanted, clock, answer }) => {
          if (!answer.ok) return;
          const after = settleReservation([...held, answer.reservation], wanted.operationId, {
            state: "rejected",
            at: clock,
          });
          expect(after).toEqual(held);
        });
      }),
    );
  });
});
