import { checkParseSchema } from "@cedar-policy/cedar-wasm/nodejs";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { Problem } from "../../src/core/problem.ts";
import type { Tool } from "../../src/core/tool.ts";
import { schemaOf, toolSchema } from "../../src/policy/model.ts";
import { visible } from "../../src/policy/schema.ts";
import { cedar, mistakes, PERMITS, policy } from "../support/cedar.ts";
import { STOCK_TOOL } from "../support/rig.ts";

function tool(name: string, input: JsonObject, more: Partial<Tool> = {}): Tool {
  return { ...STOCK_TOOL, name, input, ...more };
}
function of(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required };
}

test("each kind of argument is one kind of Cedar's, and what has none is left out and listed", () => {
  const { record, omitted } = visible(
    of(
      {
        count: { type: "integer", default: 1 },
        price: { type: "number" },
        on: { type: "boolean" },
        at: { type: "string", format: "date-time" },
        level: { enum: [1, 2] },
        colour: { enum: ["red", "blue"] },
        fixed: { const: "x" },
        tags: { type: "array", items: { type: "string" } },
        to: of({ city: { type: "string" }, free: {} }, ["city"]),
        shared: { $ref: "#/$defs/name" },
        "a.b c/d~e": { type: "string" },
        nothing: { type: "null" },
        maybe: { type: ["string", "null"] },
        either: { anyOf: [{ type: "string" }, { type: "integer" }] },
        mixed: { enum: ["a", 1] },
        free: { type: "object" },
        pair: { type: "array", prefixItems: [{ type: "string" }] },
        list: { type: "array" },
        circle: { $ref: "#/$defs/circle" },
        elsewhere: { $ref: "https://evil.example/schema" },
        __extn: { type: "string" },
      },
      ["price"],
    ) as JsonObject,
  );

  const kinds = Object.fromEntries(
    [...record.members].map(([name, { is, required }]) => [name, `${is.kind}${required ? "!" : ""}`]),
  );
  expect(kinds).toEqual({
    count: "Long!",
    price: "decimal!",
    on: "Boolean",
    at: "String",
    level: "Long",
    colour: "String",
    fixed: "String",
    tags: "Set",
    to: "Record",
    "a.b c/d~e": "String",
  });
  expect(omitted.map(({ at }) => at)).toEqual([
    "/to/free",
    "/shared",
    "/nothing",
    "/maybe",
    "/either",
    "/mixed",
    "/free",
    "/pair",
    "/list",
    "/circle",
    "/elsewhere",
    "/__extn",
  ]);
});

test("local references are followed, in circles only so far", () => {
  const schema = {
    ...of({ a: { $ref: "#/$defs/name" }, b: { $ref: "#/$defs/loop" }, c: { $ref: "#/$defs/tree" } }),
    $defs: {
      name: { type: "string" },
      loop: { $ref: "#/$defs/loop" },
      tree: of({ next: { $ref: "#/$defs/tree" }, name: { type: "string" } }),
    },
  };

  const { record, omitted } = visible(schema);

  expect([...record.members.keys()]).toEqual(["a", "c"]);
  expect(omitted.some(({ why }) => why.includes("circle"))).toBe(true);
  expect(omitted.some(({ why }) => why.includes("deeper"))).toBe(true);
});

test("a hostile schema costs little and never breaks Cedar's", () => {
  let deep: JsonObject = { type: "string" };
  for (let level = 0; level < 5_000; level++) deep = of({ in: deep });
  const many = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, index) => [`m${index}`, { type: "string" }]),
  );
  const names = Object.fromEntries(
    [
      "",
      " ",
      "\u0000",
      '"',
      "\\",
      "like",
      "permit",
      "has",
      "constructor",
      "toString",
      "é",
      "🙂",
      "x".repeat(5_000),
      "a::b",
      "principal",
    ].map((name) => [name, { type: "integer" }]),
  );

  for (const input of [of({ deep }), of(many), of(names)]) {
    const answer = checkParseSchema(schemaOf([tool("hostile.tool", input)]));
    expect(answer).toMatchObject({ type: "success" });
    expect(
      checkParseSchema(toolSchema(tool("hostile.tool", input), { current: true, recent: true })),
    ).toMatchObject({ type: "success" });
  }
  expect(visible(of(many)).record.members.size).toBe(500);
});

test("a tool's dots stay in its action, and each beginning of its name is a group", () => {
  const tools = [STOCK_TOOL, tool("inventory.eu.set", STOCK_TOOL.input), tool("plain", STOCK_TOOL.input)];
  const rule = (head: string) => mistakes(`@id("a") permit(principal, action ${head}, resource);`, tools);

  expect(rule(`in Writ::Action::"inventory.*"`)).toEqual([]);
  expect(rule(`in Writ::Action::"inventory.eu.*"`)).toEqual([]);
  expect(rule(`in Writ::Action::"*"`)).toEqual([]);
  expect(rule(`== Writ::Action::"plain"`)).toEqual([]);
  expect(rule(`in Writ::Action::"other.*"`)).not.toEqual([]);
});

test("decimals have four places, texts keep their formats, and sets have no order", async () => {
  const wide = tool(
    "wide",
    of({
      price: { type: "number" },
      at: { type: "string", format: "ipv4" },
      tags: { type: "array", items: { type: "integer" } },
    }),
  );
  const rule = `@id("hard") forbid(principal is Writ::User, action == Writ::Action::"wide", resource)
    when { context.input has price && context.input.price.greaterThan(decimal("1.0001")) }
    unless { context.input has tags && context.input.tags == [3, 1] };`;
  const { ask } = cedar(policy(PERMITS, rule), { tools: [wide] });
  const effect = async (args: JsonObject) => (await ask(args, { tool: wide })).effect;

  expect(await effect({ price: 1.0001 })).toBe("allow");
  expect(await effect({ price: 1.0002 })).toBe("deny");
  expect(await effect({ price: 1.0002, tags: [1, 3, 1] })).toBe("allow");
  for (const price of [1.000_01, 1e-7, 1e15, 0.1 + 0.2])
    expect(await effect({ price, tags: [1, 3] }), String(price)).toBe("deny");
  expect(await effect({ at: "10.0.0.1" })).toBe("allow");
});

test("a resource cannot be of a type that policy knows as something else", () => {
  for (const type of ["User", "Service", "Tenant", "Operation", "Action", "permit"]) {
    const odd = { ...STOCK_TOOL, resource: { ...STOCK_TOOL.resource, type } };
    expect(() => schemaOf([odd]), type).toThrow(Problem);
  }
  expect(() => schemaOf([tool("approve", STOCK_TOOL.input)])).toThrow(Problem);
});
