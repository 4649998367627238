import { describe, expect, test } from "vitest";
import {
  type ArgumentLimit,
  chainState,
  contains,
  coversRequest,
  type DelegatedRequest,
  type Delegation,
  type DelegationRule,
  holds,
} from "../../src/core/delegation.ts";
import { tenantId } from "../../src/core/ids.ts";
import { neverWidens } from "./attenuation.ts";

const REQUEST: DelegatedRequest = {
  tool: "inventory.set_available",
  resource: { type: "Item", id: "wh_1/a", parents: [{ type: "Warehouse", id: "wh_1" }] },
  arguments: { available: 18, lines: [{ amount: 5 }], warehouse: "wh_1", "a/b": 1 },
};
const RULE: DelegationRule = { tools: ["inventory.*"], resources: ["Warehouse:wh_1"] };
const rule = (changes: Partial<DelegationRule>): DelegationRule => ({ ...RULE, ...changes });
const limited = (at: string, limit: ArgumentLimit) => rule({ arguments: { [at]: limit } });

test.each<[string, readonly DelegationRule[], boolean]>([
  ["its name space and an owner of its resource", [RULE], true],
  [
    "its name and its resource",
    [rule({ tools: ["inventory.set_available"], resources: ["Item:wh_1/a"] })],
    true,
  ],
  ["every resource of the type", [rule({ resources: ["Item:*"] })], true],
  ["one rule of several", [rule({ tools: ["orders.*"] }), RULE], true],
  ["nothing", [], false],
  ["no tool", [rule({ tools: [] })], false],
  ["another name space that begins alike", [rule({ tools: ["inventory.set.*"] })], false],
  ["the name space as if it were a tool", [rule({ tools: ["inventory"] })], false],
  ["a tool whose name only begins so", [rule({ tools: ["inventory.set"] })], false],
  ["another resource", [rule({ resources: ["Item:wh_1/b", "Warehouse:wh_10"] })], false],
  ["the id under another type", [rule({ resources: ["Order:wh_1/a"] })], false],
  ["a number within", [limited("available", { min: 0, max: 18 })], true],
  ["a number above", [limited("available", { max: 17 })], false],
  ["a number below", [limited("available", { min: 19 })], false],
  ["one of a list", [limited("warehouse", { enum: ["wh_1", 7] })], true],
  ["none of a list", [limited("warehouse", { enum: ["wh_2"] })], false],
  ["an empty list", [limited("warehouse", { enum: [] })], false],
  ["what is deeper, by pointer", [limited("/lines/0/amount", { max: 5 })], true],
  ["what is deeper and too much", [limited("/lines/0/amount", { max: 4 })], false],
  ["a name with a slash", [limited("a/b", { max: 0 })], false],
  ["the same name as a pointer", [limited("/a~1b", { max: 1 })], true],
  ["a text where a number is limited", [limited("warehouse", { min: 0 })], false],
  ["a list where a value is limited", [limited("lines", { enum: ["x"] })], false],
  ["what is absent and not required", [limited("reason", { enum: ["x"] })], true],
  ["what is absent and required", [limited("reason", { required: true })], false],
  ["a name that every object inherits", [limited("constructor", { required: true })], false],
])("a delegation for %s", (_name, rules, covers) => {
  expect(coversRequest(rules, REQUEST)).toBe(covers);
});

const TOOL = {
  name: "inventory.set_available",
  resource: { type: "Item", id: "{warehouse}/{item}", parents: [{ type: "Warehouse", id: "{warehouse}" }] },
};

test.each<[string, DelegationRule, DelegationRule, boolean]>([
  ["itself", RULE, RULE, true],
  ["one tool of the name space", rule({ tools: ["inventory.move"] }), RULE, true],
  ["a smaller name space", rule({ tools: ["inventory.eu.*"] }), RULE, true],
  ["a larger name space", RULE, rule({ tools: ["inventory.move"] }), false],
  ["one resource of the type", rule({ resources: ["Item:x"] }), rule({ resources: ["Item:*"] }), true],
  ["every resource of the type", rule({ resources: ["Item:*"] }), rule({ resources: ["Item:x"] }), false],
  [
    "what belongs to it, for a known tool",
    rule({ tools: [TOOL.name], resources: ["Item:wh_1/a"] }),
    RULE,
    true,
  ],
  ["what belongs to another", rule({ tools: [TOOL.name], resources: ["Item:wh_2/a"] }), RULE, false],
  [
    "what may belong to it, for tools that nobody knows yet",
    rule({ resources: ["Item:wh_1/a"] }),
    RULE,
    false,
  ],
  [
    "what belongs to it, for a tool that is not known",
    rule({ tools: ["inventory.x"], resources: ["Item:wh_1/a"] }),
    RULE,
    false,
  ],
  [
    "a tighter limit",
    limited("available", { max: 5, min: 1 }),
    limited("/available", { max: 6, min: 0 }),
    true,
  ],
  ["a looser limit", limited("available", { max: 7 }), limited("available", { max: 6 }), false],
  ["no limit", RULE, limited("available", { max: 6 }), false],
  ["a limit of its own", limited("available", { max: 6 }), RULE, true],
  ["a list within a range", limited("available", { enum: [1, 2] }), limited("available", { max: 6 }), true],
  [
    "a list partly out of the range",
    limited("available", { enum: [1, 7] }),
    limited("available", { max: 6 }),
    false,
  ],
  [
    "a list that its own range cuts",
    limited("available", { enum: [1, 7], max: 6 }),
    limited("available", { max: 6 }),
    true,
  ],
  [
    "a range under a list",
    limited("available", { max: 2, min: 1 }),
    limited("available", { enum: [1, 2] }),
    false,
  ],
  [
    "what may be absent",
    limited("available", { max: 6 }),
    limited("available", { max: 6, required: true }),
    false,
  ],
])("whoever holds a part gives %s", (_name, child, parent, within) => {
  expect(contains([child], [parent], [TOOL])).toBe(within);
});

describe("a chain", () => {
  const link = (n: number, changes: Partial<Delegation> = {}): Delegation => ({
    tenantId: "acme",
    id: `d${n}`,
    ...(n === 0 ? {} : { parentId: `d${n - 1}` }),
    principalId: "i#ada",
    by: n === 0 ? "principal" : "client",
    delegator: n === 0 ? "i#ada" : `c${n - 1}`,
    holder: `c${n}`,
    rules: [RULE],
    depth: n,
    depthMax: 7,
    notBefore: 100,
    expiresAt: 200 - n,
    createdAt: 0,
    createdBy: "i#ada",
    ...changes,
  });
  const revoked = { at: 1, by: "x", reason: "y" };

  test.each<[string, readonly Delegation[], number, object]>([
    [
      "of three stands, and ends with the first of them",
      [link(0), link(1), link(2)],
      150,
      { ok: true, endsAt: 198 },
    ],
    ["of none stands", [], 150, { ok: true }],
    ["stands at the moment it begins", [link(0)], 100, { ok: true }],
    ["does not stand before", [link(0)], 99, { why: "not_yet", link: "d0" }],
    ["does not stand at the moment one ends", [link(0), link(1)], 199, { why: "expired", link: "d1" }],
    [
      "ends with a revoked link, wherever it is",
      [link(0, { revoked }), link(1)],
      150,
      { why: "revoked", link: "d0" },
    ],
    ["whose first has a parent is broken", [link(1)], 150, { why: "broken" }],
    ["that misses one is broken", [link(0), link(2)], 150, { why: "broken" }],
    ["whose parent is another is broken", [link(0), link(1, { parentId: "d9" })], 150, { why: "broken" }],
    [
      "given by another than the holder above is broken",
      [link(0), link(1, { delegator: "c9" })],
      150,
      { why: "broken" },
    ],
    ["of two tenants is broken", [link(0), link(1, { tenantId: "globex" })], 150, { why: "broken" }],
    ["of two principals is broken", [link(0), link(1, { principalId: "i#bob" })], 150, { why: "broken" }],
    [
      "whose root is somebody else's gift is broken",
      [link(0, { delegator: "i#bob" })],
      150,
      { why: "broken" },
    ],
    ["deeper than permitted above is broken", [link(0, { depthMax: 0 }), link(1)], 150, { why: "broken" }],
  ])("%s", (_name, links, clock, state) => {
    expect(chainState(links, clock)).toMatchObject(state);
  });

  test.each<
    [
      string,
      Partial<{ principalId: string; clientId: string; tenant: string }>,
      readonly Delegation[],
      boolean,
    ]
  >([
    ["its holder, on behalf of its principal", { clientId: "c1" }, [link(0), link(1)], true],
    ["the holder of a link above", { clientId: "c0" }, [link(0), link(1)], false],
    ["a sibling", { clientId: "c2" }, [link(0), link(1)], false],
    ["its holder for another principal", { clientId: "c1", principalId: "i#bob" }, [link(0), link(1)], false],
    ["its holder in another tenant", { clientId: "c1", tenant: "globex" }, [link(0), link(1)], false],
    [
      "an agent, of what an operator gave a service",
      { clientId: "c0" },
      [link(0, { by: "operator" })],
      false,
    ],
    [
      "the service itself, of what an operator gave it",
      { clientId: "c0", principalId: "i#c0" },
      [link(0, { by: "operator", principalId: "i#c0", delegator: "i#olga" })],
      true,
    ],
  ])("is used by %s: %o", (_name, who, links, expected) => {
    const { principalId = "i#ada", clientId = "", tenant = "acme" } = who;
    expect(holds({ principalId, clientId, tenantId: tenantId(tenant) }, links)).toBe(expected);
  });
});

describe("I8, over random rules and requests", () => {
  test("adding a link never widens, and what was contained is contained at use", () => {
    const told = neverWidens(4_000, 20_26);

    expect(told.widened).toEqual([]);
    expect(told.contained).toBeGreaterThan(150);
    expect(told.allowed).toBeGreaterThan(300);
  });

  test.each(["only the last link", "a parent's missing limit", "the tool alone"] as const)(
    "broken: with %s the search finds a request that grows",
    (mistake) => {
      expect(neverWidens(4_000, 20_26, mistake).widened).not.toEqual([]);
    },
  );
});
