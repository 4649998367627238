import { describe, expect, test } from "vitest";
import { decide, approvals as listed, withdraw } from "../../src/cli/decide.ts";
import { exitOfError } from "../../src/cli/exit.ts";
import { screen } from "../../src/cli/screen.ts";
import { tenantId } from "../../src/core/ids.ts";
import { door, type TestDoor } from "../support/door.ts";
import { asks, changingPolicy } from "../support/people.ts";
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
    const receipt = await there.call("GET", `/v1/operations/${id}/receipt`);

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

describe("at the command line", () => {
  /** A command with its streams caught, and nobody at a terminal. */
  async function terminal(there: TestDoor, as: object) {
    const heard = { out: "", err: "" };
    const stream = (name: "out" | "err") => ({ write: (text: string) => (heard[name] += text) });
    const made = screen({
      format: "table",
      stdout: stream("out"),
      stderr: stream("err"),
      stdin: {},
      env: { NO_COLOR: "1" },
    });
    const env = { WRIT_URL: there.url, WRIT_TOKEN: await there.token(as) };
    return { heard, context: { screen: made, env, folder: "/nowhere" } };
  }

  test("A16, C036, C037: everything is shown, whole and inert, before anybody is asked", async () => {
    const input = {
      type: "object",
      required: ["order", "item", "quantity"],
      properties: { order: { type: "string" }, item: { type: "string" }, quantity: { type: "integer" } },
    };
    const { there, propose } = await asked([asks()], { input });
    const tail = `${"a".repeat(3_000)} and then delete everything`;
    const hostile = "\u001b[2Jmain\u202e/tlob\u0000\r\n# approve: ok";
    const args = { order: "o1", item: hostile, quantity: 1, extra: tail, "see\u200b": "\u0456tem" };
    const id = (await propose("o1", { arguments: args, note: "\u001b[31mtrust me" })).body.operationId;
    const { context, heard } = await terminal(there, BOB);
    const { digest } = (await there.call("GET", `/v1/approvals/${id}`, { as: BOB })).body;

    const exit = await decide(context, id, "reject", { yes: true, digest });

    expect(exit).toBe(0);
    const text = heard.err.replaceAll(/\s+/g, "");
    expect(text).toContain("⟨U+001B⟩[2Jmain⟨U+202E⟩/tlob⟨U+0000⟩⟨U+000D⟩⟨U+000A⟩#approve:ok");
    expect(text).toContain(tail.replaceAll(" ", ""));
    expect(text).toContain("extra:notdescribedbythetool");
    expect(text).toContain('"іtem"mixesLatinandCyrillicletters');
    expect(text).toContain("Whattheagentsays(notchecked)⟨U+001B⟩[31mtrustme");
    expect(/[\u0000-\u0009\u000b-\u001f\u200b\u202a-\u202e]/.test(heard.err + heard.out)).toBe(false);
  });

  test("nobody is asked without a terminal: --yes and the digest that was looked at are needed, and must be right", async () => {
    const { there, propose } = await asked();
    const id = (await propose("o1")).body.operationId;
    const { context, heard } = await terminal(there, BOB);
    const { digest } = (await there.call("GET", `/v1/approvals/${id}`, { as: BOB })).body;

    const codes = [
      await exitOf(decide(context, id, "approve", {})),
      await exitOf(decide(context, id, "approve", { yes: true })),
      await exitOf(decide(context, id, "approve", { yes: true, digest: "sha-256:another" })),
      await decide(context, id, "approve", { yes: true, digest }),
      await listed(context, {}),
      await withdraw(context, id),
    ];

    expect(codes).toEqual([2, 2, 7, 5, 0, 5]);
    expect(heard.err).toContain("Nothing waits for you.");
  });

  test("exits by what became of it: executed, not yours to say, too late", async () => {
    const { here, there, propose } = await asked([asks()]);
    const id = (await propose("o1")).body.operationId;
    const bob = await terminal(there, BOB);
    const auditor = await terminal(there, { principal: "aldo", client: "console", roles: ["auditor"] });
    const { digest } = (await there.call("GET", `/v1/approvals/${id}`, { as: BOB })).body;
    const flags = { yes: true, digest };

    const watching = await exitOf(decide(auditor.context, id, "approve", flags));
    const executed = await decide(bob.context, id, "approve", flags);
    const late = await exitOf(decide(bob.context, id, "reject", flags));

    expect([watching, executed, late]).toEqual([3, 0, 3]);
    expect(here.orders()).toBe(1);
  });
});

async function exitOf(work: Promise<number>): Promise<number | string> {
  return work.catch(exitOfError);
}
