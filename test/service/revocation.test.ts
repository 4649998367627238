import { describe, expect, test } from "vitest";
import type { Delegation } from "../../src/core/delegation.ts";
import type { Session } from "../../src/core/session.ts";
import { executeLater } from "../../src/service/cancel.ts";
import { history } from "../../src/service/inspect.ts";
import { restore, revoke, revokeDelegation } from "../../src/service/revoke.ts";
import { chained, linked, under } from "../support/delegated.ts";
import { instance } from "../support/instance.ts";
import type { Rig } from "../support/rig.ts";
import { type Shop, shop } from "../support/shop.ts";
import { refusal, rowsOf } from "../support/stock.ts";

const operator = (here: Rig) =>
  here.as({ principalId: "test#ops", clientId: "console", roles: ["operator"] });

describe("revoking", () => {
  const links = ["the root", "a link between", "the last link"] as const;
  const claimant: readonly [string, (here: Shop, chain: readonly Delegation[]) => Promise<unknown>][] = [
    ...links.map((name, n): (typeof claimant)[number] => [
      name,
      (here, chain) => revokeDelegation(here.ports, operator(here), chain[n]?.id ?? "", "over"),
    ]),
    [
      "the person",
      (here) => revoke(here.ports, operator(here), { scope: "principal", name: "test#ada", reason: "left" }),
    ],
    [
      "the client",
      (here) => revoke(here.ports, operator(here), { scope: "client", name: "agent-3", reason: "stolen" }),
    ],
    [
      "a client between",
      (here) => revoke(here.ports, operator(here), { scope: "client", name: "agent-2", reason: "stolen" }),
    ],
  ];

  test.each(claimant)(
    "A13, A20: %s, between authorization and claim: it is rejected as revoked, and nothing was sent",
    async (_name, end) => {
      const here = await shop();
      const worker = await instance(here, "w2");
      const made = await chained(here);
      const session = under(here, made[2]);
      const waiting = await here.place("o1", { session, execute: "later" });
      await end(here, made);

      // By a process that still holds the old view.
      const executed = await executeLater(worker.ports, session, waiting.id);
      const events = await history(here.ports, operator(here), waiting.id);

      expect(executed.operation).toMatchObject({ state: "rejected", reason: "revoked" });
      const last = JSON.parse(events.at(-1)?.body ?? "{}") as {
        data: { epoch: number; was: { epoch: number } };
      };
      expect(last.data.epoch).toBe(last.data.was.epoch + 1);
      expect(here.provider.requests()).toHaveLength(0);
    },
  );

  test.each(claimant)(
    "A20: %s, while a request is under way: it may finish, and after its answer is lost it is never sent again",
    async (_name, end) => {
      const here = await shop({ of: "key" });
      const made = await chained(here);
      here.provider.fault("drop_before");
      const lost = await here.place("o1", { session: under(here, made[2]) });
      await end(here, made);

      const settled = await here.drive(lost);

      expect(lost.state).toBe("unknown");
      expect(here.provider.requests().filter(({ method }) => method === "POST")).toHaveLength(1);
      expect(settled.state).toBe("unknown");
      expect(settled.attention).toBeDefined();
    },
  );

  test("a person and lifting it again: what was rejected stays so, and what comes after is permitted", async () => {
    const here = await shop();
    const made = await revoke(here.ports, operator(here), {
      scope: "principal",
      name: "test#ada",
      reason: "left",
    });
    const again = await revoke(here.ports, operator(here), {
      scope: "principal",
      name: "test#ada",
      reason: "twice",
    });
    const first = await here.place("o1", { key: "k1" });
    await restore(here.ports, operator(here), made.id);

    const replayed = await here.place("o1", { key: "k1" });
    const next = await here.place("o1", { key: "k2" });
    const lifted = await refusal(restore(here.ports, operator(here), made.id));

    expect(again).toEqual(made);
    expect(first).toMatchObject({ state: "rejected", reason: "revoked" });
    expect(replayed).toMatchObject({ id: first.id, state: "rejected" });
    expect(next.state).toBe("succeeded");
    expect(lifted.code).toBe("not_found");
    const told = await here.run(
      "select type, actor from authority_events where tenant_id = 'acme' order by epoch desc limit 2",
    );
    expect(told).toEqual([
      { type: "restored", actor: "test#ops" },
      { type: "revoked", actor: "test#ops" },
    ]);
  });

  test("an operator ends what their token still permits: not even their own revocation can be lifted with it", async () => {
    const here = await shop();
    const fired: Session = here.as({ principalId: "test#mallory", clientId: "console", roles: ["operator"] });
    const made = await revoke(here.ports, operator(here), {
      scope: "principal",
      name: "test#mallory",
      reason: "left",
    });

    const lifting = await refusal(restore(here.ports, fired, made.id));
    const revoking = await refusal(
      revoke(here.ports, fired, { scope: "client", name: "agent-1", reason: "spite" }),
    );

    expect([lifting.code, revoking.code]).toEqual(["revoked", "revoked"]);
    expect(await rowsOf(here, "revocations")).toBe(1);
  });

  test("and giving less under a running chain: what was permitted under the old link ends, and the new one gives what it says", async () => {
    const here = await shop();
    const [root, middle, last] = await chained(here);
    const waiting = await here.place("o1", { session: under(here, last), quantity: 9, execute: "later" });
    here.provider.fault("throttle");
    const backing = await here.place("o2", { session: under(here, last), quantity: 9 });
    await revokeDelegation(here.ports, operator(here), middle.id, "less from now on");
    const less = { tools: ["orders.place"], resources: ["Order:*"], arguments: { quantity: { max: 5 } } };
    const narrow = await linked(here, "agent-2", root, { rules: [less] });
    const below = await linked(here, "agent-3", narrow);

    const { operation: old } = await executeLater(here.ports, under(here, last), waiting.id);
    const older = await here.drive(backing);
    const much = await here.place("o3", { session: under(here, below), quantity: 9 });
    const little = await here.place("o4", { session: under(here, below), quantity: 5 });
    const sister = await here.place("o5", { session: under(here, root), quantity: 9 });

    expect([old, older].map(({ state, reason }) => `${state} ${reason}`)).toEqual([
      "rejected revoked",
      "rejected revoked",
    ]);
    expect(much).toMatchObject({ state: "rejected", reason: "denied" });
    expect([little.state, sister.state]).toEqual(["succeeded", "succeeded"]);
    expect(here.orders()).toBe(2);
  });

  test("under four workers at once: what was executed before it counts once, and nothing after its answer", async () => {
    const here = await shop();
    const others = await Promise.all([1, 2, 3].map((n) => instance(here, `w${n}`)));
    const all = [here.ports, ...others.map((other) => other.ports)];
    const [, middle, last] = await chained(here);
    const waiting = await Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        here.place(`o${n}`, { session: under(here, last), execute: "later" }),
      ),
    );

    const running = waiting.map(async (operation, n) => {
      const executed = await executeLater(all[n % 4] ?? here.ports, under(here, last), operation.id);
      return executed.done;
    });
    await running[0];
    await revokeDelegation(here.ports, operator(here), middle.id, "stop");
    const begun = (await Promise.all(waiting.map((one) => here.again(one)))).filter(
      ({ attempts }) => attempts.length > 0,
    );
    await Promise.all(running);
    const ends = await Promise.all(waiting.map((one) => here.again(one)));

    // Whoever was claimed when it was acknowledged may finish; nobody is claimed afterwards.
    const claimed = ends.filter(({ attempts }) => attempts.length > 0);
    expect(claimed.map(({ id }) => id)).toEqual(begun.map(({ id }) => id));
    expect(ends.filter(({ state }) => state === "succeeded")).toHaveLength(here.orders());
    expect(ends.filter(({ state, reason }) => state === "rejected" && reason === "revoked")).toHaveLength(
      24 - claimed.length,
    );
  });
});
