import { describe, expect, test } from "vitest";
import { schemaValidator } from "../../src/catalog/schema.ts";
import { STOCK_TOOL } from "../support/rig.ts";

const check = schemaValidator(STOCK_TOOL.input);
const SOUND = { warehouse: "wh_1", item: "a", available: 18 };

describe("a tool's schema", () => {
  test("C083: refuses a wrong type and an unknown member, names the place, and changes nothing", () => {
    const given = { ...SOUND, available: "18", extra: "x" };
    const before = structuredClone(given);

    expect(() => check(given as never)).toThrow(expect.objectContaining({ code: "invalid" }));
    expect(given).toEqual(before);
    expect(() => check(SOUND)).not.toThrow();
  });

  test.each([
    [{ ...SOUND, available: "18" }, "/arguments/available"],
    [{ ...SOUND, available: 18.5 }, "/arguments/available"],
    [{ ...SOUND, available: null }, "/arguments/available"],
    [{ ...SOUND, extra: "x" }, "/arguments/extra"],
    [{ warehouse: "wh_1", item: "a" }, "/arguments/available"],
  ])("C083: %o is refused at %s", (given, at) => {
    expect(() => check(given as never)).toThrow(expect.objectContaining({ details: { at } }));
  });

  test("C084: additionalProperties beside allOf does not see into it, so the known members must stand outside; none is emptied", () => {
    const composed = schemaValidator({
      type: "object",
      additionalProperties: false,
      properties: { a: {} },
      allOf: [{ properties: { a: { type: "integer" } } }],
    });
    const given = { a: 1 };

    composed(given);

    expect(given).toEqual({ a: 1 });
    expect(() => composed({ a: 1, b: 2 })).toThrow(/must NOT have additional properties/);
    expect(() => composed({ a: "x" })).toThrow(/must be integer/);
  });

  test("a pattern takes no longer than its input is long, whoever wrote it", () => {
    const slow = schemaValidator({
      type: "object",
      properties: { a: { type: "string", pattern: "^(a+)+$" } },
    });
    const began = performance.now();

    expect(() => slow({ a: `${"a".repeat(50_000)}!` })).toThrow(/must match pattern/);
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});
