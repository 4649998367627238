import { getValidRequestEnvsPolicy } from "@cedar-policy/cedar-wasm/nodejs";
import { expect, test } from "vitest";
import { parsed } from "../../src/policy/load.ts";
import { schemaOf } from "../../src/policy/model.ts";
import { speaksOf } from "../../src/policy/slice.ts";
import { PERMITS, policy } from "../support/cedar.ts";
import { STOCK_TOOL } from "../support/rig.ts";

const TOOLS = [
  STOCK_TOOL,
  { ...STOCK_TOOL, name: "inventory.eu.set" },
  { ...STOCK_TOOL, name: "order.place", resource: { type: "Order", id: "{item}", parents: [] } },
];
const HEADS = [
  "principal, action, resource",
  'principal, action == Writ::Action::"order.place", resource',
  'principal, action in Writ::Action::"inventory.*", resource',
  'principal, action in [Writ::Action::"inventory.eu.*", Writ::Action::"order.place"], resource',
  'principal is Writ::User, action in Writ::Action::"*", resource is Writ::Order',
  'principal, action in Writ::Action::"*", resource == Writ::Item::"a/b"',
  'principal, action in Writ::Action::"*", resource in Writ::Warehouse::"a"',
  'principal in Writ::Tenant::"acme", action in Writ::Action::"*", resource in Writ::Tenant::"acme"',
];

test("slicing by a rule's head leaves out nothing that Cedar finds applicable to a tool", () => {
  const schema = schemaOf(TOOLS);
  const text = HEADS.map((head, index) => `@id("h${index}") permit(${head});`).join("\n");
  const { rules, mistakes } = parsed(policy(PERMITS, text));
  let left = 0;

  expect(mistakes).toEqual([]);
  for (const rule of rules) {
    const found = getValidRequestEnvsPolicy(rule.text, schema);
    const actions = found.type === "success" ? found.actions : [];
    for (const tool of TOOLS) {
      const ours = speaksOf(rule.json, tool);
      if (actions.includes(`Writ::Action::"${tool.name}"`))
        expect(ours, `${rule.text} ${tool.name}`).toBe(true);
      if (!ours) left += 1;
    }
  }
  expect(left).toBeGreaterThan(5);
});
