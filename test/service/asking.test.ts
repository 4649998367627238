import { describe, expect, test } from "vitest";
import { proposal } from "../../src/core/proposal.ts";
import { executeLater } from "../../src/service/cancel.ts";
import { propose } from "../../src/service/propose.ts";
import { look, waiting } from "../../src/service/waiting.ts";
import { startWorker, WORKER_BOUNDS } from "../../src/worker.ts";
import { asked } from "../support/asked.ts";
import { instance } from "../support/instance.ts";
import { asks, person, says } from "../support/people.ts";
import type { shop } from "../support/shop.ts";
import { refusal, rowsOf } from "../support/stock.ts";

describe("A18: one client's open requests", () => {
  test("never exceed the cap, however many come at once; the rest is refused with a time, and nothing of it is stored", async () => {
    const { here } = await asked();
    const other = await instance(here, "w2");

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        refusal(
          n % 2 === 0
            ? here.place(`o${n}`, { key: `k${n}` })
            : shopOn(here, other.ports).place(`o${n}`, `k${n}`),
        ),
      ),
    );

    const refused = answers.filter(({ code }) => code === "limit_exceeded");
    expect(refused).toHaveLength(40);
    expect(refused[0]?.retryAfterMs).toBe(30_000);
    expect(await rowsOf(here, "operations")).toBe(10);
    expect(await rowsOf(here, "intent_keys")).toBe(10);
    expect(await rowsOf(here, "events")).toBe(10);
  });

  test("are one client's: another still asks, an answer makes room, and what nobody asks about is not counted", async () => {
    const { here, policy } = await asked([asks()], {
      overrides: { approvals: { openMax: 1, role: "approver" } },
    });
    const first = await here.place("o1");

    const second = await refusal(here.place("o2"));
    const others = await here.place("o3", {
      session: here.as({ clientId: "agent-2", principalId: "test#kim" }),
    });
    const replayed = await here.place("o1");
    await says(here.ports, person(here, "bob"), first, "reject");
    const later = await here.place("o4");
    policy.voice = { effect: "allow" };
    const free = await here.place("o5");

    expect(second.code).toBe("limit_exceeded");
    expect([others.state, later.state, free.state]).toEqual(["proposed", "proposed", "succeeded"]);
    expect(replayed.id).toBe(first.id);
  });

  test("that ran out do not count, whether or not a sweeper came by", async () => {
    const { here } = await asked([asks()], {
      tool: { reviewForMs: 30_000 },
      overrides: { approvals: { openMax: 1, role: "approver" } },
    });
    await here.place("o1");
    await here.clock.ahead(30_001);

    expect((await here.place("o2")).state).toBe("proposed");
  });
});

function shopOn(here: Awaited<ReturnType<typeof shop>>, ports: typeof here.ports) {
  return {
    place: async (order: string, key: string) => {
      const claims = { tool: "orders.place", arguments: { order, item: "main/bolt", quantity: 1 } };
      return (await propose(ports, here.session, proposal(claims, key))).operation;
    },
  };
}

describe("a policy that changes while an approved operation waits", () => {
  /** Approved by bob, and waiting to be executed. */
  async function approved(requirements = [asks()]) {
    const all = await asked(requirements);
    const waits = await all.here.place("o1", { execute: "later" });
    await says(all.here.ports, person(all.here, "bob"), waits);
    return { ...all, waits };
  }

  /** Four workers and one who asks for the execution, all at once. */
  async function race(here: Awaited<ReturnType<typeof shop>>, waits: Awaited<ReturnType<typeof here.place>>) {
    const ports = await Promise.all([1, 2, 3, 4].map((n) => instance(here, `w${n}`)));
    const begun = await Promise.allSettled(
      ports.map((each) => executeLater(each.ports, here.session, waits.id)),
    );
    for (const each of begun) if (each.status === "fulfilled") await each.value.done;
    return here.again(waits);
  }

  test("and asks the same is satisfied by the same people: executed once, under both versions", async () => {
    const { here, change, waits } = await approved();
    await change({ effect: "review", requirements: [asks()] });

    const settled = await race(here, waits);

    expect(settled).toMatchObject({ state: "succeeded", attempts: [{ n: 1 }] });
    expect(settled.authorization?.epoch).toBe((waits.review?.epoch ?? 0) + 1);
    expect(here.orders()).toBe(1);
  });

  test("A10: or that does not change is executed once, however many ask for it at once", async () => {
    const { here, waits } = await approved();
    const others = await Promise.all([1, 2, 3].map((n) => instance(here, `w${n}`)));

    const begun = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        executeLater((others[n % 4] ?? here).ports, here.session, waits.id),
      ),
    );
    await Promise.all(begun.map(({ done }) => done));

    expect(await here.again(waits)).toMatchObject({ state: "succeeded", attempts: [{ n: 1 }] });
    expect(here.orders()).toBe(1);
  });

  test("and asks nobody any more is executed once", async () => {
    const { here, change, waits } = await approved();
    await change({ effect: "allow" });

    expect(await race(here, waits)).toMatchObject({ state: "succeeded" });
    expect(here.orders()).toBe(1);
  });

  test("and asks for more waits again; the first yes still counts, and a second person's completes it", async () => {
    const { here, change, waits } = await approved();
    await change({ effect: "review", requirements: [asks({ quorum: 2 })] });

    const reopened = await race(here, waits);
    const before = here.orders();
    const carol = await says(here.ports, person(here, "carol"), waits);
    const settled = await race(here, carol);

    expect(reopened).toMatchObject({ state: "proposed", attempts: [] });
    expect(reopened.review?.approvals).toMatchObject([{ person: "test#bob" }]);
    expect(before).toBe(0);
    expect(settled).toMatchObject({ state: "succeeded" });
    expect(settled.authorization?.approvals).toHaveLength(2);
    expect(here.orders()).toBe(1);
  });

  test("and asks somebody else waits again, and says so to whoever looks with the old view", async () => {
    const { here, change, waits } = await approved();
    const dora = person(here, "dora", { roles: ["approver", "compliance"] });
    const old = (await look(here.ports, dora, waits.id)).view?.nonce ?? "";
    await change({ effect: "review", requirements: [asks({ policy: "review.law", role: "compliance" })] });

    await race(here, waits);
    const stale = await refusal(says(here.ports, dora, waits, "approve", { nonce: old }));
    const settled = await race(here, await says(here.ports, dora, waits));

    expect(stale).toMatchObject({ code: "decision_refused", at: "/nonce" });
    expect(settled.authorization?.approvals).toMatchObject([{ person: "test#dora", policy: "review.law" }]);
    expect(here.orders()).toBe(1);
  });

  test("and denies ends it without an effect", async () => {
    const { here, change, waits } = await approved();
    await change({ effect: "deny", why: "frozen" });

    expect(await race(here, waits)).toMatchObject({ state: "rejected", reason: "denied" });
    expect(here.orders()).toBe(0);
  });

  test("and no longer lets the approver approve waits again: who may answer is asked at the claim too", async () => {
    const { here, change, policy, waits } = await approved();
    policy.approves = async () => false;
    await change({ effect: "review", requirements: [asks()] });

    expect(await race(here, waits)).toMatchObject({ state: "proposed" });
    expect(here.orders()).toBe(0);
  });

  test("and an approver who was revoked meanwhile does not count any more", async () => {
    const { here, waits } = await approved();
    await here.ledger.delegations.revoke(here.session.tenantId, {
      id: `rev_${"0".repeat(32)}`,
      scope: "principal",
      name: "test#bob",
      reason: "left",
      actor: "test#ops",
    });

    expect(await race(here, waits)).toMatchObject({ state: "proposed" });
    expect((await refusal(says(here.ports, person(here, "bob"), waits))).code).toBe("revoked");
    expect(here.orders()).toBe(0);
  });

  test("K3, C033: approvals survive a restart: a worker of another process executes what was approved here", async () => {
    const { here } = await asked([asks({ quorum: 2 })]);
    const waits = await here.place("o1");
    await says(here.ports, person(here, "bob"), waits);
    const other = await instance(here, "w2");
    const worker = startWorker(other.ports, { ...WORKER_BOUNDS, idleMs: 20 });

    await says(other.ports, person(here, "carol"), waits);

    await worker.stop(5_000);
    expect((await here.drive(waits)).state).toBe("succeeded");
    expect(here.orders()).toBe(1);
  });
});

describe("what waits", () => {
  test("waits for who may answer it; others see why it does not wait for them, page by page", async () => {
    const { here } = await asked([asks({ policy: "review.law", role: "compliance" })]);
    const all = [await here.place("o1"), await here.place("o2"), await here.place("o3")];
    const dora = person(here, "dora", { roles: ["compliance"] });
    const bob = person(here, "bob");
    await says(here.ports, dora, all[1] as never, "reject");

    const mine = await waiting(here.ports, dora, { of: "me", max: 1 });
    const next = await waiting(here.ports, dora, { of: "me", before: mine.cursor, max: 5 });
    const bobs = await waiting(here.ports, bob, { of: "me", max: 5 });
    const others = await waiting(here.ports, bob, { of: "all", max: 5 });
    const stranger = await waiting(here.ports, person(here, "eve", { roles: [] }), { of: "all", max: 5 });
    const own = await waiting(here.ports, here.session, { of: "all", max: 5 });

    expect(mine.items.map(({ operation }) => operation.id)).toEqual([all[2]?.id]);
    expect(next.items.map(({ operation }) => operation.id)).toEqual([all[0]?.id]);
    expect(bobs.items).toEqual([]);
    expect(others.items.map(({ notMine }) => notMine[0]?.why)).toEqual(
      Array(2).fill("policy asks for compliance"),
    );
    expect(stranger.items).toEqual([]);
    expect(own.items).toHaveLength(2);
    expect(own.items[0]?.mine).toEqual([]);
  });

  test("is told to whoever listens outside once for each time that people are asked, by an id and no content", async () => {
    const told: object[] = [];
    const { here, change } = await asked([asks()], {
      overrides: {
        approvals: {
          openMax: 10,
          role: "approver",
          notifier: { waiting: (question) => void told.push(question) },
        },
      },
    });
    const waits = await here.place("o1", { execute: "later", key: "k" });
    await here.place("o1", { execute: "later", key: "k" });
    await says(here.ports, person(here, "bob"), waits);
    await change({ effect: "review", requirements: [asks({ quorum: 2 })] });
    await executeLater(here.ports, here.session, waits.id);

    expect(told).toEqual([
      { tenantId: "acme", id: `${waits.id}.1`, operationId: waits.id },
      { tenantId: "acme", id: `${waits.id}.3`, operationId: waits.id },
    ]);
  });
});

describe("a review that nobody could satisfy", () => {
  test.each([
    ["a principal behind a service that acts for itself", asks({ by: "principal" })],
    ["a passkey where there are none", asks({ assurance: { webauthn: true } })],
    ["forty people", asks({ quorum: 40 })],
  ])("is denied at once, saying so: %s", async (_name, requirement) => {
    const { here } = await asked([requirement]);

    const denied = await here.place("o1", {
      session: here.as({ principalId: "test#agent-1", itself: true }),
    });

    expect(denied).toMatchObject({ state: "rejected", reason: "denied" });
    const [, event] = await here.ledger.events(denied.tenantId, denied.id);
    expect(event?.body).toContain("nobody could approve this");
  });
});
