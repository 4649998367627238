import { expect, test } from "vitest";
import { Problem } from "../../src/core/problem.ts";
import { door, OPERATOR } from "../support/door.ts";
import { rig } from "../support/rig.ts";
import { shop } from "../support/shop.ts";

const BODY = {
  tool: "inventory.set_available",
  arguments: { warehouse: "main", item: "widget", available: 18 },
  expectedVersion: 42,
};

test("without a token a call is told only that one is needed; a bad one is told why", async () => {
  const here = await rig();
  const { call } = await door(here);

  const none = await call("GET", "/v1/tools", { as: null });
  const old = await call("GET", "/v1/tools", { as: { ttlS: -100 } });

  expect(none).toMatchObject({
    status: 401,
    body: { code: "unauthenticated" },
    headers: { "www-authenticate": expect.stringContaining('Bearer realm="writ", resource_metadata=') },
  });
  expect(old.status).toBe(401);
  expect(old.headers["www-authenticate"]).toMatch(
    /^Bearer realm="writ", error="invalid_token", error_description="the token is not accepted: .*"$/,
  );
});

test("what nobody expected is 500 under a name that the log knows, and says nothing else", async () => {
  const here = await rig();
  const boom = new Error("the password is hunter2");
  const { call } = await door({
    ports: { ...here.ports, ledger: { ...here.ports.ledger, list: async () => Promise.reject(boom) } },
  });

  const answer = await call("GET", "/v1/operations");

  expect(answer).toMatchObject({
    status: 500,
    body: { code: "internal", instance: expect.stringMatching(/^urn:uuid:/) },
  });
  expect(answer.text).not.toMatch(/hunter2|Error|\.ts/);
  expect(here.alarms.find((line) => line.includes(answer.body.instance))).toContain("hunter2");
});

test("a token never reaches the log, whatever happens to the call", async () => {
  const here = await rig();
  const { call, token } = await door({
    ports: {
      ...here.ports,
      ledger: { ...here.ports.ledger, list: async () => Promise.reject(new Error("boom")) },
    },
  });
  const sent = await token();

  await call("GET", "/v1/operations", { as: null, headers: { authorization: `Bearer ${sent}` } });
  await call("GET", "/v1/tools", { as: null, headers: { authorization: `Bearer ${sent}x` } });

  expect(here.alarms.join("\n")).not.toContain(sent.slice(0, 30));
});

test("the ledger's own silence is 503 with what to do, and a proposal says that it may be stored", async () => {
  const here = await rig();
  const away = async () =>
    Promise.reject(
      new Problem("ledger_unavailable", "the ledger did not answer", {
        retryAfterMs: 1_500,
        next: "Send the same request again with the same key: it is stored once.",
      }),
    );
  const { propose } = await door({ ports: { ...here.ports, ledger: { ...here.ports.ledger, open: away } } });

  const answer = await propose(BODY);

  expect(answer).toMatchObject({
    status: 503,
    body: { code: "ledger_unavailable", next: expect.stringContaining("same key") },
    headers: { "retry-after": "2" },
  });
});

test("a halt stops proposals at once, and its lift lets them go on", async () => {
  const here = await rig();
  await here.run("insert into inventory values ('acme', 'main', 'widget', 5, 42)");
  const { call, propose } = await door(here);

  const halt = await call("POST", "/v1/halts", {
    as: OPERATOR,
    body: { scope: "tool", name: BODY.tool, reason: "counting the shelves" },
  });
  const halted = await propose(BODY);
  const standing = await call("GET", "/v1/halts", { as: OPERATOR });
  const lifted = await call("POST", `/v1/halts/${halt.body.id}/lift`, { as: OPERATOR });
  const again = await call("POST", `/v1/halts/${halt.body.id}/lift`, { as: OPERATOR });
  const done = await propose(BODY);

  expect(halt).toMatchObject({
    status: 201,
    body: { scope: "tool", name: BODY.tool, actor: "https://issuer.example#olga" },
  });
  expect(halted).toMatchObject({
    status: 503,
    body: { code: "halted", detail: expect.stringContaining("counting the shelves") },
    headers: { "retry-after": "30" },
  });
  expect(standing.body.halts).toMatchObject([{ id: halt.body.id }]);
  expect(lifted).toMatchObject({ status: 200, body: { halts: [] } });
  expect(again).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect(done.status).toBe(200);
});

test("an execution that breaks on our side ends no request: the ledger says where it is, and the log says why", async () => {
  const here = await shop();
  const record = async () => Promise.reject(new Error("boom"));
  const { propose } = await door({ ports: { ...here.ports, ledger: { ...here.ledger, record } } });

  const answer = await propose({
    tool: "orders.place",
    arguments: { order: "o-1", item: "main/bolt", quantity: 1 },
  });

  expect(answer).toMatchObject({ status: 202, body: { state: "executing" } });
  expect(here.alarms.find((line) => line.startsWith("execution"))).toContain(answer.body.operationId);
  expect(here.orders()).toBe(1);
});
