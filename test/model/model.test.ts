import { expect, test } from "vitest";
import { needsPerson } from "./contract-class.ts";
import { CLASSES, classNamed } from "./contracts.ts";
import { brokenIn, INVARIANTS, REAL } from "./rules.ts";
import { type Report, search } from "./search.ts";
import { replay, storyOf } from "./story.ts";
import { rulesOf, VARIANTS } from "./variants.ts";
import { strangers } from "./walk.ts";

/** A class takes a few seconds alone; the machine may be busy. */
const PATIENCE_MS = 120_000;

/**
 * The real core functions, on every interleaving of two workers, one operation and two sends (three in one class), with a crash, a pause
 * or a late message anywhere, and no end of time. I8 (authority never grows along a chain) has no chain here: delegation has its own
 * test; what belongs to it here is that nothing is claimed, or repeated, after a revocation was acknowledged (I1).
 */
test.each(CLASSES)("every invariant holds in every state: $name", { timeout: PATIENCE_MS }, (cls) => {
  const report = search(cls, REAL);

  say(`${cls.name.padEnd(60)}${figures(report)}  ${report.broken?.invariant ?? "I1-I7 hold"}`);
  expect(
    report.broken === undefined
      ? ""
      : storyOf({ name: "the real rules", where: cls.name, breaks: "", rules: {} }, cls, report),
  ).toBe("");
  expect(report.capped, "the whole space was visited").toBe(false);
  expect(
    ["is succeeded", "is rejected", "is unknown", ...cls.witnesses].filter(
      (witness) => !report.seen.has(witness),
    ),
  ).toEqual([]);
  expect(report.seen.has("is before a person")).toBe(needsPerson(cls));
  // Walks with exact clocks and no reduction meet no world that was not visited.
  expect(strangers(cls, report.keys, { walks: 60, steps: 60 })).toEqual([]);
});

test.each(VARIANTS)("the model sees what is wrong when $name", { timeout: PATIENCE_MS }, (variant) => {
  const cls = classNamed(variant.where);

  const report = search(cls, rulesOf(variant), variant.breaks);

  say(`\n${storyOf(variant, cls, report)}`);
  expect(report.broken?.invariant).toBe(variant.breaks);
  // Under the real rules the same steps cannot all be taken, or do no harm.
  const { refused, end } = replay(report.broken?.path ?? [], cls);
  expect(refused === undefined ? brokenIn(end) : []).toEqual([]);
});

test("every invariant of the model is broken by some mistake, so none is checked in vain", () => {
  const broken = new Set(VARIANTS.map((variant) => variant.breaks));

  expect(Object.keys(INVARIANTS).filter((invariant) => !broken.has(invariant))).toEqual([]);
  expect(VARIANTS.length).toBeGreaterThanOrEqual(12);
});

function figures({ states, transitions, depth, seconds, calmSteps }: Report): string {
  const numbers = [
    `${states} states`.padStart(14),
    `${transitions} steps`.padStart(15),
    `depth ${depth}`.padStart(9),
    `${seconds.toFixed(1)} s`.padStart(7),
  ];
  return `${numbers.join(" ")}  at rest in ${calmSteps}`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
