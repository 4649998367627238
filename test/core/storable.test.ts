import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, type Json } from "../../src/core/json.ts";
import { storable } from "../../src/core/storable.ts";

test("what every store can hold stays as it is", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      fc.pre(!JSON.stringify(value).includes("\\u0000"));
      expect(storable(value)).toEqual(value);
    }),
  );
});

test("what one cannot hold is mended, and nothing else", () => {
  expect(storable("a\0b\ud800c\udc00")).toBe("a\ufffdb\ufffdc\ufffd");
  expect(storable("\ud83d\ude00")).toBe("\ud83d\ude00");
  expect(storable({ "a\0": ["\0", { deep: "\ud800" }], n: Number.NaN, i: -Infinity, x: null })).toEqual({
    "a\ufffd": ["\ufffd", { deep: "\ufffd" }],
    n: "NaN",
    i: "-Infinity",
    x: null,
  });
  expect(storable({ bytes: Buffer.from("hi") })).toEqual({ bytes: { type: "Buffer", data: [104, 105] } });
});

test("whatever a provider answered, has a canonical form afterwards that reads as JSON", () => {
  const anything = fc.anything({
    values: [
      fc.string({ unit: "binary" }),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.constant("\ud800\0"),
    ],
    withNullPrototype: false,
  });
  fc.assert(
    fc.property(anything, (value) => {
      const text = canonicalJson(storable(value) as Json);
      expect(() => JSON.parse(text)).not.toThrow();
      expect(text.isWellFormed() && !text.includes("\\u0000")).toBe(true);
    }),
  );
});
