import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/core/attempt.ts";
import type { Contract } from "../../src/core/contract.ts";
import { next } from "../../src/core/recovery.ts";
import { answering, doubt, KEY, LIVE, NOTHING, positive, SILENCE } from "./doubt.ts";

const CONFLICT: Outcome = { kind: "refused", reason: "precondition_failed", detail: "412" };
const replays = ["precondition_first", "dedup_first", "marker_visible"] as const;
const under = (replay: (typeof replays)[number]): Contract => ({
  ...NOTHING,
  identity: KEY,
  lookup: [{ ...positive, horizonMs: 5000 }],
  precondition: { kind: "version", atomic: "probed", versions: "never_return", replay },
});

describe("a repeat that is answered 412 after a lost answer", () => {
  test.each(replays)("under %s says nothing about the first one: it is looked up, not rejected", (replay) => {
    const plan = next(under(replay), doubt([SILENCE, CONFLICT]), LIVE, 2000);

    expect(plan).toMatchObject({ do: "look_up", row: 12 });
  });

  test("and is a no when nothing was sent before it", () => {
    expect(next(under("precondition_first"), doubt([CONFLICT]), LIVE, 2000)).toMatchObject({
      do: "reject",
      reason: "precondition_failed",
    });
  });
});

describe("a provider that knows no repeat sooner than a minute after the last attempt", () => {
  const contract: Contract = { ...NOTHING, identity: { ...KEY, minRetryDelayMs: 60_000 } };
  const learnedAt = 1020;

  test("is sent none before", () => {
    expect(next(contract, doubt([SILENCE]), LIVE, 2000)).toEqual({
      do: "repeat",
      row: 11,
      at: learnedAt + 60_000,
    });
    expect(next(contract, doubt([answering("in_flight")]), LIVE, 2000)).toMatchObject({
      row: 7,
      at: learnedAt + 60_000,
    });
  });

  test("not even where the first one is proved absent", () => {
    const absent = doubt([SILENCE], { absentSince: 1500, absentThrough: 1 });

    expect(next(contract, absent, LIVE, 2000)).toEqual({ do: "authorize", row: 9, at: learnedAt + 60_000 });
  });

  test("and without the delay the same steps come at once", () => {
    const hasty: Contract = { ...NOTHING, identity: KEY };

    expect(next(hasty, doubt([SILENCE]), LIVE, 2000)).toMatchObject({ do: "repeat", at: learnedAt + 10 });
  });
});
