import { expect, test } from "vitest";
import { neverWidens } from "./attenuation.ts";

test("in a hundred thousand random requests no link widens, and no containment is wrong", () => {
  const told = neverWidens(100_000, 7);

  expect(told.widened).toEqual([]);
  expect(told.contained).toBeGreaterThan(4_000);
}, 300_000);
