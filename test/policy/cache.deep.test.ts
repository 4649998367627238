import { expect, test } from "vitest";
import { compared } from "./verdicts.ts";

test("a remembered verdict and a fresh one never differ, over 100,000 random questions", {
  timeout: 1_800_000,
}, () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { differences } = compared(10_000, seed);

    expect(differences, `seed ${seed}`).toEqual([]);
  }
});
