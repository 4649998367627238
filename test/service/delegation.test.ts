import { describe, expect, test } from "vitest";
import { CHAIN_MAX, type Delegation, type DelegationRule } from "../../src/core/delegation.ts";
import { tenantId } from "../../src/core/ids.ts";
import { executeLater } from "../../src/service/cancel.ts";
import type { Delegations } from "../../src/service/delegation-port.ts";
import { history } from "../../src/service/inspect.ts";
import { revoke, revokeDelegation } from "../../src/service/revoke.ts";
import { chained, linked, under } from "../support/delegated.ts";
import { instance } from "../support/instance.ts";
import { type Rig, rig } from "../support/rig.ts";
import { shop } from "../support/shop.ts";
import { change, refusal, stocked } from "../support/stock.ts";

const operator = (here: Rig) =>
  here.as({ principalId: "test#ops", clientId: "console", roles: ["operator"] });
const UNKNOWN = `dlg_${"0".repeat(32)}`;
const of = (rules: DelegationRule) => ({ rules: [rules] });

/** Why it was refused, as its own history tells it. */
async function why(here: Rig, operation: { readonly id: string }): Promise<unknown> {
  const events = await history(here.ports, operator(here), operation.id as never);
  return (JSON.parse(events.at(-1)?.body ?? "{}") as { data: { why?: string } }).data.why;
}

describe("an operation under a chain", () => {
  test("is permitted where every link covers it, names the chain in what is authorized, and ends with the first link that ends", async () => {
    const here = await shop();
    const [root, middle, last] = await chained(here, { lasts: { forMs: 20_000 } });

    const operation = await here.place("o1", { session: under(here, last), execute: "later" });

    expect(operation.state).toBe("authorized");
    expect(operation.expiresAt).toBe(middle.expiresAt);
    expect(operation.authorization?.expiresAt).toBe(middle.expiresAt);
    expect((JSON.parse(operation.action) as { delegation: unknown }).delegation).toEqual([
      { id: root.id, by: "principal", delegator: "test#ada", holder: "agent-1" },
      { id: middle.id, by: "client", delegator: "agent-1", holder: "agent-2" },
      { id: last.id, by: "client", delegator: "agent-2", holder: "agent-3" },
    ]);
    expect(last.expiresAt).toBe(middle.expiresAt);
  });

  test.each<[string, DelegationRule]>([
    ["another tool", { tools: ["orders.cancel"], resources: ["Order:*"] }],
    ["another resource", { tools: ["orders.*"], resources: ["Order:o2"] }],
    [
      "a smaller quantity",
      { tools: ["orders.*"], resources: ["Order:*"], arguments: { quantity: { max: 0 } } },
    ],
  ])("is denied where one link, not the last, covers only %s", async (_name, rule) => {
    const here = await shop();
    const [, middle, last] = await chained(here, of(rule));

    const operation = await here.place("o1", { session: under(here, last) });

    expect(operation).toMatchObject({ state: "rejected", reason: "denied" });
    expect(await why(here, operation)).toBe(`the delegation ${middle.id} does not cover this`);
    expect(here.orders()).toBe(0);
  });

  test("C134: a token that names a revoked, an ended or a coming delegation is told so, and nothing is sent", async () => {
    const here = await shop();
    const [root, , last] = await chained(here);
    const early = await linked(here, "agent-1", undefined, {
      notBefore: Date.now() + 3_600_000,
      lasts: { until: Date.now() + 7_200_000 },
    });
    const short = await linked(here, "agent-1", undefined, { lasts: { forMs: 30_000 } });
    await here.place("o0", { session: under(here, short) });
    await revokeDelegation(here.ports, operator(here), root.id, "she left");
    await here.clock.ahead(31_000);

    const revoked = await here.place("o1", { session: under(here, last) });
    const ended = await here.place("o2", { session: under(here, short) });
    const coming = await here.place("o3", { session: under(here, early) });

    expect(revoked).toMatchObject({ state: "rejected", reason: "revoked" });
    expect(ended).toMatchObject({ state: "rejected", reason: "expired" });
    expect(coming).toMatchObject({ state: "rejected", reason: "denied" });
    expect(here.orders()).toBe(1);
  });

  test("asks policy for every client of the chain: one that may not is enough", async () => {
    const asked: (readonly string[])[] = [];
    const here = await shop({
      overrides: {
        policy: {
          version: () => "v",
          approves: async () => false,
          opinions: async ({ session }) => {
            asked.push(session.delegation.map(({ holder }) => holder));
            const denied = session.delegation.some(({ holder }) => holder === "agent-2");
            const silent = { of: "test", policies: ["p"], requirements: [], obligations: [] };
            return [{ ...silent, effect: denied ? "deny" : "allow" }];
          },
        },
      },
    });
    const [root, , last] = await chained(here);

    const operation = await here.place("o1", { session: under(here, last) });
    const above = await here.place("o2", { session: under(here, root) });

    expect(operation).toMatchObject({ state: "rejected", reason: "denied" });
    expect(above.state).toBe("succeeded");
    expect(asked[0]).toEqual(["agent-1", "agent-2", "agent-3"]);
  });

  test("of eight links is permitted; the ledger has no place for a ninth", async () => {
    const here = await shop();
    let link = await linked(here, "agent-0");
    for (let depth = 1; depth < CHAIN_MAX; depth++) link = await linked(here, `agent-${depth}`, link);

    const operation = await here.place("o1", { session: under(here, link) });

    expect(operation.state).toBe("succeeded");
    await expect(linked(here, "agent-9", link)).rejects.toThrow(/check|constraint/);
  });
});

describe("A08, A19: a delegation that is not the caller's", () => {
  test("is answered exactly like one that does not exist: foreign, a parent's, a sibling's, another principal's", async () => {
    const here = await shop();
    const [root, middle, last] = await chained(here);
    const sibling = await linked(here, "agent-9", root);
    // What stands against whoever holds it is theirs to know, too.
    const stolen = await linked(here, "agent-8", root);
    await revoke(here.ports, operator(here), { scope: "client", name: "agent-8", reason: "stolen" });
    const globex = { session: here.as({ tenantId: tenantId("globex") }), ledger: here.ledger };
    const foreign = await linked(globex, "agent-3");
    const bobs = await linked(here, "agent-3", undefined, { principalId: "test#bob", delegator: "test#bob" });
    const service = await linked(here, "agent-3", undefined, { by: "operator", delegator: "test#ops" });
    const mine = { ...here.session, clientId: "agent-3" };
    const names = [
      UNKNOWN,
      foreign.id,
      root.id,
      middle.id,
      sibling.id,
      stolen.id,
      bobs.id,
      service.id,
      "x",
      "dlg_'; drop table delegations",
    ];

    const answers: unknown[] = [];
    for (const [n, delegationId] of names.entries()) {
      const operation = await here.place(`o${n}`, { session: { ...mine, delegationId } });
      const { state, reason, authorization } = operation;
      const chainOf = (JSON.parse(operation.action) as { delegation: unknown }).delegation;
      answers.push({ state, reason, authorization, chainOf, why: await why(here, operation) });
    }

    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ state: "rejected", reason: "denied", chainOf: [] });
    expect((await here.place("mine", { session: under(here, last) })).state).toBe("succeeded");
    expect(here.orders()).toBe(1);
  });

  test.each<[string, (root: Delegation, other: Delegation) => Partial<Delegation>]>([
    ["by somebody who does not hold the one above", () => ({ delegator: "agent-9" })],
    ["on behalf of another principal", () => ({ principalId: "test#bob" })],
    ["at another depth", () => ({ depth: 2 })],
    ["by an operator", () => ({ by: "operator" })],
    ["below a record of another chain", (_root, other) => ({ parentId: other.id })],
    ["below a record that is not there", () => ({ parentId: UNKNOWN })],
  ])("cannot even be written %s", async (_name, forged) => {
    const here = await rig();
    const root = await linked(here, "agent-1");
    const other = await linked(here, "agent-7");

    const writing = linked(here, "agent-2", root, forged(root, other));

    await expect(writing).rejects.toThrow(/constraint|not granted/);
  });

  test("cannot be changed, moved, prolonged, unrevoked or removed in the database, even by its owner", async () => {
    const here = await rig();
    const link = await linked(here, "agent-1");
    await here.ledger.delegations.end(here.session.tenantId, link.id, { by: "test", reason: "over" });
    const changes = [
      "rules = '[{}]'",
      "expires_at = expires_at + interval '1 day'",
      "holder = 'agent-2'",
      "revoked_at = null, revoked_by = null, revoked_reason = null",
    ];

    for (const change of changes)
      await expect(here.run(`update delegations set ${change} where tenant_id = 'acme'`)).rejects.toThrow(
        "never changes",
      );
    await expect(here.run("truncate delegations cascade")).rejects.toThrow("never disappear");
    await expect(here.run("delete from delegations where tenant_id = 'acme'")).rejects.toThrow(
      "never changes",
    );
  });

  test("two sessions at once, each under its own delegation: neither is answered with the other's authority", async () => {
    const here = await shop();
    const small = await linked(
      here,
      "agent-1",
      undefined,
      of({ tools: ["orders.place"], resources: ["Order:small"] }),
    );
    const large = await linked(here, "agent-1");

    const operations = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        here.place(`o${n}`, { session: under(here, n % 2 === 0 ? large : small) }),
      ),
    );

    expect(operations.filter(({ state }, n) => state !== (n % 2 === 0 ? "succeeded" : "rejected"))).toEqual(
      [],
    );
    expect(here.orders()).toBe(20);
  });
});

describe("the good path", () => {
  test("C145: reads a chain once for each epoch, however many proposals come under it, and what was not there each time", async () => {
    const here = await shop();
    const reads: (string | undefined)[] = [];
    const counting: Delegations = {
      ...here.ledger.delegations,
      backing: (tenant, claimant) => {
        reads.push(claimant.delegationId);
        return here.ledger.delegations.backing(tenant, claimant);
      },
    };
    const { authorityView } = await import("../../src/service/authority.ts");
    const ledger = { ...here.ports.ledger, delegations: counting };
    Object.assign(here.ports, { ledger, authority: authorityView(ledger) });
    const [, , last] = await chained(here);
    const later = { ...here.session, delegationId: UNKNOWN };

    for (const n of [1, 2, 3, 4, 5]) await here.place(`o${n}`, { session: under(here, last) });
    const good = reads.length;
    const absent = await here.place("o6", { session: later });
    await linked(here, "agent-1", undefined, { id: UNKNOWN });
    const present = await here.place("o7", { session: later });

    expect(good).toBe(1);
    expect(absent).toMatchObject({ state: "rejected", reason: "denied" });
    expect(present.state).toBe("succeeded");
  });
});

describe("uses", () => {
  test("are counted in the claim's own commit: of eight at once, through four instances, two are executed", async () => {
    const here = await shop();
    const others = await Promise.all([1, 2, 3].map((n) => instance(here, `w${n}`)));
    const link = await linked(here, "agent-1", undefined, { usesMax: 2 });
    const below = await linked(here, "agent-2", link);
    const waiting = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        here.place(`o${n}`, { session: under(here, below), execute: "later" }),
      ),
    );

    const executed = await Promise.all(
      waiting.map(async (operation, n) => {
        const ports = [here.ports, ...others.map((other) => other.ports)][n % 4] ?? here.ports;
        return refusal(executeLater(ports, under(here, below), operation.id).then(({ done }) => done));
      }),
    );
    const now = await refusal(here.place("o9", { session: under(here, below) }));

    expect(here.orders()).toBe(2);
    expect(executed.filter(({ code }) => code.startsWith("no refusal"))).toHaveLength(2);
    expect(now.code).toBe("limit_exceeded");
  });

  test("are given back when there was no effect", async () => {
    const here = await rig();
    await stocked(here, "a");
    const session = under(here, await linked(here, "agent-1", undefined, { usesMax: 1 }));

    const refused = await here.done(change("a"), { version: 41, session });
    const counted = await here.done(change("a"), { version: 42, session });
    const third = await refusal(here.done(change("a", 3), { version: 43, session }));

    expect(refused).toMatchObject({ state: "rejected", reason: "precondition_failed" });
    expect(counted.state).toBe("succeeded");
    expect(third.code).toBe("limit_exceeded");
    expect(await here.stock("a")).toMatchObject({ writes: 1 });
  });
});
