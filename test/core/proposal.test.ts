import { describe, expect, test } from "vitest";
import { demand, type ProposalClaims, proposal, proposalDigest } from "../../src/core/proposal.ts";
import { withDefaults } from "../../src/core/tool.ts";
import { STOCK_TOOL } from "../support/rig.ts";

const CLAIMS: ProposalClaims = { tool: "t", arguments: { a: 1 }, expectedVersion: 42 };
const digestOf = (more: Partial<ProposalClaims> = {}, key?: string) =>
  proposalDigest(proposal({ ...CLAIMS, ...more }, key));

describe("a proposal's digest", () => {
  test("C075, C077: is of the intent: not of words beside it, of timing, of a key, or of the order of members", () => {
    expect(digestOf({ note: "because" }, "k1")).toBe(digestOf({ execute: "later" }, "k2"));
    expect(digestOf({ arguments: { b: 2, a: 1 } })).toBe(digestOf({ arguments: { a: 1, b: 2 } }));
    expect(digestOf({ expectedVersion: "42" })).toBe(digestOf({ expectedVersion: 42 }));
  });

  test("C076: differs for every other intent", () => {
    const id = `op_${"1".repeat(32)}`;
    const digests = [
      digestOf(),
      digestOf({ tool: "u" }),
      digestOf({ arguments: {} }),
      digestOf({ arguments: { a: null } }),
      digestOf({ arguments: { a: "1" } }),
      digestOf({ expectedVersion: 43 }),
      digestOf({ expectedVersion: undefined }),
      digestOf({ compensates: id }),
      digestOf({ supersedes: id }),
    ];

    expect(new Set(digests).size).toBe(digests.length);
  });
});

describe("an expected version", () => {
  test.each<[string | number, string]>([
    [42, "42"],
    [0, "0"],
    ["42", "42"],
    ['"abc"', '"abc"'],
    ["a W/ inside", "a W/ inside"],
    ["v".repeat(256), "v".repeat(256)],
  ])("%s is opaque, and kept as it is", (given, kept) => {
    expect(proposal({ ...CLAIMS, expectedVersion: given }, undefined).expectedVersion).toBe(kept);
  });

  test.each<[string, string | number]>([
    ["C102: any version at all", "*"],
    ["C093: a weak validator", 'W/"42"'],
    ["C093: a weak validator in small letters", 'w/"42"'],
    ["C102: nothing", ""],
    ["a negative number", -1],
    ["a fraction", 1.5],
    ["C074: a number that is not exact", 2 ** 53],
    ["a control character", "4\n2"],
    ["a letter outside ASCII", "4\u00b2"],
    ["257 characters", "v".repeat(257)],
  ])("%s is refused, with its place", (_what, given) => {
    expect(() => proposal({ ...CLAIMS, expectedVersion: given }, undefined)).toThrow(
      expect.objectContaining({ code: "invalid", details: { at: "/expectedVersion" } }),
    );
  });
});

describe("an intent key", () => {
  test("is the same bare and in the quotes of a structured header", () => {
    expect(proposal(CLAIMS, '"k-1"').intentKey).toBe("k-1");
    expect(proposal(CLAIMS, "k-1").intentKey).toBe("k-1");
    expect(proposal(CLAIMS, undefined).intentKey).toBeUndefined();
    expect(proposal(CLAIMS, "x".repeat(200)).intentKey).toHaveLength(200);
  });

  test.each([
    ["empty", ""],
    ["empty in quotes", '""'],
    ["one quote", '"'],
    ["a quote inside", 'a"b'],
    ["a backslash", "a\\b"],
    ["a space", "a b"],
    ["a line end", "a\n"],
    ["a line end inside quotes", '"a\nb"'],
    ["a control character", "a\u0001"],
    ["a letter outside ASCII", "sch\u00f6n"],
    ["C064: 201 characters", "x".repeat(201)],
    ["C064: ten thousand characters", "x".repeat(10_000)],
  ])("that is %s is refused", (_what, key) => {
    expect(() => proposal(CLAIMS, key)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });
});

describe("what a tool demands", () => {
  const asked = proposal({ tool: STOCK_TOOL.name, arguments: {} }, undefined);

  test("C055: a key, where a repeat by the client would be another effect", () => {
    const tool = { ...STOCK_TOOL, expectedVersion: "none", intentKey: "required" } as const;

    expect(() => demand(tool, asked)).toThrow(expect.objectContaining({ code: "idempotency-key-missing" }));
    expect(() => demand(tool, { ...asked, intentKey: "k" })).not.toThrow();
  });

  test("C102: a version, or none, and says which", () => {
    const required = { ...STOCK_TOOL, expectedVersion: "required" } as const;
    const none = { ...STOCK_TOOL, expectedVersion: "none" } as const;

    expect(() => demand(required, asked)).toThrow(expect.objectContaining({ code: "version_required" }));
    expect(() => demand(none, { ...asked, expectedVersion: "1" })).toThrow(/takes no expectedVersion/);
    expect(() => demand(none, asked)).not.toThrow();
  });
});

test("ids that are malformed and arguments that are no object are refused, with their place", () => {
  for (const id of ["op_1", "OP_".padEnd(35, "0"), `op_${"g".repeat(32)}`, "../x"])
    expect(() => proposal({ ...CLAIMS, supersedes: id }, undefined)).toThrow(
      expect.objectContaining({ code: "invalid", details: { at: "/supersedes" } }),
    );
  for (const args of [null, [], "x", 1])
    expect(() => proposal({ ...CLAIMS, arguments: args }, undefined)).toThrow(/arguments must be an object/);
});

test("C076, C083: declared defaults fill what is absent, never what is null, and change nothing that was sent", () => {
  const schema = {
    type: "object",
    properties: {
      a: { default: 1 },
      b: { default: null },
      c: { type: "string" },
      d: { default: [] },
      e: true,
    },
  };
  const given = Object.freeze({ a: null, z: "kept" });

  expect(withDefaults(schema, given)).toEqual({ a: null, z: "kept", b: null, d: [] });
  expect(withDefaults({ type: "object" }, given)).toBe(given);
  expect(withDefaults({ properties: { toString: { default: 1 } } }, {})).toEqual({ toString: 1 });
});
