import { expect, test } from "vitest";
import { door } from "../support/door.ts";
import { rig } from "../support/rig.ts";

const WIDGET = { warehouse: "main", item: "widget", available: 18 };
const BODY = { tool: "inventory.set_available", arguments: WIDGET, expectedVersion: 42 };

async function stocked() {
  const here = await rig();
  await here.run(
    "insert into inventory values ('acme', 'main', 'widget', 5, 42), ('globex', 'main', 'widget', 5, 42)",
  );
  return { ...here, ...(await door(here)) };
}

test("a proposal that is allowed is executed, answered 200, and found under its Location", async () => {
  const { call, propose, stock } = await stocked();

  const answer = await propose(BODY, { headers: { "idempotency-key": '"restock-1"' } });
  const found = await call("GET", answer.headers.location ?? "");

  expect(answer).toMatchObject({
    status: 200,
    body: { state: "succeeded", how: "opened", expectedVersion: "42", intentKey: "restock-1" },
  });
  expect(answer.headers.location).toBe(`/v1/operations/${answer.body.operationId}`);
  expect(answer.headers.etag).toBe(`"${answer.body.revision}"`);
  expect(found).toMatchObject({
    status: 200,
    body: { operationId: answer.body.operationId, state: "succeeded" },
  });
  expect(await stock("widget")).toEqual({ available: 18, version: 43, writes: 1 });
});

test("the same key again is the same operation, quoted or bare, and says so", async () => {
  const { propose, stock } = await stocked();

  const first = await propose(BODY, { headers: { "idempotency-key": "restock-1" } });
  const again = await propose(BODY, { headers: { "idempotency-key": '"restock-1"' } });
  const other = await propose(
    { ...BODY, arguments: { ...WIDGET, available: 7 } },
    { headers: { "idempotency-key": "restock-1" } },
  );

  expect(first.headers["idempotency-replayed"]).toBeUndefined();
  expect(again).toMatchObject({
    status: 200,
    body: { operationId: first.body.operationId, how: "replayed" },
  });
  expect(again.headers["idempotency-replayed"]).toBe("true");
  expect(other).toMatchObject({ status: 422, body: { code: "key_reused", at: "Idempotency-Key" } });
  expect((await stock("widget"))?.writes).toBe(1);
});

test("an equal change without a key is not made twice", async () => {
  const { propose, stock } = await stocked();

  const first = await propose(BODY);
  const again = await propose(BODY);

  expect(first.status).toBe(200);
  expect(again).toMatchObject({
    status: 409,
    body: { code: "looks_the_same", operationId: first.body.operationId },
  });
  expect(again.body.next).toContain("Idempotency-Key");
  expect((await stock("widget"))?.writes).toBe(1);
});

test("a version that has passed is 412 with the one that stands, and the operation is kept", async () => {
  const { call, propose } = await stocked();

  const answer = await propose({ ...BODY, expectedVersion: 41 });
  const found = await call("GET", `/v1/operations/${answer.body.operationId}`);

  expect(answer).toMatchObject({ status: 412, body: { code: "precondition_failed", currentVersion: "42" } });
  expect(answer.body.next).toBe("Read the resource, decide again, and propose what is right now.");
  expect(answer.headers.location).toBe(`/v1/operations/${answer.body.operationId}`);
  expect(found).toMatchObject({
    status: 200,
    body: { state: "rejected", reason: "precondition_failed", currentVersion: "42" },
  });
});

test("zero is a version, and a text is compared as a text", async () => {
  const { propose, run } = await stocked();
  await run("update inventory set version = 0");

  const zero = await propose({ ...BODY, expectedVersion: 0 });
  const text = await propose({ ...BODY, expectedVersion: "1", arguments: { ...WIDGET, available: 3 } });

  expect(zero).toMatchObject({ status: 200, body: { expectedVersion: "0" } });
  expect(text).toMatchObject({ status: 200, body: { expectedVersion: "1" } });
});

test("a resource that is not there is 404, and what policy denies is 403: both are stored", async () => {
  const { call, propose } = await stocked();

  const missing = await propose({ ...BODY, arguments: { ...WIDGET, item: "nothing" } });
  const denied = await propose(BODY, { as: { roles: ["visitor"] } });

  expect(missing).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect(denied).toMatchObject({ status: 403, body: { code: "denied" } });
  for (const { body } of [missing, denied]) {
    expect((await call("GET", `/v1/operations/${body.operationId}`)).body.state).toBe("rejected");
  }
});

test("a proposal for later waits to be asked; asking twice is asking once", async () => {
  const { call, propose, stock } = await stocked();

  const later = await propose({ ...BODY, execute: "later" });
  const path = `/v1/operations/${later.body.operationId}/execute`;
  const done = await call("POST", path);
  const again = await call("POST", path, { body: {} });

  expect(later).toMatchObject({
    status: 202,
    body: {
      state: "authorized",
      execute: "later",
      next: "Ask for its execution before its permission ends.",
    },
  });
  expect(done).toMatchObject({ status: 200, body: { state: "succeeded" } });
  expect(again).toMatchObject({ status: 200, body: { state: "succeeded", revision: done.body.revision } });
  expect((await stock("widget"))?.writes).toBe(1);
});

test("a cancelled operation is 200 to who cancels it and 409 to who asks for its effect", async () => {
  const { call, propose, stock } = await stocked();
  const { body } = await propose({ ...BODY, execute: "later" }, { headers: { "idempotency-key": "k" } });

  const cancelled = await call("POST", `/v1/operations/${body.operationId}/cancel`);
  const twice = await call("POST", `/v1/operations/${body.operationId}/cancel`);
  const executed = await call("POST", `/v1/operations/${body.operationId}/execute`);
  const replayed = await propose({ ...BODY, execute: "later" }, { headers: { "idempotency-key": "k" } });

  expect(cancelled).toMatchObject({ status: 200, body: { state: "rejected", reason: "cancelled" } });
  expect(twice.body.revision).toBe(cancelled.body.revision);
  expect(executed).toMatchObject({ status: 409, body: { code: "cancelled" } });
  expect(replayed).toMatchObject({ status: 409, body: { code: "cancelled", operationId: body.operationId } });
  expect(replayed.headers["idempotency-replayed"]).toBe("true");
  expect((await stock("widget"))?.writes).toBe(0);
});

test("what supersedes cancels the other in the same commit, or nothing is stored", async () => {
  const { call, propose } = await stocked();
  const old = await propose({ ...BODY, execute: "later" });

  const fresh = await propose({
    ...BODY,
    arguments: { ...WIDGET, available: 9 },
    supersedes: old.body.operationId,
  });
  const late = await propose({
    ...BODY,
    arguments: { ...WIDGET, available: 10 },
    supersedes: fresh.body.operationId,
  });

  expect(fresh).toMatchObject({
    status: 200,
    body: { state: "succeeded", supersedes: old.body.operationId },
  });
  expect((await call("GET", `/v1/operations/${old.body.operationId}`)).body.reason).toBe("superseded");
  expect(late).toMatchObject({ status: 409, body: { code: "not_cancellable", at: "/supersedes" } });
});

test("a note is shown apart and is no part of the intent", async () => {
  const { propose } = await stocked();

  const first = await propose(
    { ...BODY, note: "the shelf <b>looked</b> empty" },
    { headers: { "idempotency-key": "k" } },
  );
  const again = await propose({ ...BODY, note: "as I said" }, { headers: { "idempotency-key": "k" } });

  expect(first.body.note).toBe("the shelf <b>looked</b> empty");
  expect(again.body).toMatchObject({ how: "replayed", note: "the shelf <b>looked</b> empty" });
});
