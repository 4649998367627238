import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { ADA, cedar, PERMITS, policy, stock } from "../support/cedar.ts";
import { STOCK_TOOL } from "../support/rig.ts";

const LARGE = `@id("hard.large") @reason("More than 50 is never right")
forbid(principal is Writ::User, action == Writ::Action::"inventory.set_available", resource) when { context.input.available > 50 };`;
const REVIEWED = `@id("review.large") @approval("manager") @quorum("2") @within("PT5M") @reason("More than 50 needs a manager")
forbid(principal is Writ::User, action == Writ::Action::"inventory.set_available", resource) when { context.input.available > 50 };`;

test("C132: what a rule permits is allowed by name, and a rule on an argument sees the argument", async () => {
  const { ask } = cedar(policy(PERMITS, LARGE));

  expect(await ask(stock(18))).toMatchObject({ effect: "allow", policies: ["people", "clients"] });
  expect(await ask(stock(60))).toMatchObject({
    effect: "deny",
    policies: ["hard.large"],
    why: "More than 50 is never right",
  });
  expect(await ask(stock(18), { session: { roles: [] } })).toMatchObject({ effect: "deny" });
});

test("A22: a value that Cedar would read as something else is never let through", async () => {
  const { ask } = cedar(policy(PERMITS, LARGE));
  const hostile: readonly unknown[] = [
    { __extn: { fn: "unknown", arg: "x" } },
    { __extn: { fn: "decimal", arg: "1.0" } },
    { __entity: { type: "Writ::User", id: "https://issuer.example#ada" } },
    { __expr: "1" },
    [1],
    [],
    {},
    "18",
    "60",
    "",
    true,
    null,
    undefined,
    1.5,
    1e20,
    -1e20,
    2 ** 53,
    2 ** 53 + 2,
    -0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    18n,
  ];

  for (const value of hostile)
    expect(await ask(stock(value)), `available: ${String(value)}`).toMatchObject({ effect: "deny" });
});

test("A22: a name of Cedar's own is refused wherever it stands, also where policy does not look", async () => {
  const tool = { ...STOCK_TOOL, input: { ...STOCK_TOOL.input, additionalProperties: true } };
  const { ask } = cedar(policy(PERMITS), { tools: [tool] });

  expect(await ask({ ...stock(1), note: { of: "nothing" } }, { tool })).toMatchObject({ effect: "allow" });
  for (const name of ["__extn", "__entity", "__expr"]) {
    const deep = { ...stock(1), note: [{ more: { [name]: { fn: "ip", arg: "x" } } }] };
    expect(await ask(deep, { tool }), name).toMatchObject({ effect: "deny" });
    expect(await ask({ ...stock(1), [name]: 1 }, { tool }), name).toMatchObject({ effect: "deny" });
  }
});

test("a missing argument, a wrong case of it, and half a character are a no", async () => {
  const { ask } = cedar(policy(PERMITS, LARGE));

  expect(await ask({ warehouse: "main", item: "widget" })).toMatchObject({ effect: "deny" });
  expect(await ask({ warehouse: "main", item: "widget", Available: 1 })).toMatchObject({ effect: "deny" });
  expect(await ask({ ...stock(1), item: "\ud800" })).toMatchObject({ effect: "deny" });
  expect(await ask(stock(1), { session: { roles: ["clerk", "\udc00"] } })).toMatchObject({ effect: "deny" });
  expect(await ask(stock(1), { session: { clientId: "agent\ud800" } })).toMatchObject({ effect: "deny" });
});

test("A21: a forbid that errs is a no and not a silence", async () => {
  const overflowing = `@id("hard.overflow") forbid(principal, action == Writ::Action::"inventory.set_available", resource)
    when { context.input.available * 9007199254740991 > 5 };`;
  const { ask, said } = cedar(policy(PERMITS, overflowing));

  expect(await ask(stock(0))).toMatchObject({ effect: "allow" });
  const decision = await ask(stock(9_007_199_254_740_991));

  expect(decision).toMatchObject({ effect: "deny", policies: [] });
  expect(decision.why).toContain("hard.overflow");
  expect(said).toEqual([]);
});

test("A21: a permit that errs is a no, also beside another that allows", async () => {
  const erring = `@id("permit.overflow") permit(principal, action == Writ::Action::"inventory.set_available", resource)
    when { context.input.available * 9007199254740991 > 5 };`;
  const { ask } = cedar(policy(PERMITS, erring));

  expect(await ask(stock(9_007_199_254_740_991))).toMatchObject({ effect: "deny" });
});

test("A21: a rule that looks at an entity which is not there is a no", async () => {
  const other = `@id("hard.other") forbid(principal, action == Writ::Action::"inventory.set_available", resource)
    when { Writ::User::"https://issuer.example#bob".roles.contains("banned") };`;
  const { ask } = cedar(policy(PERMITS, other));

  const decision = await ask(stock(1));

  expect(decision).toMatchObject({ effect: "deny" });
  expect(decision.why).toContain("hard.other");
});

test("a review asks only whom the rules name, and nobody where the rest would deny anyway", async () => {
  const { ask } = cedar(policy(PERMITS, REVIEWED));

  expect(await ask(stock(60))).toMatchObject({
    effect: "review",
    requirements: [
      {
        policy: "review.large",
        role: "manager",
        quorum: 2,
        withinMs: 300_000,
        by: "second_person",
        reason: "More than 50 needs a manager",
      },
    ],
  });
  expect(await ask(stock(60), { session: { roles: [] } })).toMatchObject({
    effect: "deny",
    requirements: [],
  });
  const { ask: asked } = cedar(policy(PERMITS, REVIEWED, LARGE));
  expect(await asked(stock(60))).toMatchObject({ effect: "deny", requirements: [] });
});

test("A01: a powerful client lends nobody its rights, and a powerful user none to an unknown client", async () => {
  const { ask } = cedar(
    policy(`@id("robot") permit(principal == Writ::Service::"robot", action in Writ::Action::"*", resource);
      @id("people") permit(principal is Writ::User, action in Writ::Action::"*", resource) when { principal.roles.contains("clerk") };`),
  );

  expect(await ask(stock(1), { session: { clientId: "robot" } })).toMatchObject({ effect: "allow" });
  expect(await ask(stock(1), { session: { clientId: "robot", roles: [] } })).toMatchObject({
    effect: "deny",
  });
  expect(await ask(stock(1), { session: { clientId: "agent-1" } })).toMatchObject({ effect: "deny" });
  const link = { id: "dlg_1", by: "client", delegator: "agent-1", holder: "robot" } as const;
  expect(await ask(stock(1), { session: { clientId: "robot", delegation: [link] } })).toMatchObject({
    effect: "deny",
  });
});

test("a service that acts for itself is permitted only by a rule that says Writ::Service", async () => {
  const itself = { itself: true as const, principalId: "https://issuer.example#robot", clientId: "robot" };
  const anybody = `@id("anybody") permit(principal, action in Writ::Action::"*", resource);`;
  const service = `@id("robots") permit(principal is Writ::Service, action in Writ::Action::"*", resource) when { context.itself && principal.roles.contains("batch") };`;

  expect(await cedar(policy(anybody)).ask(stock(1))).toMatchObject({ effect: "allow" });
  expect(await cedar(policy(anybody)).ask(stock(1), { session: itself })).toMatchObject({ effect: "deny" });
  expect(await cedar(policy(PERMITS)).ask(stock(1), { session: itself })).toMatchObject({ effect: "deny" });
  const batch = { ...itself, roles: ["batch"] };
  expect(await cedar(policy(service)).ask(stock(1), { session: batch })).toMatchObject({
    effect: "allow",
    policies: ["robots"],
  });
  expect(await cedar(policy(service)).ask(stock(1), { session: { roles: ["batch"] } })).toMatchObject({
    effect: "deny",
  });
});

test("A12: text that was changed behind our back, or is gone, permits nothing", async () => {
  const text = policy(PERMITS);

  expect(await cedar(text, { stored: policy(PERMITS, LARGE) }).ask(stock(1))).toMatchObject({
    effect: "deny",
  });
  expect(await cedar(text, { stored: null }).ask(stock(1))).toMatchObject({ effect: "deny" });
  const { ask, said } = cedar(policy("permit(principal, action, resource);"));
  expect(await ask(stock(1))).toMatchObject({ effect: "deny" });
  expect(said).toHaveLength(1);
});

test("C133: a process whose tools the rules do not fit permits nothing at all", async () => {
  const other = `@id("other") permit(principal, action == Writ::Action::"shop.order", resource);`;

  expect(await cedar(policy(PERMITS, other)).ask(stock(1))).toMatchObject({ effect: "deny" });
});

test("what cannot be read of the resource is not there, and rules see its value in the arguments' kinds", async () => {
  const rule = `@id("hard.jump") forbid(principal is Writ::User, action == Writ::Action::"inventory.set_available", resource)
    unless { context has current && context.current.value has available && context.input.available <= context.current.value.available + 10 };`;
  const at = (value: JsonObject) =>
    cedar(policy(PERMITS, rule), { facts: { current: { version: "7", value } } });

  expect(await cedar(policy(PERMITS, rule)).ask(stock(1))).toMatchObject({ effect: "deny" });
  expect(await at({ available: 10, other: "x" }).ask(stock(20))).toMatchObject({
    effect: "allow",
    facts: { current: { version: "7" } },
  });
  expect(await at({ available: 10 }).ask(stock(21))).toMatchObject({ effect: "deny" });
  expect(await at({ available: "10" }).ask(stock(1))).toMatchObject({ effect: "deny" });
  expect(await at({ available: { __extn: { fn: "decimal", arg: "1.0" } } }).ask(stock(1))).toMatchObject({
    effect: "deny",
  });
});

test("what happened lately is looked up only where a rule asks for it", async () => {
  const rule = `@id("hard.hot") forbid(principal is Writ::User, action in Writ::Action::"*", resource)
    when { context.recent.conflicts > 3 || context.recent.denials > 5 };`;
  const at = (conflicts: number) =>
    cedar(policy(PERMITS, rule), { facts: { recent: { denials: 0, conflicts } } }).ask(stock(1));

  expect(await at(3)).toMatchObject({ effect: "allow", facts: { recent: { conflicts: 3 } } });
  expect(await at(4)).toMatchObject({ effect: "deny" });
  expect((await cedar(policy(PERMITS)).ask(stock(1))).facts).toBeUndefined();
});

test("nobody may answer for what policy does not let them answer for", async () => {
  const { engine } = cedar(policy(PERMITS, REVIEWED));
  const requirement = {
    policy: "review.large",
    role: "manager",
    quorum: 1,
    withinMs: 1,
    by: "second_person" as const,
    reason: "",
  };
  const question = (roles: readonly string[], policyVersion: string) => ({
    session: { ...ADA, principalId: "https://issuer.example#ben", roles },
    operation: {
      id: "op_1",
      tool: STOCK_TOOL.name,
      resource: "Item:main/widget",
      principalId: ADA.principalId,
      clientId: "agent-1",
      action: '{"delegation":[]}',
    } as never,
    requirement,
    authority: { epoch: 1, offered: "", halts: [], probes: [], policyVersion },
  });
  const version = (await import("../../src/policy/ruleset.ts")).policyDigest(policy(PERMITS, REVIEWED));

  expect(await engine.approves(question(["manager"], `1.${version}`))).toBe(true);
  expect(await engine.approves(question(["clerk"], `1.${version}`))).toBe(false);
  expect(await engine.approves(question(["manager"], ""))).toBe(false);
});
