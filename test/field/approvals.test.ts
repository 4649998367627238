import { describe, expect, test } from "vitest";
import { thawAction } from "../../src/core/action.ts";
import { answer } from "../../src/service/approve.ts";
import { executeLater } from "../../src/service/cancel.ts";
import { halt, lift } from "../../src/service/halt.ts";
import { look, waiting } from "../../src/service/waiting.ts";
import { door } from "../support/door.ts";
import { instance } from "../support/instance.ts";
import { asks, changingPolicy, person, says } from "../support/people.ts";
import { shop } from "../support/shop.ts";
import { refusal } from "../support/stock.ts";

/** A shop whose every order is asked about, and one who approves. */
async function asked(requirements = [asks()]) {
  const policy = changingPolicy({ effect: "review", requirements });
  const here = await shop({ overrides: { policy } });
  return { here, policy, bob: person(here, "bob") };
}
const ops = (here: Awaited<ReturnType<typeof shop>>) =>
  here.as({ principalId: "test#ops", roles: ["operator"] });

describe("K2: an approval is of exactly one change", () => {
  test("C016: an answer that names no operation has nowhere to go, however many wait", async () => {
    const { here } = await asked();
    const there = await door(here);
    await here.place("o1");
    await here.place("o2");
    const body = { decision: "approve", digest: "d", nonce: "n" };

    const answers = await Promise.all(
      ["/v1/approvals", "/v1/decisions", "/v1/operations/decisions"].map((path) =>
        there.call("POST", path, { as: { principal: "bob", client: "console", roles: ["approver"] }, body }),
      ),
    );

    expect(answers.map(({ status }) => status)).toEqual([405, 404, 405]);
    expect(here.orders()).toBe(0);
  });

  test("C017: what comes before it in a batch, unknown or refused, lets nothing through unapproved", async () => {
    const { here } = await asked();

    const batch = await Promise.allSettled([
      here.place("o1", { tool: "orders.unknown" }),
      here.ask({ order: "o2" }, { tool: "orders.place" }),
      here.place("o3"),
    ]);

    expect(batch.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    expect((await waiting(here.ports, person(here, "bob"), { of: "me", max: 9 })).items).toHaveLength(1);
    expect(here.orders()).toBe(0);
  });

  test("C018: two that were asked for together, both approved, are both executed", async () => {
    const { here, bob } = await asked();
    const pair = await Promise.all([here.place("o1"), here.place("o2")]);

    const settled = await Promise.all(pair.map((each) => says(here.ports, bob, each)));

    expect(settled.map(({ state }) => state)).toEqual(["succeeded", "succeeded"]);
    expect(pair.map((each) => here.orders(each))).toEqual([1, 1]);
  });

  test("C020, C046: a yes to one change is no yes to another, nor to the same asked once more", async () => {
    const { here, bob } = await asked();
    const first = await here.place("o1", { key: "k1" });
    await says(here.ports, bob, first);

    const other = await here.place("o2", { key: "k2" });
    const again = await here.place("o1", { key: "k3" });

    expect([other.state, again.state]).toEqual(["proposed", "proposed"]);
    expect(here.orders()).toBe(1);
  });

  test("C022, C035: what was displayed is what is sent, byte for byte of the stored action", async () => {
    const { here, bob } = await asked();
    const waits = await here.place("o1", { quantity: 3 });
    const { operation } = await look(here.ports, bob, waits.id);

    await says(here.ports, bob, waits);

    const [effect] = here.provider.journal().filter(({ kind }) => kind === "order");
    expect(thawAction(operation.action).arguments).toEqual({ order: "o1", item: "main/bolt", quantity: 3 });
    expect(JSON.stringify(effect)).toContain('"quantity":3');
    expect((await here.again(waits)).digest).toBe(operation.digest);
  });

  test("C022: a stored action that was changed after the yes is not executed", async () => {
    const { here, bob } = await asked();
    const waits = await here.place("o1", { execute: "later" });
    await says(here.ports, bob, waits);
    await here.run(
      "update operations set action = replace(action, '\"quantity\":1', '\"quantity\":900') where id = $1",
      [waits.id.slice(3)],
    );

    const executed = await executeLater(here.ports, here.session, waits.id);

    expect(executed.operation).toMatchObject({ state: "rejected", reason: "invalid" });
    expect(here.orders()).toBe(0);
    expect(here.alarms.splice(0)).toHaveLength(1);
  });

  test("C023, C024: the gate stands in the ledger: another process, its own view of tools, finds it shut, and honours the yes", async () => {
    const { here, bob } = await asked();
    const waits = await here.place("o1");
    const other = await instance(here, "w2");
    const read = await other.ledger.read(waits.tenantId, waits.id);

    const early = await refusal(executeLater(other.ports, here.session, waits.id));
    const settled = await says(other.ports, bob, waits);

    expect(read?.value.state).toBe("proposed");
    expect(early.code).toBe("not_executable");
    expect(settled.state).toBe("succeeded");
    expect(here.orders()).toBe(1);
  });
});

describe("K3: an answer is heard once, and in time", () => {
  test("C032: what a person refused, asked again in other words, asks a person again", async () => {
    const { here, bob } = await asked();
    const first = await here.place("o1", { key: "k1" });
    await says(here.ports, bob, first, "reject");

    const again = await here.place("o1", { key: "k2" });
    const rephrased = await here.place("o1", { key: "k3", quantity: 2 });

    expect([again.state, rephrased.state]).toEqual(["proposed", "proposed"]);
    expect(again.authorization).toBeUndefined();
    expect(here.orders()).toBe(0);
  });

  test("C034, C049: an approval that a halt kept from executing is not spent: lifted in time, it runs", async () => {
    const { here, bob } = await asked();
    const waits = await here.place("o1");
    const made = await halt(here.ports, ops(here), { scope: "tenant", reason: "no changes today" });

    const halted = await says(here.ports, bob, waits);
    const during = here.orders();
    await lift(here.ports, ops(here), made.id);
    const settled = await here.drive(halted);

    expect(halted).toMatchObject({ state: "authorized", attempts: [] });
    expect(during).toBe(0);
    expect(settled).toMatchObject({ state: "succeeded" });
    expect(here.orders()).toBe(1);
  });

  test("C027: two people who decide differently at once: one answer stands, and one is refused", async () => {
    const { here, bob } = await asked();
    const waits = await here.place("o1", { execute: "later" });
    const carol = person(here, "carol");

    const [yes, no] = await Promise.allSettled([
      says(here.ports, bob, waits),
      says(here.ports, carol, waits, "reject"),
    ]);

    const settled = await here.again(waits);
    // A no also ends what was authorized a moment before; a yes never comes after a no.
    expect(no.status).toBe("fulfilled");
    expect(settled).toMatchObject({ state: "rejected", reason: "review_denied" });
    expect(yes.status === "fulfilled" || settled.review?.approvals.length === 1).toBe(true);
  });
});

describe("K4 and K5: what is shown, and who says it", () => {
  test("C040: what cannot be shown cannot be approved: the action is shown whole, also when its tool is gone", async () => {
    const { here, bob } = await asked();
    const waits = await here.place("o1");
    const gone = { ...here.ports, catalog: { ...here.ports.catalog, pinned: async () => undefined } };

    const seen = await look(gone, bob, waits.id);
    const refused = await refusal(says(gone, bob, waits));

    expect(seen.tool).toBeUndefined();
    expect(thawAction(seen.operation.action).arguments).toMatchObject({ order: "o1", quantity: 1 });
    expect(refused.code).toBe("decision_refused");
  });

  test("C043: who decided is who is signed in, and is what the receipt names", async () => {
    const { here, bob } = await asked();
    const waits = await here.place("o1");
    const nonce = (await look(here.ports, bob, waits.id)).view?.nonce ?? "";

    const executed = await answer(here.ports, bob, waits.id, {
      decision: "approve",
      digest: waits.digest,
      nonce,
      comment: "signed, test#carol",
    });
    await executed.done;

    const jws = await here.ledger.receipt(waits.tenantId, waits.id);
    const claims = JSON.parse(Buffer.from(jws?.split(".")[1] ?? "", "base64url").toString("utf8"));
    expect(claims.authorization.approvals).toMatchObject([
      { person: "test#bob", client: "console", policy: "review.risk", comment: "signed, test#carol" },
    ]);
  });
});
