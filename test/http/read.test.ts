import { expect, test } from "vitest";
import { AUDITOR, BOB, door, FOREIGN } from "../support/door.ts";
import { rig } from "../support/rig.ts";

const BODY = {
  tool: "inventory.set_available",
  arguments: { warehouse: "main", item: "widget", available: 18 },
  expectedVersion: 42,
};
const of = (item: string, available: number) => ({
  ...BODY,
  execute: "later",
  arguments: { warehouse: "main", item, available },
});

async function stocked() {
  const here = await rig();
  await here.run(
    "insert into inventory values ('acme', 'main', 'widget', 5, 42), ('globex', 'main', 'widget', 5, 42)",
  );
  return { ...here, ...(await door(here)) };
}

test("an operation has the strong ETag of its revision, and is not sent again while that holds", async () => {
  const { call, propose } = await stocked();
  const { body } = await propose({ ...BODY, execute: "later" });
  const path = `/v1/operations/${body.operationId}`;

  const first = await call("GET", path);
  const same = await call("GET", path, { headers: { "if-none-match": `"0", ${first.headers.etag}` } });
  const weak = await call("GET", path, { headers: { "if-none-match": `W/${first.headers.etag}` } });
  await call("POST", `${path}/cancel`);
  const moved = await call("GET", path, { headers: { "if-none-match": first.headers.etag ?? "" } });

  // The due time is part of what is shown, and moves without a new revision.
  expect(first.headers.etag).toMatch(/^"1\.[0-9]+"$/);
  expect(first.headers["cache-control"]).toBe("private, no-cache");
  expect(same).toMatchObject({ status: 304, text: "", headers: { etag: first.headers.etag } });
  expect(weak.status).toBe(304);
  expect(moved).toMatchObject({ status: 200, headers: { etag: '"2"' } });
});

test("a receipt is a JWS by default, and with its claims for who asks for JSON", async () => {
  const { call, propose } = await stocked();
  const waiting = (await propose(of("widget", 3))).body;
  const { body } = await propose(BODY);
  const path = `/v1/operations/${body.operationId}/receipt`;

  const jws = await call("GET", path);
  const json = await call("GET", path, { headers: { accept: "text/html;q=0.2, application/json" } });

  expect(jws).toMatchObject({ status: 200, headers: { "content-type": "application/jose", vary: "accept" } });
  expect(jws.text).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  expect(json.body).toMatchObject({
    jws: jws.text,
    claims: { operationId: body.operationId, state: "succeeded", digest: body.digest },
  });
  expect(await call("GET", `/v1/operations/${waiting.operationId}/receipt`)).toMatchObject({
    status: 409,
    body: { code: "not_settled", operationId: waiting.operationId },
  });
});

test("the history is whole, and a change made behind our back shows", async () => {
  const { call, propose, run } = await stocked();
  const { body } = await propose(BODY);
  const path = `/v1/operations/${body.operationId}/events`;

  const whole = await call("GET", path);
  await run("alter table events disable trigger events_immutable");
  await run("update events set body = replace(body, 'proposed', 'imagined') where n = 1");
  const broken = await call("GET", path);
  const explained = await call("GET", `/v1/operations/${body.operationId}/explanation`);

  expect(whole.body.events.map(({ n, type }: { n: number; type: string }) => [n, type])).toEqual([
    [1, "proposed"],
    [2, "authorized"],
    [3, "claimed"],
    [4, "confirmed"],
  ]);
  expect(whole.body.events[1].prev).toBe(whole.body.events[0].hash);
  expect(whole.body).not.toHaveProperty("chainBroken");
  expect(broken.body.chainBroken).toBe("event 1 was changed after it was stored");
  expect(explained.body.evidence.data.chain).toBe("broken");
});

test("operations are listed newest first, page by page, and what opens meanwhile moves no page", async () => {
  const { call, propose } = await stocked();
  const ids: string[] = [];
  for (const item of ["a", "b", "c", "d", "e"]) ids.unshift((await propose(of(item, 1))).body.operationId);
  const listed = (page: { body: { operations: readonly { operationId: string }[] } }) =>
    page.body.operations.map(({ operationId }) => operationId);

  const first = await call("GET", "/v1/operations?limit=2");
  await propose(of("f", 1));
  const second = await call("GET", `/v1/operations?limit=2&cursor=${first.body.cursor}`);
  const third = await call("GET", `/v1/operations?limit=2&cursor=${second.body.cursor}`);

  expect([...listed(first), ...listed(second), ...listed(third)]).toEqual(ids);
  expect(third.body).not.toHaveProperty("cursor");
});

test("a list is narrowed by state, tool, resource, attention, time and principal", async () => {
  const { call, propose } = await stocked();
  const done = (await propose(BODY)).body;
  const open = (await propose(of("bolt", 1))).body;
  const count = async (query: string, as = {}) =>
    (await call("GET", `/v1/operations?${query}`, { as })).body.operations.length;

  expect((await call("GET", "/v1/operations?state=authorized")).body.operations).toMatchObject([
    { operationId: open.operationId },
  ]);
  expect((await call("GET", "/v1/operations?resource=Item:main/widget")).body.operations).toMatchObject([
    { operationId: done.operationId },
  ]);
  expect(await count("tool=inventory.set_available&attention=false")).toBe(2);
  expect(await count("attention=true")).toBe(0);
  expect(await count("tool=other")).toBe(0);
  expect(await count(`since=${encodeURIComponent(done.createdAt)}`)).toBe(2);
  expect(await count("since=2999-01-01T00:00:00%2B01:00")).toBe(0);
  expect(await count(`principal=${encodeURIComponent("https://issuer.example#ada")}`, AUDITOR)).toBe(2);
  expect(await count(`principal=${encodeURIComponent("https://issuer.example#bob")}`, AUDITOR)).toBe(0);
});

test("everybody sees their own; who looks after a tenant sees its, and never another's", async () => {
  const { call, propose } = await stocked();
  const mine = (await propose(BODY)).body.operationId;
  await propose(BODY, { as: FOREIGN });
  const seen = async (as: object) =>
    (await call("GET", "/v1/operations", { as })).body.operations.map(
      ({ operationId }: { operationId: string }) => operationId,
    );

  expect(await seen({})).toEqual([mine]);
  expect(await seen(BOB)).toEqual([]);
  expect(await seen(AUDITOR)).toEqual([mine]);
  expect(
    await call("GET", `/v1/operations?principal=${encodeURIComponent("https://issuer.example#ada")}`, {
      as: BOB,
    }),
  ).toMatchObject({ body: { operations: [] } });
  expect((await call("GET", `/v1/operations/${mine}`, { as: AUDITOR })).status).toBe(200);
});

const BAD_LISTS = [
  "state=done",
  "state=",
  "state=unknown&state=unknown",
  "limit=0",
  "limit=101",
  "limit=-1",
  "limit=1e1",
  "cursor=op_1",
  "cursor=%27%20or%201=1",
  "since=yesterday",
  "since=2026-13-01T00:00:00Z",
  "attention=maybe",
  "tool=",
  "sort=asc",
  "__proto__=1",
];
const BAD_WAITS = ["31", "-1", "1.5", "", "abc", "99999999999999"];

test("a parameter that is unknown, doubled or out of its bounds is refused by name", async () => {
  const { call } = await door(await rig());

  for (const query of BAD_LISTS) {
    const { status, body } = await call("GET", `/v1/operations?${query}`);
    expect({ query, status, code: body.code, at: body.at }).toEqual({
      query,
      status: 400,
      code: "invalid_request",
      at: query.split("=")[0],
    });
  }
  for (const wait of BAD_WAITS) {
    const { status, body } = await call("GET", `/v1/operations/op_${"a".repeat(32)}?wait=${wait}`);
    expect({ wait, status, at: body.at }).toEqual({ wait, status: 400, at: "wait" });
  }
});

test("tools, providers and contracts say what is offered and what it promises", async () => {
  const { call } = await stocked();

  const tools = await call("GET", "/v1/tools");
  const providers = await call("GET", "/v1/providers");
  const contracts = await call("GET", "/v1/contracts");

  expect(tools.body.tools).toMatchObject([
    {
      name: "inventory.set_available",
      expectedVersion: "required",
      contract: "test.ledger/v1",
      promise: expect.arrayContaining([expect.stringContaining("one commit")]),
    },
  ]);
  expect(providers.body.providers).toMatchObject([
    { name: "stock", kind: "postgres", tools: ["inventory.set_available"] },
  ]);
  expect(contracts.body.contracts).toMatchObject([
    { contract: "test.ledger/v1", transport: "postgres-ledger", tools: ["inventory.set_available"] },
  ]);
});
