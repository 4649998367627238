import { describe, expect, test } from "vitest";
import { answer } from "../../src/service/approve.ts";
import { executeLater } from "../../src/service/cancel.ts";
import { halt } from "../../src/service/halt.ts";
import { look, waiting } from "../../src/service/waiting.ts";
import { withdraw } from "../../src/service/withdraw.ts";
import { asked } from "../support/asked.ts";
import { instance } from "../support/instance.ts";
import { asks, person, says } from "../support/people.ts";
import { refusal } from "../support/stock.ts";

describe("an approval", () => {
  test("of one person authorizes what waits, and it is executed at once", async () => {
    const { here } = await asked();
    const waits = await here.place("o1");

    const settled = await says(here.ports, person(here, "bob"), waits);

    expect(waits).toMatchObject({ state: "proposed", attempts: [] });
    expect(settled).toMatchObject({ state: "succeeded", attempts: [{ n: 1 }] });
    expect(settled.authorization?.approvals).toMatchObject([
      { person: "test#bob", policy: "review.risk", role: "approver", reason: "risk" },
    ]);
    expect(here.orders()).toBe(1);
    const types = (await here.ledger.events(waits.tenantId, waits.id)).map(
      ({ body }) => JSON.parse(body).type,
    );
    expect(types).toEqual(["proposed", "approved", "authorized", "claimed", "confirmed"]);
  });

  test("of the second of two people completes a quorum; the first alone moves nothing", async () => {
    const { here } = await asked([asks({ quorum: 2 })]);
    const waits = await here.place("o1");

    const one = await says(here.ports, person(here, "bob"), waits);
    const again = await says(here.ports, person(here, "bob"), waits);
    const two = await says(here.ports, person(here, "carol"), waits);

    expect([one.state, again.state, again.revision]).toEqual(["proposed", "proposed", one.revision]);
    expect(two.state).toBe("succeeded");
    expect(here.orders()).toBe(1);
  });

  test("given by ten people at once counts for each of them, and executes once", async () => {
    const { here } = await asked([asks({ quorum: 10 })]);
    const waits = await here.place("o1");
    const people = Array.from({ length: 10 }, (_, index) => person(here, `p${index}`));

    await Promise.all(people.map((each) => says(here.ports, each, waits)));

    const settled = await here.drive(waits);
    expect(settled.state).toBe("succeeded");
    expect(settled.review?.approvals).toHaveLength(10);
    expect(here.orders()).toBe(1);
  });

  test("C028: a second click, or the same answer sent again through another process, has the first answer", async () => {
    const { here } = await asked([asks({ quorum: 2 })]);
    const waits = await here.place("o1");
    const other = await instance(here, "w2");
    const bob = person(here, "bob");
    const { view } = await look(here.ports, bob, waits.id);
    const given = { decision: "approve", digest: waits.digest, nonce: view?.nonce ?? "" } as const;

    const first = await answer(here.ports, bob, waits.id, given);
    const second = await answer(other.ports, bob, waits.id, given);

    expect(second.operation.revision).toBe(first.operation.revision);
    expect(second.operation.review?.approvals).toHaveLength(1);
  });

  test.each([
    ["another digest", { digest: "sha-256:another" }, "/digest"],
    ["no view", { nonce: "" }, "/nonce"],
    ["a made-up view", { nonce: `9999999999999.1.${"a".repeat(22)}.${"b".repeat(43)}` }, "/nonce"],
  ])("C014, A14: with %s is refused", async (_name, changes, at) => {
    const { here } = await asked();
    const waits = await here.place("o1");

    const refused = await refusal(says(here.ports, person(here, "bob"), waits, "approve", changes));

    expect(refused).toMatchObject({ code: "decision_refused", at });
    expect((await here.again(waits)).state).toBe("proposed");
  });

  test("C015, A14: with the view of another operation, of another person, or an old one is refused", async () => {
    const { here } = await asked();
    const [one, two] = [await here.place("o1"), await here.place("o2")];
    const [bob, carol] = [person(here, "bob"), person(here, "carol")];
    const nonce = (await look(here.ports, bob, one.id)).view?.nonce ?? "";

    const swapped = await refusal(says(here.ports, bob, two, "approve", { nonce }));
    const borrowed = await refusal(says(here.ports, carol, one, "approve", { nonce }));
    await here.clock.ahead(10 * 60_000 - 30_000);
    const fresh = await here.place("o3");
    const old = (await look(here.ports, bob, fresh.id)).view?.nonce ?? "";
    await here.clock.ahead(50_000);
    const stillGood = await says(here.ports, bob, fresh, "approve", { nonce: old });

    expect([swapped.at, borrowed.at]).toEqual(["/nonce", "/nonce"]);
    expect(stillGood.state).toBe("succeeded");
    expect(here.orders()).toBe(1);
  });

  test("C005, A10: answers once: its view is spent also when the yes was taken back", async () => {
    const { here } = await asked([asks({ quorum: 2 })]);
    const waits = await here.place("o1");
    const bob = person(here, "bob");
    const { view } = await look(here.ports, bob, waits.id);
    const given = { decision: "approve", digest: waits.digest, nonce: view?.nonce ?? "" } as const;
    await answer(here.ports, bob, waits.id, given);
    await withdraw(here.ports, bob, waits.id);

    const replayed = await refusal(answer(here.ports, bob, waits.id, given));
    const turned = await refusal(answer(here.ports, bob, waits.id, { ...given, decision: "reject" }));

    expect([replayed.code, turned.code]).toEqual(["decision_refused", "decision_refused"]);
    expect((await here.again(waits)).state).toBe("proposed");
  });

  test("C025: after the deadline is refused, whether or not a sweeper came by", async () => {
    const { here } = await asked([asks()], { tool: { reviewForMs: 30_000 } });
    const waits = await here.place("o1");
    const bob = person(here, "bob");
    const nonce = (await look(here.ports, bob, waits.id)).view?.nonce ?? "";
    await here.clock.ahead(30_001);

    const late = await refusal(says(here.ports, bob, waits, "approve", { nonce }));
    const unlisted = await waiting(here.ports, bob, { of: "me", max: 10 });
    const swept = await here.step(waits);

    expect(late.code).toBe("expired");
    expect(unlisted.items).toEqual([]);
    expect(swept).toMatchObject({ state: "rejected", reason: "expired" });
    expect(here.orders()).toBe(0);
  });

  test("ends with its window: what was approved long ago is not executed", async () => {
    const { here } = await asked([asks({ withinMs: 20_000 })]);
    const waits = await here.place("o1", { execute: "later" });

    const permitted = await says(here.ports, person(here, "bob"), waits);

    const authorization = permitted.authorization;
    expect(permitted.state).toBe("authorized");
    expect(authorization?.expiresAt).toBe((authorization?.approvals[0]?.at as number) + 20_000);
  });
});

describe("A15: nobody approves what their own authority asked for", () => {
  test.each<[string, Parameters<typeof person>[2], string]>([
    ["the principal", { principalId: "test#ada" }, "forbidden"],
    ["a service for itself", { principalId: "test#bot", itself: true }, "forbidden"],
    ["the proposing client with an approver's token", { clientId: "agent-1" }, "forbidden"],
    ["a delegator", { principalId: "test#dora" }, "forbidden"],
    ["another holder of the chain", { clientId: "agent-0" }, "forbidden"],
    ["somebody without the role", { roles: ["agent"] }, "not_found"],
    ["a role that only watches", { roles: ["auditor"] }, "forbidden"],
    ["another tenant's approver", { tenantId: "globex" as never }, "not_found"],
  ])("C045, A15: %s is refused", async (_name, who, code) => {
    const { here } = await asked();
    const links = [
      { id: "d1", by: "principal", delegator: "test#dora", holder: "agent-0" },
      { id: "d2", by: "client", delegator: "agent-0", holder: "agent-1" },
    ] as const;
    const waits = await here.place("o1");
    const action = JSON.parse(waits.action);
    const bytes = JSON.stringify({ ...action, delegation: links });
    await here.run("update operations set action = $1 where id = $2", [bytes, waits.id.slice(3)]);

    const refused = await refusal(says(here.ports, person(here, "eve", who), waits));

    expect(refused.code).toBe(code);
    expect((await here.again(waits)).review?.approvals).toEqual([]);
  });

  test("the principal confirms in a console session of their own, and in no other", async () => {
    const { here } = await asked([asks({ by: "principal" })]);
    const waits = await here.place("o1");
    const ada = { principalId: "test#ada", roles: [] };

    const byToken = await refusal(says(here.ports, person(here, "ada", ada), waits));
    const byOther = await refusal(says(here.ports, person(here, "bob"), waits));
    const own = person(here, "ada", { ...ada, authentication: { via: "console" } });
    const confirmed = await says(here.ports, own, waits);

    expect([byToken.code, byOther.code]).toEqual(["forbidden", "forbidden"]);
    expect(confirmed.state).toBe("succeeded");
  });
});

describe("a no", () => {
  test.each(["proposed", "authorized"])("C031: ends what is %s, for ever, with a receipt", async (state) => {
    const { here } = await asked();
    const waits = await here.place("o1", { execute: "later" });
    if (state === "authorized") await says(here.ports, person(here, "bob"), waits);
    const before = await here.again(waits);

    const ended = await says(here.ports, person(here, "carol"), waits, "reject", { comment: "not today" });
    const late = await refusal(says(here.ports, person(here, "dan"), waits));

    expect(before.state).toBe(state);
    expect(ended).toMatchObject({ state: "rejected", reason: "review_denied", attempts: [] });
    expect(late.code).toBe("decision_refused");
    expect(await here.ledger.receipt(waits.tenantId, waits.id)).toBeDefined();
    expect((await here.drive(waits)).state).toBe("rejected");
    expect(here.orders()).toBe(0);
  });

  test("ends it whatever else is broken: halted, policy throws, tool gone", async () => {
    const { here, policy } = await asked();
    const waits = await here.place("o1");
    await halt(here.ports, here.as({ principalId: "test#ops", roles: ["operator"] }), {
      scope: "tenant",
      reason: "an incident",
    });
    policy.approves = async () => Promise.reject(new Error("the policy engine is broken"));
    const gone = { ...here.ports.catalog, pinned: async () => undefined, tool: () => undefined };
    const broken = { ...here.ports, catalog: gone };

    const yes = await refusal(says(broken, person(here, "bob"), waits));
    const ended = await says(broken, person(here, "bob"), waits, "reject");

    expect(yes.code).toBe("forbidden");
    expect(ended).toMatchObject({ state: "rejected", reason: "review_denied" });
  });

  test("against a claim at the same moment: one of the two wins, and the effects say which", async () => {
    const { here } = await asked();
    const seen: string[] = [];
    for (let round = 0; round < 12; round++) {
      const waits = await here.place(`o${round}`, { execute: "later" });
      await says(here.ports, person(here, "bob"), waits);
      const carol = person(here, "carol");
      const nonce = (await look(here.ports, carol, waits.id)).view?.nonce ?? "";

      const [no, run] = await Promise.allSettled([
        says(here.ports, carol, waits, "reject", { nonce }),
        executeLater(here.ports, here.session, waits.id).then(async (begun) => begun.done ?? begun.operation),
      ]);

      const settled = await here.drive(waits);
      expect(run.status).toBe("fulfilled");
      expect(settled.state).toBe(no.status === "fulfilled" ? "rejected" : "succeeded");
      expect(here.orders(waits)).toBe(no.status === "fulfilled" ? 0 : 1);
      seen.push(settled.state);
    }
    expect(seen).toHaveLength(12);
  });
});
