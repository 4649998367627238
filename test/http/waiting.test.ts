import { expect, test } from "vitest";
import { door } from "../support/door.ts";
import { deaf, held } from "../support/held.ts";
import { shop } from "../support/shop.ts";

const ORDER = { tool: "orders.place", arguments: { order: "o-1", item: "main/bolt", quantity: 1 } };

test("what takes longer than the caller waits is 202 and goes on", async () => {
  const gate = held();
  const here = await shop({ through: gate.through });
  const { call, propose } = await door(here);

  const answer = await propose(ORDER, { headers: { prefer: "respond-async, wait=0" } });
  gate.letGo();
  const found = await call("GET", `${answer.headers.location}?wait=10`);

  expect(answer).toMatchObject({
    status: 202,
    body: { state: "executing", next: "Do not send it again; ask for this operation." },
  });
  expect(answer.headers["preference-applied"]).toBe("wait=0");
  expect(found).toMatchObject({ status: 200, body: { state: "succeeded" } });
  expect(here.orders()).toBe(1);
});

test("what ends within the wait is answered when it ends", async () => {
  const gate = held();
  const here = await shop({ through: gate.through });
  const { propose } = await door(here);

  const asked = propose(ORDER, { headers: { prefer: "wait=20" } });
  await gate.arrived();
  gate.letGo();

  expect(await asked).toMatchObject({ status: 200, body: { state: "succeeded" } });
});

test("a caller who hangs up changes nothing", async () => {
  const gate = held();
  const here = await shop({ through: gate.through });
  const { call, propose } = await door(here);
  const gone = new AbortController();
  const asked = propose(ORDER, {
    headers: { "idempotency-key": "k", prefer: "wait=20" },
    signal: gone.signal,
  });
  await gate.arrived();

  gone.abort();
  await expect(asked).rejects.toThrow();
  gate.letGo();
  const again = await propose(ORDER, { headers: { "idempotency-key": "k", prefer: "wait=20" } });

  expect(again).toMatchObject({ status: 200, body: { state: "succeeded", how: "replayed" } });
  expect((await call("GET", "/v1/operations")).body.operations).toHaveLength(1);
  expect(here.orders()).toBe(1);
});

test("the same intent again waits for the attempt that is under way, and sends nothing", async () => {
  const gate = held();
  const here = await shop({ through: gate.through });
  const { propose } = await door(here);
  const headers = { "idempotency-key": "k", prefer: "wait=20" };
  const first = propose(ORDER, { headers });
  await gate.arrived();

  const early = await propose(ORDER, { headers: { ...headers, prefer: "wait=0" } });
  const second = propose(ORDER, { headers });
  const joined = await propose(ORDER, { headers: { prefer: "wait=0" } });
  gate.letGo();

  expect(early).toMatchObject({ status: 202, body: { state: "executing", how: "replayed" } });
  expect((await first).body).toMatchObject({ state: "succeeded", how: "opened" });
  expect((await second).body).toMatchObject({ state: "succeeded", how: "replayed" });
  expect(joined).toMatchObject({ status: 202, body: { state: "executing", how: "joined" } });
  expect(here.orders()).toBe(1);
});

test("a lost answer is 202 and unknown, and says not to try again", async () => {
  const here = await shop({ of: "nothing", through: deaf });
  const { call, propose } = await door(here);

  const answer = await propose(ORDER);
  const found = await call("GET", `/v1/operations/${answer.body.operationId}`);
  const other = await propose(ORDER, { headers: { "idempotency-key": "new" } });

  expect(answer).toMatchObject({
    status: 202,
    body: {
      state: "unknown",
      attention: expect.any(String),
      attempts: [{ n: 1, learned: "lost", detail: "no answer" }],
    },
  });
  expect(answer.body.next).toBe("Do not try again; ask for this operation.");
  expect(found.status).toBe(200);
  expect(other).toMatchObject({
    status: 409,
    body: { code: "equal_effect_in_doubt", operationId: answer.body.operationId },
  });
  expect(here.orders()).toBe(1);
});

test("closing the server lets the waiting go and finishes what is under way", async () => {
  const gate = held();
  const here = await shop({ through: gate.through });
  const { app, call, propose, waiting } = await door(here);
  const { headers } = await propose(ORDER, { headers: { prefer: "wait=0" } });
  const patient = call("GET", `${headers.location}?wait=30`);
  await expect.poll(waiting).toBe(1);

  const closed = app.close();
  const answer = await patient;
  gate.letGo();
  await closed;

  expect(answer).toMatchObject({ status: 200, body: { state: "executing" } });
  expect((await here.ledger.list(here.session.tenantId, { max: 2 })).map(({ state }) => state)).toEqual([
    "succeeded",
  ]);
});

test("more callers than may wait at a time are answered at once", async () => {
  const gate = held();
  const here = await shop({ through: gate.through });
  const { call, propose, waiting } = await door(here, { settings: { bounds: { waitingMax: 1 } } });
  const { headers } = await propose(ORDER, { headers: { prefer: "wait=0" } });
  const patient = call("GET", `${headers.location}?wait=20`);
  await expect.poll(waiting).toBe(1);

  const turnedAway = await call("GET", `${headers.location}?wait=20`);
  gate.letGo();

  expect(turnedAway.body.state).toBe("executing");
  expect((await patient).body.state).toBe("succeeded");
});
