import { expect, test } from "vitest";
import { hotRows } from "../support/hot-rows.ts";

test("four ledgers write sixty hot rows 20,000 times: there are exactly as many effects as succeeded receipts, and no deadlock", async () => {
  for (const seed of [1, 2, 3]) {
    const { effects, receipts, lies, deadlocks, answers } = await hotRows(20_000, seed);

    expect({ seed, effects, lies, deadlocks }).toEqual({ seed, effects: receipts, lies: 0, deadlocks: 0 });
    expect(Object.values(answers).reduce((sum, count) => sum + count, 0)).toBe(20_000);
  }
});
