import { describe, expect, test } from "vitest";
import { postgresConnector } from "../../src/connectors/postgres.ts";
import { tenantId } from "../../src/core/ids.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { door, type TestDoor } from "../support/door.ts";
import { asks, changingPolicy } from "../support/people.ts";
import { type Rig, rig } from "../support/rig.ts";
import { shop } from "../support/shop.ts";

const CAROL = { principal: "carol", client: "console", roles: ["approver"] };
const BOB = { principal: "bob", client: "console", roles: ["approver"] };

/** A real door before a shop whose orders people are asked about; effects are counted at the shop. */
async function asked(requirements = [asks({ quorum: 2 })], tool: object = {}) {
  const policy = changingPolicy({ effect: "review", requirements });
  const here = await shop({ overrides: { policy }, tool });
  const there = await door(here);
  const propose = (order: string, more: object = {}) =>
    there.propose({ tool: "orders.place", arguments: { order, item: "main/bolt", quantity: 1 }, ...more });
  return { here, there, propose, policy };
}

async function yes(there: TestDoor, id: string, as: object, decision = "approve") {
  const view = await there.call("GET", `/v1/approvals/${id}`, { as });
  const { digest, nonce } = view.body;
  return there.call("POST", `/v1/operations/${id}/decisions`, { as, body: { decision, digest, nonce } });
}

describe("over HTTP", () => {
  test("a second person approves what an unproven tool proposes, and it is executed once", async () => {
    const here = await shop({ tool: { autonomy: "drilled" } });
    const there = await door(here);
    const proposed = await there.propose({
      tool: "orders.place",
      arguments: { order: "o1", item: "main/bolt", quantity: 2 },
      note: "please \u202ehurry",
    });
    const id = proposed.body.operationId;

    const mine = await there.call("GET", "/v1/approvals", { as: BOB });
    const agents = await there.call("GET", "/v1/approvals");
    const done = await yes(there, id, BOB);
    const late = await there.call("POST", `/v1/operations/${id}/decisions`, {
      as: CAROL,
      body: { decision: "reject", digest: done.body.digest, nonce: "n" },
    });
    const explained = await there.call("GET", `/v1/operations/${id}/explanation`);
    const receipt = await there.call("GET", `/v1/operations/${id}/receipt`, {
      headers: { accept: "application/json" },
    });

    expect(proposed).toMatchObject({ status: 202, body: { state: "proposed" } });
    expect(mine.body.approvals).toMatchObject([
      {
        operationId: id,
        waitsForMe: true,
        title: "Place an order",
        principal: "https://issuer.example#ada",
        client: "agent-1",
        note: "please ⟨U+202E⟩hurry",
        asked: [{ policy: "autonomy.drilled", role: "approver", mine: true }],
        fields: [
          { name: "item", after: "main/bolt", shown: "main/bolt", described: true },
          { name: "order", after: "o1" },
          { name: "quantity", after: 2, shown: "2" },
        ],
        promise: expect.arrayContaining([expect.any(String)]),
      },
    ]);
    expect(agents.body.approvals).toEqual([]);
    expect(done).toMatchObject({ status: 200, body: { state: "succeeded" } });
    expect(late).toMatchObject({ status: 409, body: { code: "decision_refused" } });
    expect(here.orders()).toBe(1);
    expect(explained.body.authorizedBy.lines.join("\n")).toContain("https://issuer.example#bob approved it");
    expect(receipt.body.claims.authorization.approvals).toMatchObject([
      { person: "https://issuer.example#bob", policy: "autonomy.drilled" },
    ]);
  });

  test("C027, C028: of two people who answer at once each is heard, and a double click is one answer", async () => {
    const { here, there, propose } = await asked();
    const id = (await propose("o1")).body.operationId;
    const view = await there.call("GET", `/v1/approvals/${id}`, { as: BOB });
    const body = { decision: "approve", digest: view.body.digest, nonce: view.body.nonce };

    const answers = await Promise.all([
      there.call("POST", `/v1/operations/${id}/decisions`, { as: BOB, body }),
      there.call("POST", `/v1/operations/${id}/decisions`, { as: BOB, body }),
      yes(there, id, CAROL),
    ]);

    expect(answers.every(({ status }) => status === 200 || status === 202)).toBe(true);
    const settled = await here.drive({ tenantId: tenantId("acme"), id } as never);
    expect(settled).toMatchObject({ state: "succeeded" });
    expect(settled.review?.approvals).toHaveLength(2);
    expect(here.orders()).toBe(1);
  });

  test("a slow provider does not keep whoever approves: they are answered, and it goes on", async () => {
    const { here, there, propose } = await asked([asks()]);
    const id = (await propose("o1")).body.operationId;
    here.provider.fault("slow", { ms: 2_800 });
    const began = performance.now();

    const answer = await there.call("POST", `/v1/operations/${id}/decisions`, {
      as: BOB,
      headers: { prefer: "wait=30" },
      body: await there
        .call("GET", `/v1/approvals/${id}`, { as: BOB })
        .then(({ body }) => ({ decision: "approve", digest: body.digest, nonce: body.nonce })),
    });

    expect(answer.body.state).toBe("executing");
    expect(performance.now() - began).toBeLessThan(2_800 + 20_000);
    const settled = await there.call("GET", `/v1/operations/${id}?wait=20`);
    expect(settled.body.state).toBe("succeeded");
    expect(here.orders()).toBe(1);
  });

  test("A17: a GET never acts, a page of another origin is refused, and a look by somebody else answers nothing", async () => {
    const { here, there, propose } = await asked([asks()]);
    const id = (await propose("o1")).body.operationId;
    const view = await there.call("GET", `/v1/approvals/${id}`, { as: BOB });
    const body = { decision: "approve", digest: view.body.digest, nonce: view.body.nonce };

    const got = await there.call("GET", `/v1/operations/${id}/decisions`, { as: BOB });
    const crossed = await there.call("POST", `/v1/operations/${id}/decisions`, {
      as: BOB,
      body,
      headers: { origin: "https://evil.example" },
    });
    const form = await there.call("POST", `/v1/operations/${id}/decisions`, {
      as: BOB,
      body: JSON.stringify(body),
      headers: { "content-type": "text/plain" },
    });
    const borrowed = await there.call("POST", `/v1/operations/${id}/decisions`, { as: CAROL, body });

    expect([got.status, crossed.status, form.status, borrowed.status]).toEqual([405, 403, 415, 409]);
    expect((await there.call("GET", `/v1/operations/${id}`)).body.state).toBe("proposed");
    expect(here.orders()).toBe(0);
  });

  test("C041, C043: a body that names its own decider, or says that it was approved, is refused", async () => {
    const { here, there, propose } = await asked([asks()]);
    const id = (await propose("o1")).body.operationId;
    const view = await there.call("GET", `/v1/approvals/${id}`, { as: BOB });
    const body = { decision: "approve", digest: view.body.digest, nonce: view.body.nonce };

    const forged = await there.call("POST", `/v1/operations/${id}/decisions`, {
      as: BOB,
      body: { ...body, person: "https://issuer.example#carol" },
    });
    const claimed = await there.propose({
      tool: "orders.place",
      arguments: { order: "o2", item: "main/bolt", quantity: 1 },
      approved: true,
    });

    expect([forged.status, claimed.status]).toEqual([400, 400]);
    expect(here.orders()).toBe(0);
  });

  test("what is missing of a person's authentication is named, with the challenge that asks for it", async () => {
    const { there, propose } = await asked([asks({ assurance: { acr: "mfa", maxAgeMs: 300_000 } })]);
    const id = (await propose("o1")).body.operationId;

    const refused = await yes(there, id, BOB);

    expect(refused).toMatchObject({ status: 401, body: { code: "insufficient_user_authentication" } });
    expect(refused.headers["www-authenticate"]).toContain('error="insufficient_user_authentication"');
    expect(refused.headers["www-authenticate"]).toContain("mfa");
    expect(refused.headers["www-authenticate"]).toContain("max_age");
  });

  test("C047: what answers a view stands in no event, no receipt and no explanation", async () => {
    const { there, propose } = await asked([asks()]);
    const id = (await propose("o1")).body.operationId;
    const view = await there.call("GET", `/v1/approvals/${id}`, { as: BOB });
    const { digest, nonce } = view.body;
    await there.call("POST", `/v1/operations/${id}/decisions`, {
      as: BOB,
      body: { decision: "approve", digest, nonce },
    });

    const told = await Promise.all(
      ["", "/events", "/receipt", "/explanation"].map((part) =>
        there.call("GET", `/v1/operations/${id}${part}`),
      ),
    );

    expect(told.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(told.some(({ text }) => text.includes(nonce))).toBe(false);
  });

  test("the next proposal beyond the cap is refused with 429 and a time", async () => {
    const { here, propose } = await asked([asks()]);
    for (let n = 0; n < 10; n++) await propose(`o${n}`);

    const refused = await propose("o10");

    expect(refused).toMatchObject({ status: 429, body: { code: "limit_exceeded" } });
    expect(refused.headers["retry-after"]).toBe("30");
    expect(here.orders()).toBe(0);
  });

  test("C035: before and after stand side by side, as the provider showed it, and a version that moved is said", async () => {
    const reading: { rig?: Rig } = {};
    const stock = postgresConnector(async ({ text, values }) => {
      const rows = (await reading.rig?.run(text, values)) as JsonObject[];
      return { rows, rowCount: rows.length };
    });
    const here = await rig({
      connectors: { stock },
      overrides: { policy: changingPolicy({ effect: "review", requirements: [asks()] }) },
    });
    reading.rig = here;
    await here.run("insert into inventory values ('acme', 'main', 'bolt', 5, 43)");
    const there = await door(here);
    const proposed = await there.propose({
      tool: "inventory.set_available",
      arguments: { warehouse: "main", item: "bolt", available: 18 },
      expectedVersion: 42,
    });

    const view = await there.call("GET", `/v1/approvals/${proposed.body.operationId}`, { as: BOB });

    expect(view.body).toMatchObject({ expectedVersion: "42", currentVersion: "43" });
    expect(view.body.fields).toContainEqual({
      name: "available",
      before: 5,
      after: 18,
      shown: "18",
      warnings: [],
      described: true,
    });
  });

  test("another tenant's operation is absent to whoever would decide on it", async () => {
    const { there, propose } = await asked([asks()]);
    const id = (await propose("o1")).body.operationId;
    const foreign = { ...BOB, tenant: tenantId("globex") };
    const absent = `op_${"0".repeat(32)}`;

    const answers = await Promise.all(
      [id, absent].map(async (each) => [
        (await there.call("GET", `/v1/approvals/${each}`, { as: foreign })).text,
        (await yes(there, each, foreign)).status,
      ]),
    );

    expect(answers[0]).toEqual(answers[1]);
  });
});
