import { expect, test } from "vitest";
import { ledgerTime } from "../../src/identity/ledger-time.ts";

const NOON = Date.parse("2026-11-30T12:00:00Z");

/** A host with clocks of its own before a database with the right time. */
function host(wallOffMs: number) {
  let passedMs = 0;
  let jumpedMs = 0;
  let questions = 0;
  const clock = { monotonicMs: () => passedMs, wallMs: () => NOON + wallOffMs + passedMs + jumpedMs };
  const time = ledgerTime(async () => {
    questions += 1;
    return NOON + passedMs;
  }, clock);
  return {
    time,
    questions: () => questions,
    later: (ms: number) => {
      passedMs += ms;
    },
    setClock: (ms: number) => {
      jumpedMs += ms;
    },
  };
}

test.each([-600_000, 0, 600_000])(
  "A32: a host whose clock is off by %i ms tells the database's time",
  async (offMs) => {
    const { time, later } = host(offMs);

    expect(await time()).toBe(NOON);
    later(1_000);
    expect(await time()).toBe(NOON + 1_000);
  },
);

test("the database is asked once a minute, and at once when the host's clock was set", async () => {
  const { time, later, setClock, questions } = host(0);
  await time();
  later(59_000);
  await time();
  expect(questions()).toBe(1);
  later(2_000);
  await time();
  expect(questions()).toBe(2);
  setClock(600_000);
  expect(await time()).toBe(NOON + 61_000);
  expect(questions()).toBe(3);
});
