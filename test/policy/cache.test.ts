import { expect, test } from "vitest";
import { keyFor } from "../../src/policy/cache.ts";
import { cedar, PERMITS, policy, stock } from "../support/cedar.ts";
import { compared } from "./verdicts.ts";

test("a remembered verdict and a fresh one never differ, over 5,000 random questions", {
  timeout: 240_000,
}, () => {
  const { differences, hits, effects } = compared(5_000, 20_261_201);

  expect(differences).toEqual([]);
  // Otherwise nothing was compared.
  expect(hits).toBeGreaterThan(500);
  for (const effect of ["allow", "review", "deny"]) expect(effects[effect], effect).toBeGreaterThan(100);
});

test("a key that forgets one attribute is found out", { timeout: 240_000 }, () => {
  const forgetful: typeof keyFor = (reads, request) =>
    keyFor(
      { ...reads, context: reads.context.filter((path) => path.join(".") !== "input.available") },
      request,
    );
  const blind: typeof keyFor = (reads, request) => keyFor({ ...reads, principal: [] }, request);

  expect(compared(1_000, 1, forgetful).differences.length).toBeGreaterThan(0);
  expect(compared(1_000, 1, blind).differences.length).toBeGreaterThan(0);
});

test("what no rule reads asks Cedar only once", async () => {
  const { ask } = cedar(policy(PERMITS));

  const first = await ask(stock(1));

  for (let available = 2; available < 50; available++)
    expect(await ask(stock(available), { expectedVersion: String(available) })).toEqual(first);
});
