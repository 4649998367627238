import { describe, expect, test } from "vitest";
import { parseContract } from "../../src/core/contract-parse.ts";
import { promise, timeWords } from "../../src/core/contract-promise.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { SOUND } from "./broken-contracts.ts";

describe("what a contract promises, in sentences", () => {
  const positive = [{ ...((SOUND.lookup as readonly JsonObject[])[0] ?? {}), strength: "positive" }]; // As written above.
  const says = (changes: JsonObject) => promise(parseContract({ ...SOUND, ...changes })).join(" ");

  test("an authoritative lookup and a key", () => {
    expect(promise(parseContract(SOUND))).toEqual([
      "Nothing is checked at the provider: a change that somebody else made after the decision is overwritten.",
      'A lost answer is cleared by looking up ("operation"): found is applied; nothing there 1 min 5 s after the last send is not applied.',
      "A repeat is safe for 23 h 58 min after the first send: the provider recognizes it by its key; afterwards it would be executed again, and none is sent.",
      "If looking stays unclear 5 times in a row, a person decides.",
      "When no repeat is allowed any more, a barrier is raised that makes a late first request fail for ever; then looking once is enough.",
      "A request ends after 30 s and is never sent later than 5 s after its claim; there are at most 5 attempts.",
    ]);
  });

  test("and what it cannot promise", () => {
    expect(says({ lookup: [], barrier: "none", identity: "none" })).toContain(
      "stays unknown until a person finds out",
    );
    expect(says({ lookup: positive, barrier: "none", identity: "none" })).toContain(
      "finding nothing proves nothing",
    );
    expect(says({ settle: "unbounded" })).toContain("finding nothing never settles it");
    expect(says({ settle: "unbounded" })).toContain("What that does not clear, a person decides.");
    expect(says({ precondition: { kind: "etag" } })).toContain("nobody has measured");
    expect(says({ identity: { kind: "create_once" } })).toContain("because it can be created only once");
    expect(says({ identity: { kind: "key", window: { for: "1d", after: "refuses" } } })).toContain(
      "for 1 d, and refuses it afterwards",
    );
  });

  test("what a repeat is answered by, and how long it waits", () => {
    const versioned = (replay: string, more: JsonObject = {}) =>
      says({
        precondition: { kind: "version", replay },
        identity: { kind: "marker", ...more },
      });

    expect(versioned("precondition_first")).toContain(
      "answered like a conflict, so that answer alone settles nothing",
    );
    expect(versioned("dedup_first")).toContain("the repeat says so, whatever the version is by then");
    expect(versioned("marker_visible")).toContain("the repeat's refusal shows our marker");
    expect(versioned("dedup_first", { minRetryDelay: "60s" })).toContain(
      "It is sent 1 min after the last attempt at the earliest.",
    );
  });

  test("times are said in their two largest units", () => {
    expect([0, 1, 999, 1000, 61_000, 3_600_000, 90_061_001].map(timeWords)).toEqual([
      "0 s",
      "1 ms",
      "999 ms",
      "1 s",
      "1 min 1 s",
      "1 h",
      "1 d 1 h",
    ]);
  });
});

test("a version as identity promises a repeat only once it was measured", () => {
  const { lookup: _, barrier: __, ...rest } = SOUND;
  const said = (atomic: string) =>
    promise(
      parseContract({
        ...rest,
        identity: { kind: "same_version" },
        precondition: { kind: "etag", atomic, versions: "never_return", replay: "precondition_first" },
      }),
    ).join(" ");

  expect(said("claimed")).toContain("A repeat is not sent until `writ probe` has measured");
  expect(said("probed")).toContain("A repeat is safe at any time");
});
