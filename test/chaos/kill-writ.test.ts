import { beforeAll, expect, test } from "vitest";
import { killWrit } from "./kill-writ.ts";
import { build } from "./processes.ts";

beforeAll(build);

test("C007, C050, C057: Writ killed four times at work: no acknowledged operation is lost, no effect is doubled, and all is settled afterwards", {
  timeout: 90000,
}, async () => {
  const { lost, wrong, acknowledged, repeated } = await killWrit(4);

  expect({ lost, wrong }).toEqual({ lost: [], wrong: [] });
  expect(acknowledged).toBeGreaterThan(40);
  expect(repeated).toBeGreaterThan(0);
});

test("broken: before a provider that does not keep the key it promised, the same count finds doubled effects", {
  timeout: 60_000,
}, async () => {
  const { wrong } = await killWrit(1, { guarantees: {} });

  expect(wrong.join()).toMatch(/is succeeded with 2 effects/);
});
