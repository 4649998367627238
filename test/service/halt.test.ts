import { describe, expect, test } from "vitest";
import type { Opinion } from "../../src/core/policy.ts";
import { executeLater } from "../../src/service/cancel.ts";
import { type HaltOrder, halt, lift, standing } from "../../src/service/halt.ts";
import { takeStep } from "../../src/service/reconcile.ts";
import { linked, under } from "../support/delegated.ts";
import { instance } from "../support/instance.ts";
import { KINDS, type Shop, shop } from "../support/shop.ts";
import { refusal, rowsOf } from "../support/stock.ts";

const ops = (here: Shop) => here.as({ principalId: "test#ops", roles: ["operator"] });
const stop = (here: Shop, order: Partial<HaltOrder> = {}) =>
  halt(here.ports, ops(here), { scope: "tenant", reason: "an incident", ...order });

describe("a halt", () => {
  test.each<[HaltOrder["scope"], string | undefined]>([
    ["tenant", undefined],
    ["tool", "orders.place"],
    ["provider", "shop"],
    ["principal", "test#ada"],
    ["client", "agent-1"],
    ["delegation", "its own"],
    ["delegation", "the one above"],
  ])(
    "of a %s refuses what it names, stores nothing, and leaves everything else alone",
    async (scope, name) => {
      const here = await shop();
      const above = await linked(here, "agent-0");
      const link = await linked(here, "agent-1", above);
      const session = under(here, link);
      const names = new Map([
        ["its own", link.id],
        ["the one above", above.id],
      ]);
      await stop(here, { scope, name: names.get(name ?? "") ?? name });

      const answer = await refusal(here.place("o1", { session }));
      const other = await here.place("o1", {
        session: here.as({ tenantId: "globex" as never, principalId: "test#bob", clientId: "agent-2" }),
        ...(scope === "tool" || scope === "provider" ? {} : {}),
      });

      expect(answer).toMatchObject({ code: "halted", retryAfterMs: 30_000 });
      expect(await rowsOf(here, "operations")).toBe(0);
      expect(other.state).toBe("succeeded");
      expect(here.orders()).toBe(1);
    },
  );

  test("that names another tool, provider, principal, client or delegation changes nothing", async () => {
    const here = await shop();
    const session = under(here, await linked(here, "agent-1"));
    for (const scope of ["tool", "provider", "principal", "client", "delegation"] as const)
      await stop(here, { scope, name: "another" });

    expect((await here.place("o1", { session })).state).toBe("succeeded");
  });

  test("keeps what is authorized until it is lifted, and then it runs", async () => {
    const here = await shop();
    const waiting = await here.place("o1", { execute: "later" });
    const made = await stop(here);

    const answer = await refusal(executeLater(here.ports, here.session, waiting.id));
    const meanwhile = await here.again(waiting);
    await lift(here.ports, ops(here), made.id);
    const executed = await executeLater(here.ports, here.session, waiting.id);

    expect(answer.code).toBe("halted");
    expect(meanwhile).toMatchObject({ state: "authorized", attempts: [] });
    expect(await executed.done).toMatchObject({ state: "succeeded" });
  });

  test("that somebody else lifts is noticed by a worker that had met it", async () => {
    const here = await shop();
    const worker = await instance(here, "w2");
    here.provider.fault("throttle");
    const waiting = await here.place("o1");
    const made = await stop(here);
    const read = await here.ledger.read(waiting.tenantId, waiting.id);
    await takeStep(worker.ports, waiting, read?.clock ?? 0);

    await lift(here.ports, ops(here), made.id);
    const executed = await takeStep(worker.ports, await here.again(waiting), read?.clock ?? 0);

    expect(await executed.done).toMatchObject({ state: "succeeded" });
  });

  test("does not lengthen a permission: what is still halted at its end is expired", async () => {
    const here = await shop({ tool: { permissionForMs: 30_000 } });
    here.provider.fault("throttle");
    const waiting = await here.place("o1");
    await stop(here);

    const settled = await here.drive(waiting);

    expect(waiting.state).toBe("authorized");
    expect(settled).toMatchObject({ state: "rejected", reason: "expired" });
    expect(here.orders()).toBe(0);
  });

  test("during back-off stops the repeat at once; when it is lifted in time, the repeat comes", async () => {
    const here = await shop({ of: "key" });
    here.provider.fault("drop_before");
    const lost = await here.place("o1");
    const made = await stop(here);
    await here.clock.ahead(5_000);

    const halted = await here.step(lost);
    const sentWhileHalted = here.provider.requests().length;
    await lift(here.ports, ops(here), made.id);
    const settled = await here.drive(halted);

    expect(halted).toMatchObject({ state: "unknown", attempts: [{ n: 1 }] });
    expect(sentWhileHalted).toBe(1);
    expect(settled).toMatchObject({ state: "succeeded" });
    expect(here.orders()).toBe(1);
  });

  test("lets what is executing finish", async () => {
    const here = await shop();
    here.provider.fault("slow", { ms: 400 });
    const begun = await here.ask({ order: "o1", item: "main/bolt", quantity: 1 }, { tool: "orders.place" });

    await stop(here);

    expect(await begun.done).toMatchObject({ state: "succeeded" });
  });

  test("is the operator's to make, to lift once, and to see with its reason", async () => {
    const here = await shop();
    const made = await stop(here, { scope: "tool", name: "orders.place" });

    const seen = await standing(here.ports, ops(here));
    const refused = await refusal(halt(here.ports, here.session, { scope: "tenant", reason: "no" }));
    const nameless = await refusal(stop(here, { scope: "tool" }));
    await lift(here.ports, ops(here), made.id);
    const again = await refusal(lift(here.ports, ops(here), made.id));

    expect(seen.halts).toEqual([made]);
    expect(made).toMatchObject({
      scope: "tool",
      name: "orders.place",
      reason: "an incident",
      actor: "test#ops",
    });
    expect([refused.code, nameless.code, again.code]).toEqual(["forbidden", "invalid_request", "not_found"]);
    const raised = await here.run(
      "select type, actor from authority_events where tenant_id = 'acme' order by epoch",
    );
    expect(raised.slice(-2)).toEqual([
      { type: "halted", actor: "test#ops" },
      { type: "lifted", actor: "test#ops" },
    ]);
  });
});

describe("authority that changed since the decision", () => {
  type Voice = Pick<Opinion, "effect"> & Partial<Opinion>;
  /** A policy that says what it is told to, from one moment to the next. */
  async function governed(options: Parameters<typeof shop>[0] = {}) {
    const now: { voice: Voice } = { voice: { effect: "allow" } };
    const opinions = async (): Promise<readonly Opinion[]> => [
      { of: "test", policies: ["p"], requirements: [], obligations: [], ...now.voice },
    ];
    const here = await shop({
      ...options,
      overrides: { policy: { version: () => "v", opinions, approves: async () => true } },
    });
    const change = async (voice: Voice) => {
      now.voice = voice;
      await here.ledger.raiseEpoch(here.session.tenantId, "a change", "ops");
    };
    return { here, change };
  }
  const asked = {
    policy: "test.rule",
    role: "approver",
    quorum: 1,
    withinMs: 60_000,
    by: "second_person",
    reason: "risk",
  } as const;

  test.each<[string, Voice, object, number]>([
    ["the same", { effect: "allow" }, { state: "succeeded" }, 1],
    ["no", { effect: "deny" }, { state: "rejected", reason: "denied" }, 0],
    ["ask people", { effect: "review", requirements: [asked] }, { state: "proposed", attempts: [] }, 0],
    [
      "the same with another duty",
      { effect: "allow", obligations: [{ log: true }] },
      { state: "rejected" },
      0,
    ],
  ])("before the claim is asked again: %s", async (_name, voice, expected, effects) => {
    const { here, change } = await governed();
    const waiting = await here.place("o1", { execute: "later" });
    await change(voice);

    const executed = await executeLater(here.ports, here.session, waiting.id);
    const operation = (await executed.done) ?? executed.operation;

    expect(operation).toMatchObject(expected);
    expect(here.orders()).toBe(effects);
  });

  test("before a repeat: the same answer repeats, under the new epoch", async () => {
    const { here, change } = await governed({ of: "key" });
    here.provider.fault("drop_before");
    const lost = await here.place("o1");
    await change({ effect: "allow" });

    const settled = await here.drive(lost);

    expect(settled).toMatchObject({ state: "succeeded", attempts: [{ n: 1 }, { n: 2 }] });
    expect(settled.authorization?.epoch).toBe((lost.authorization?.epoch ?? 0) + 1);
  });

  test.each<[string, Voice]>([
    ["no", { effect: "deny" }],
    ["ask people", { effect: "review", requirements: [asked] }],
    ["another duty", { effect: "allow", obligations: [{ log: true }] }],
  ])("before a repeat: %s only looks, and is never sent again", async (_name, voice) => {
    const contract = { ...KINDS.lookup.contract, identity: KINDS.key.contract.identity };
    const { here, change } = await governed({ of: "lookup", contract });
    here.provider.fault("drop_before");
    const lost = await here.place("o1");
    await change(voice);

    const settled = await here.drive(lost);

    const methods = here.provider.requests().map((request) => request.method);
    expect(methods.filter((method) => method === "POST")).toHaveLength(1);
    expect(methods.filter((method) => method === "GET").length).toBeGreaterThan(1);
    // Nothing was there after the settle time: the absence is settled, and the claim that would follow is refused.
    expect(settled).toMatchObject({ state: "rejected" });
    expect(here.orders()).toBe(0);
  });
});
