import { beforeAll, expect, test } from "vitest";
import { killWrit } from "./kill-writ.ts";
import { build } from "./processes.ts";

beforeAll(build);

test("Writ killed twenty times at work: no acknowledged operation is lost, no effect is doubled, and all is settled afterwards", {
  timeout: 600000,
}, async () => {
  const { lost, wrong, acknowledged, repeated } = await killWrit(20);

  expect({ lost, wrong }).toEqual({ lost: [], wrong: [] });
  expect(acknowledged).toBeGreaterThan(200);
  expect(repeated).toBeGreaterThan(0);
});
