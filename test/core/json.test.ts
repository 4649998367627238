import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, JSON_BOUNDS, type Json, parseJson, pointed } from "../../src/core/json.ts";
import { Problem } from "../../src/core/problem.ts";

const VALUE = fc.jsonValue({ maxDepth: 5, stringUnit: "binary" });

describe("the canonical form", () => {
  test("C078: is byte for byte what another implementation of RFC 8785 writes, for 20,000 random values", () => {
    fc.assert(
      fc.property(VALUE, (value) => {
        expect(canonicalJson(value as Json)).toBe(canonicalize(value));
      }),
      { numRuns: 20_000 },
    );
  });

  test("reads back as the same value, and is canonical already", () => {
    fc.assert(
      fc.property(VALUE, (value) => {
        const text = canonicalJson(value as Json);
        expect(canonicalJson(JSON.parse(text) as Json)).toBe(text);
      }),
    );
  });

  test("C078: writes the example of RFC 8785 3.2.2", () => {
    const given = String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
      "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`;

    expect(canonicalJson(JSON.parse(given))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  test("C078: sorts members by UTF-16 code units, as the example of RFC 8785 3.2.3", () => {
    const names = ["\u20ac", "\r", "\ufb33", "1", "\ud83d\ude00", "\u0080", "\u00f6"];
    const text = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])));

    expect(Object.keys(JSON.parse(text)).filter((name) => name !== "1")).toEqual([
      "\r",
      "\u0080",
      "\u00f6",
      "\u20ac",
      "\ud83d\ude00",
      "\ufb33",
    ]);
    // By code points U+10000 would come last.
    expect(canonicalJson({ "\ue000": 1, "\ud800\udc00": 2 })).toBe('{"\ud800\udc00":2,"\ue000":1}');
  });

  // RFC 8785, appendix B.
  test.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("C078: writes the double %s as %s", (hex, text) => {
    expect(canonicalJson(Buffer.from(hex, "hex").readDoubleBE())).toBe(text);
  });

  test("C075: does not depend on the order of members, and does on the order of a list", () => {
    expect(canonicalJson(parseJson('{"b":{"d":3,"c":2},"a":1}'))).toBe(
      canonicalJson(parseJson('{"a":1,"b":{"c":2,"d":3}}')),
    );
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  });

  test("C076, C079, C080: keeps apart what only looks alike", () => {
    const apart: readonly Json[] = [
      {},
      { note: null },
      { note: "" },
      { note: [] },
      { note: {} },
      { note: 0 },
      { note: false },
      { note: "0" },
      { note: "null" },
      { a: "b,c" },
      { a: "b", c: "" },
      { "a:b": "" },
      { a: '":"' },
      ["ab", "c"],
      ["a", "bc"],
      ["a,b"],
      ["a\u0000b"],
      ["K\u00f6ln"],
      ["Ko\u0308ln"],
      ["1"],
      [1],
    ];

    expect(new Set(apart.map(canonicalJson)).size).toBe(apart.length);
  });

  test("C078: 10 and 10.0 and 1e1 are one number", () => {
    expect(["10", "10.0", "1e1", "1E+1", "100e-1"].map((text) => canonicalJson(parseJson(text)))).toEqual(
      Array(5).fill("10"),
    );
  });
});

describe("the strict reading", () => {
  test("gives what JSON.parse gives, for every value that both read", () => {
    fc.assert(
      fc.property(VALUE, fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const strict = refusalOf(text);
        if (strict === undefined) expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    // What is wrong, the text, where.
    ["a duplicate member", '{"a":1,"a":1}', "/a"],
    ["a duplicate member that is written otherwise", String.raw`{"a":1,"\u0061":2}`, "/a"],
    ["a duplicate member deep inside", '{"x":[{"y":{"z":1,"z":2}}]}', "/x/0/y/z"],
    ["the member __proto__", '{"x":{"__proto__":{}}}', "/x/__proto__"],
    ["a lone surrogate", String.raw`{"a":"\ud800"}`, "/a"],
    ["a lone surrogate in a name", String.raw`{"\udc00":1}`, ""],
    ["C074: an integer beyond 2^53-1", '{"accountId":9007199254740993}', "/accountId"],
    ["C074: the first integer that is not safe", '{"a":[1,9007199254740992]}', "/a/1"],
    ["C074: a negative one", '{"a":-9007199254740993}', "/a"],
    ["C074: a large integer with an exponent", '{"a":1e30}', "/a"],
    ["C074: a number out of range", '{"a":1e400}', "/a"],
    ["C074: more digits than a double has", '{"a":0.1000000000000000000001}', "/a"],
    ["C074: a number that vanishes", '{"a":1e-400}', "/a"],
    ["-0", '{"a":-0}', "/a"],
    ["-0.0", '{"a":-0.0}', "/a"],
    ["-0e5", '{"a":-0e5}', "/a"],
    ["a leading zero", "[01]", ""],
    ["a leading plus", "[+1]", "/0"],
    ["a bare point", "[1.]", ""],
    ["NaN", "[NaN]", "/0"],
    ["a comment", "[1] // one", ""],
    ["text after the end", "{} {}", ""],
    ["a byte order mark", "\ufeff{}", ""],
    ["a trailing comma", "[1,]", "/1"],
    ["a control character in a string", '["a\u0001"]', "/0"],
    ["a line end in a string", '["a\n"]', "/0"],
    ["single quotes", "{'a':1}", ""],
    ["a bad escape", String.raw`["\x41"]`, "/0"],
    ["a short escape", String.raw`["\u12"]`, "/0"],
    ["an escape that Object has", String.raw`["\constructor"]`, "/0"],
    ["nothing", "", ""],
    ["only space", "  \n", ""],
    ["half a word", "[tru]", "/0"],
    ["an open list", "[1", ""],
    ["an open string", '["a', "/0"],
    ["a missing colon", '{"a" 1}', "/a"],
    ["a pointer that needs escapes", '{"a/b~c":-0}', "/a~1b~0c"],
  ])("C074: refuses %s and says where: %s", (_what, text, at) => {
    expect(refusalOf(text)).toMatchObject({ code: "malformed", details: { at } });
  });

  test("has bounds on depth, values, strings and bytes, each named", () => {
    const bounds = { bytesMax: 400, depthMax: 4, valuesMax: 10, stringMax: 20 };
    const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

    expect(() => parseJson(deep(5), bounds)).not.toThrow();
    expect(() => parseJson(deep(6), bounds)).toThrow(/deeper than 4 levels/);
    expect(() => parseJson(`[${Array(9).fill(1)}]`, bounds)).not.toThrow();
    expect(() => parseJson(`[${Array(10).fill(1)}]`, bounds)).toThrow(/more than 10 values/);
    expect(() => parseJson(`"${"x".repeat(21)}"`, bounds)).toThrow(/longer than 20 characters/);
    expect(() => parseJson(" ".repeat(401), bounds)).toThrow(/larger than 400 bytes/);
    expect(() => parseJson(Buffer.from(" ".repeat(401)), bounds)).toThrow(/larger than 400 bytes/);
  });

  test("does not fall over what is nested a hundred thousand times, and takes no longer than it has to", () => {
    const began = performance.now();

    expect(refusalOf("[".repeat(100_000))).toMatchObject({ code: "malformed" });
    expect(refusalOf('{"a":'.repeat(40_000))).toMatchObject({ code: "malformed" });
    expect(refusalOf(`[${"1".repeat(200_000)}]`)).toMatchObject({ code: "malformed" });
    expect(refusalOf(`"${"\\u0041".repeat(20_000)}"`)).toBeUndefined();
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  test("refuses bytes that are not UTF-8 instead of guessing them", () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc0, 0xaf, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
    ])
      expect(() => parseJson(Uint8Array.from(bytes))).toThrow(/not valid UTF-8/);
  });

  test("C074: reads every safe integer, and every double in its shortest form", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        fc.pre(!Object.is(value, -0));
        expect(parseJson(String(value))).toBe(value);
      }),
    );
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        fc.pre(!Object.is(value, -0) && (!Number.isInteger(value) || Number.isSafeInteger(value)));
        expect(parseJson(String(value))).toBe(value);
        // Any other spelling of the same decimal as well.
        expect(parseJson(value.toExponential())).toBe(value);
      }),
    );
  });

  test("never changes a value in silence: what it reads is what was written, digit for digit", () => {
    const DECIMAL = fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.integer({ min: -30, max: 30 }))
      .map(([digits, exponent]) => `${digits}e${exponent}`);
    fc.assert(
      fc.property(DECIMAL, (text) => {
        if (refusalOf(text) !== undefined) return;
        expect(exact(String(parseJson(text)))).toBe(exact(text));
      }),
      { numRuns: 5_000 },
    );
  });

  test("has the bounds that the protocol names", () => {
    expect(JSON_BOUNDS.depthMax).toBe(32);
  });
});

test("a pointer finds what stands there, and nothing that Object brings along", () => {
  const value = parseJson('{"a":[{"b/c":1}],"":2,"~":3}');

  expect(pointed(value, "")).toBe(value);
  expect(pointed(value, "/a/0/b~1c")).toBe(1);
  expect([pointed(value, "/"), pointed(value, "/~0")]).toEqual([2, 3]);
  for (const pointer of ["/a/1", "/a/00", "/a/-1", "/constructor", "/a/length", "/a/0/b~1c/toString"])
    expect(pointed(value, pointer)).toBeUndefined();
});

function refusalOf(text: string): Problem | undefined {
  try {
    parseJson(text);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The written decimal itself, times 10^100. */
function exact(text: string): bigint {
  const [mantissa = "", exponent = "0"] = text.split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return BigInt(whole + fraction) * 10n ** BigInt(Number(exponent) - fraction.length + 100);
}
