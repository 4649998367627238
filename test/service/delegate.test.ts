import { describe, expect, test } from "vitest";
import type { Delegation, DelegationRule } from "../../src/core/delegation.ts";
import { tenantId } from "../../src/core/ids.ts";
import type { Session } from "../../src/core/session.ts";
import { type DelegationOrder, delegate, delegations } from "../../src/service/delegate.ts";
import { revoke, revokeDelegation } from "../../src/service/revoke.ts";
import { linked, under } from "../support/delegated.ts";
import type { Rig } from "../support/rig.ts";
import { shop } from "../support/shop.ts";
import { refusal, rowsOf } from "../support/stock.ts";

const RULE: DelegationRule = {
  tools: ["orders.place"],
  resources: ["Order:*"],
  arguments: { quantity: { max: 5 } },
};
const operator = (here: Rig) =>
  here.as({ principalId: "test#ops", clientId: "console", roles: ["operator"] });
const inPerson = (here: Rig) => here.as({ clientId: "console", authentication: { via: "console" } });
const give = (here: Rig, session: Session, order: Partial<DelegationOrder> = {}) =>
  delegate(here.ports, session, { holder: "agent-2", rules: [RULE], lasts: { forMs: 60_000 }, ...order });

describe("who may give", () => {
  test("a person in a session of their own gives their own authority; their agent, as their agent; an operator, to a service", async () => {
    const here = await shop({ roles: { agent: ["*"], service: ["*"] } });

    const hers = await give(here, inPerson(here));
    const agents = await give(here, here.session);
    const services = await give(here, operator(here), { holder: "batch", service: "test#batch" });
    const itself = here.as({
      principalId: "test#batch",
      clientId: "batch",
      itself: true,
      delegationId: services.id,
    });
    const sessions = [under(here, hers), under(here, agents), itself];
    const operations = await Promise.all(sessions.map((session, n) => here.place(`o${n}`, { session })));

    expect(
      [hers, agents, services].map(({ by, delegator, holder, principalId }) => [
        by,
        delegator,
        holder,
        principalId,
      ]),
    ).toEqual([
      ["principal", "test#ada", "agent-2", "test#ada"],
      ["client", "agent-1", "agent-2", "test#ada"],
      ["operator", "test#ops", "batch", "test#batch"],
    ]);
    expect(operations.map(({ state }) => state)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(here.orders()).toBe(3);
  });

  test("what an agent gives as an agent is asked of policy for the agent, too", async () => {
    const asked: Session[] = [];
    const silent = { of: "test", policies: ["p"], requirements: [], obligations: [] };
    const opinions = async ({ session }: { readonly session: Session }) => {
      asked.push(session);
      return [{ ...silent, effect: "allow" as const }];
    };
    const here = await shop({
      overrides: { policy: { version: () => "v", approves: async () => false, opinions } },
    });
    const { clientsInChain } = await import("../../src/core/session.ts");

    await here.place("o1", { session: under(here, await give(here, here.session)) });
    await here.place("o2", { session: under(here, await give(here, inPerson(here))) });

    expect(asked.map(clientsInChain)).toEqual([["agent-1", "agent-2"], ["agent-2"]]);
  });

  test("C142: nobody gives what they do not hold: who holds a link gives below it, and who was given nothing gives nothing", async () => {
    const here = await shop();
    const held = await linked(here, "agent-1", undefined, { rules: [RULE], depthMax: 1 });
    const session = under(here, held);

    const below = await give(here, session);
    const rows: readonly [string, Promise<unknown>][] = [
      ["a token that names a sibling's", give(here, { ...under(here, held), clientId: "agent-9" })],
      ["one that names nothing that exists", give(here, here.as({ delegationId: "dlg_x" }))],
      ["another tenant's", give(here, { ...session, tenantId: tenantId("globex") })],
      ["deeper than was permitted", give(here, under(here, below))],
      ["further than was permitted", give(here, session, { depth: 1 })],
      ["an agent, to a service", give(here, here.session, { service: "test#agent-2" })],
    ];
    const codes = await Promise.all(
      rows.map(async ([who, giving]) => `${who}: ${(await refusal(giving)).code}`),
    );
    const strange = await refusal(give(here, operator(here), { service: "test#ada" }));

    expect(below).toMatchObject({ parentId: held.id, delegator: "agent-1", depth: 1, depthMax: 1 });
    expect(codes).toEqual(rows.map(([who]) => `${who}: forbidden`));
    expect(strange).toMatchObject({ code: "invalid_request", at: "/service" });
    expect(await rowsOf(here, "delegations")).toBe(2);
  });
});

describe("A19: a child that holds more than its parent", () => {
  test.each<[string, Partial<DelegationRule>]>([
    ["a tool", { tools: ["orders.place", "orders.cancel"] }],
    ["a name space", { tools: ["orders.*"] }],
    ["a resource", { resources: ["Order:*", "Item:x"] }],
    ["a looser limit", { arguments: { quantity: { max: 6 } } }],
    ["no limit", { arguments: {} }],
    ["the limit under another name", { arguments: { "/quantity/x": { max: 5 } } }],
  ])("is refused when it has %s more, and nothing is stored", async (_name, more) => {
    const here = await shop();
    const session = under(here, await linked(here, "agent-1", undefined, { rules: [RULE] }));

    const answer = await refusal(give(here, session, { rules: [{ ...RULE, ...more }] }));

    expect(answer).toMatchObject({ code: "forbidden", at: "/rules" });
    expect(await rowsOf(here, "delegations")).toBe(1);
  });

  test("written past that check all the same, gives nothing that its parent does not", async () => {
    const here = await shop();
    const parent = await linked(here, "agent-1", undefined, { rules: [RULE] });
    const child = await linked(here, "agent-2", parent, {
      rules: [{ tools: ["orders.*"], resources: ["Order:*"] }],
    });

    const much = await here.place("o1", { session: under(here, child), quantity: 6 });
    const little = await here.place("o2", { session: under(here, child), quantity: 5 });

    expect(much).toMatchObject({ state: "rejected", reason: "denied" });
    expect(little.state).toBe("succeeded");
  });

  test("ends with its parent, whatever it says; and a limit that nothing meets is a mistake", async () => {
    const here = await shop();
    const parent = await linked(here, "agent-1", undefined, { rules: [RULE], lasts: { forMs: 10_000 } });

    const child = await give(here, under(here, parent), { lasts: { forMs: 3_600_000 } });
    const nonsense = await refusal(
      give(here, here.session, { rules: [{ ...RULE, arguments: { quantity: { min: 6, max: 5 } } }] }),
    );
    const past = await refusal(give(here, here.session, { lasts: { until: 1 } }));

    expect(child.expiresAt).toBe(parent.expiresAt);
    expect(nonsense).toMatchObject({ code: "invalid", at: "/rules/0/arguments/quantity" });
    expect(past).toMatchObject({ code: "invalid" });
  });

  test("is not given by somebody who was revoked, or under what was", async () => {
    const here = await shop();
    const parent = await linked(here, "agent-1");
    await revokeDelegation(here.ports, operator(here), parent.id, "over");

    const underRevoked = await refusal(give(here, under(here, parent)));
    await revoke(here.ports, operator(here), { scope: "client", name: "agent-1", reason: "stolen" });
    const byRevoked = await refusal(give(here, here.session));

    expect([underRevoked.code, byRevoked.code]).toEqual(["revoked", "revoked"]);
  });
});

describe("who may end one, and see it", () => {
  /** Ada, in person, to agent-1, to agent-2, to agent-3; the last is what is looked at. */
  async function made(here: Rig): Promise<readonly Delegation[]> {
    const root = await give(here, inPerson(here), { holder: "agent-1", depth: 3 });
    const middle = await give(here, under(here, root), { holder: "agent-2", depth: 2 });
    return [root, middle, await give(here, under(here, middle), { holder: "agent-3" })];
  }
  const rows: readonly [string, (here: Rig, chain: readonly Delegation[]) => Session, string][] = [
    ["its delegator", (here, [, middle]) => under(here, middle as Delegation), "revoked"],
    ["a holder above its delegator", (here, [root]) => under(here, root as Delegation), "revoked"],
    ["the principal", (here) => inPerson(here), "revoked"],
    ["an operator", (here) => operator(here), "revoked"],
    ["its own holder", (here, [, , last]) => under(here, last as Delegation), "forbidden"],
    ["an auditor", (here) => here.as({ principalId: "test#aldo", roles: ["auditor"] }), "forbidden"],
    ["a stranger", (here) => here.as({ principalId: "test#bob" }), "not_found"],
    [
      "a sibling under the same principal",
      (here) => here.as({ clientId: "agent-9", delegationId: "dlg_x" }),
      "not_found",
    ],
    [
      "an operator of another tenant",
      (here) => ({ ...operator(here), tenantId: tenantId("globex") }),
      "not_found",
    ],
  ];
  test.each(rows)("%s asks for its end", async (_who, sessionOf, expected) => {
    const here = await shop();
    const chain = await made(here);
    const last = chain[2] as Delegation;

    const ending = revokeDelegation(here.ports, sessionOf(here, chain), last.id, "over");
    const code = await ending.then(
      ({ revoked }) => (revoked === undefined ? "nothing" : "revoked"),
      (error) => error.code,
    );
    const after = await here.place("o1", { session: under(here, last) });

    expect(code).toBe(expected);
    expect(after).toMatchObject(
      expected === "revoked" ? { state: "rejected", reason: "revoked" } : { state: "succeeded" },
    );
  });

  test("is seen by its principal, by whoever gave or holds it, and by the roles that see the tenant; twice is once", async () => {
    const here = await shop();
    const [root, middle, last] = (await made(here)) as readonly [Delegation, Delegation, Delegation];
    const seen = async (session: Session, query = {}) =>
      (await delegations(here.ports, session, { max: 10, ...query })).map(({ id }) => id);

    expect(await seen(inPerson(here))).toEqual([last.id, middle.id, root.id]);
    expect(await seen(under(here, middle))).toEqual([last.id, middle.id]);
    expect(await seen(under(here, last))).toEqual([last.id]);
    expect(await seen(here.as({ principalId: "test#bob" }))).toEqual([]);
    expect(await seen({ ...operator(here), tenantId: tenantId("globex") })).toEqual([]);
    expect(await seen(operator(here), { before: last.id, max: 1 })).toEqual([middle.id]);
    const first = await revokeDelegation(here.ports, operator(here), middle.id, "one");
    const second = await revokeDelegation(here.ports, operator(here), middle.id, "two");
    expect(second).toEqual(first);
    expect(await seen(operator(here), { standing: true })).toEqual([last.id, root.id]);
    expect(await seen(operator(here), { holder: "agent-3" })).toEqual([last.id]);
  });
});
