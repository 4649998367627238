import { describe, expect, test } from "vitest";
import { parseContract } from "../../src/core/contract-parse.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { shadowedOutcomes } from "../../src/core/outcome-shadow.ts";

const shadows = (outcomes: readonly JsonObject[]) =>
  shadowedOutcomes(parseContract({ contract: "a/v1", transport: "http", outcomes }));

describe("an outcome that order hides is found", () => {
  const hidden = (...outcomes: JsonObject[]) => shadows(outcomes).map(({ at }) => at);
  const is = (status: Json, meaning: string, more: JsonObject = {}) => ({
    when: { status, ...more },
    is: meaning,
  });

  test.each([
    ["the same status", [is(409, "in_flight"), is(409, "final_no")], ["/outcomes/1"]],
    ["a class before its member", [is("4xx", "final_no"), is(409, "in_flight")], ["/outcomes/1"]],
    [
      "a status before the same with a body",
      [is(409, "final_no"), is(409, "in_flight", { body: { "/e": "busy" } })],
      ["/outcomes/1"],
    ],
    [
      "two that hide a third together",
      [is(400, "final_no"), is(409, "final_no"), is([400, 409], "transient_no")],
      ["/outcomes/2"],
    ],
    [
      "presence before a value",
      [
        is(200, "effect", { body: { "/a": { present: true } } }),
        is(200, "final_no", { body: { "/a/b": 1 } }),
      ],
      ["/outcomes/1"],
    ],
    [
      "a body without a status",
      [
        { when: { body: { "/e": "busy" } }, is: "in_flight" },
        is(409, "final_no", { body: { "/e": "busy", "/f": 1 } }),
      ],
      ["/outcomes/1"],
    ],
    [
      "header names in any case",
      [is(200, "effect", { headers: { "X-A": "1" } }), is(200, "final_no", { headers: { "x-a": "1" } })],
      ["/outcomes/1"],
    ],
    [
      "the narrower first: nothing is hidden",
      [is(409, "in_flight", { body: { "/e": "busy" } }), is(409, "final_no")],
      [],
    ],
    [
      "other values: nothing is hidden",
      [is(409, "in_flight", { body: { "/e": "busy" } }), is(409, "final_no", { body: { "/e": "gone" } })],
      [],
    ],
    ["a class that reaches further", [is(409, "in_flight"), is("4xx", "final_no")], []],
    ["the same meaning twice", [is(409, "final_no"), is(409, "final_no")], []],
  ] as const)("%s", (_name, outcomes, expected) => {
    expect(hidden(...outcomes)).toEqual(expected);
  });

  test("and the sentence names the rule that hides it", () => {
    expect(shadows([is(201, "effect"), is("4xx", "final_no"), is(409, "in_flight")])).toEqual([
      {
        rule: "shadowed-outcome",
        at: "/outcomes/2",
        says: 'never reached: /outcomes/1 already says "final_no" of what this calls "in_flight"; put the narrower rule first',
      },
    ]);
  });
});
