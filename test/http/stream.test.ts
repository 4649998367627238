import { expect, test } from "vitest";
import type { Grant } from "../../src/identity/mint.ts";
import { AUDITOR, BOB, door, FOREIGN, type TestDoor } from "../support/door.ts";
import { type Heard, listen } from "../support/listener.ts";
import { rig } from "../support/rig.ts";

const BODY = {
  tool: "inventory.set_available",
  arguments: { warehouse: "main", item: "widget", available: 18 },
  execute: "later",
  expectedVersion: 1,
};

async function watched(bounds = {}) {
  const here = await rig();
  const there = await door(here, { settings: { bounds: { pollMs: 20, ...bounds } } });
  const watch = async (who?: Partial<Grant>, headers: Readonly<Record<string, string>> = {}) =>
    listen(there.port, "/v1/events", { authorization: `Bearer ${await there.token(who)}`, ...headers });
  return { ...here, ...there, watch };
}

async function later({ propose }: TestDoor, who: Partial<Grant> = {}): Promise<string> {
  return (
    await propose(
      { ...BODY, arguments: { ...BODY.arguments, available: Math.floor(Math.random() * 1e9) } },
      { as: who },
    )
  ).body.operationId;
}

const named = ({ data }: Heard): unknown => (data as { readonly operationId?: string }).operationId; // The stream's own shape.

test("whoever watches hears of each change by id and version, and of nothing else", async () => {
  const here = await watched();
  const stream = await here.watch();

  const open = await stream.next();
  const id = await later(here);
  const proposed = await stream.next();
  const authorized = await stream.next();

  expect(stream).toMatchObject({
    status: 200,
    headers: { "content-type": "text/event-stream", "x-accel-buffering": "no", "cache-control": "no-store" },
  });
  expect(open).toMatchObject({ event: "open", data: {}, id: expect.any(String) });
  expect(proposed).toMatchObject({
    event: "change",
    data: { operationId: id, type: "proposed", n: 1, at: expect.stringMatching(/Z$/) },
  });
  expect(authorized.data).toEqual({ operationId: id, type: "authorized", n: 2, at: expect.any(String) });
});

test("another tenant's changes are never heard, and another principal's only by those who see all", async () => {
  const here = await watched();
  const [ada, bob, auditor, foreign] = await Promise.all([
    here.watch(),
    here.watch(BOB),
    here.watch(AUDITOR),
    here.watch(FOREIGN),
  ]);
  for (const stream of [ada, bob, auditor, foreign]) await stream.next();

  const theirs = await later(here, FOREIGN);
  const bobs = await later(here, BOB);
  const adas = await later(here);

  expect(named(await ada.next())).toBe(adas);
  expect(named(await bob.next())).toBe(bobs);
  expect([named(await auditor.next()), named(await auditor.next()), named(await auditor.next())]).toEqual([
    bobs,
    bobs,
    adas,
  ]);
  expect(named(await foreign.next())).toBe(theirs);
});

test("Last-Event-ID goes on exactly where an earlier stream ended", async () => {
  const here = await watched();
  const first = await here.watch();
  await first.next();
  const one = await later(here);
  const heard = await first.next();
  first.stop();
  const two = await later(here);

  const second = await here.watch({}, { "last-event-id": heard.id ?? "" });

  expect(heard.data).toMatchObject({ operationId: one, n: 1 });
  expect((await second.next()).event).toBe("open");
  expect((await second.next()).data).toMatchObject({ operationId: one, n: 2 });
  expect((await second.next()).data).toMatchObject({ operationId: two, n: 1 });
});

test("an id says nothing about other tenants, and one that was not given is refused", async () => {
  const here = await watched();
  const mine = (await (await here.watch()).next()).id ?? "";
  const theirs = (await (await here.watch(FOREIGN)).next()).id ?? "";

  expect(mine).toMatch(/^[A-Za-z0-9_-]{22}$/);
  for (const id of ["0", "12", "-1", theirs, "A".repeat(22), "x".repeat(5000), ""]) {
    const answer = await here.call("GET", "/v1/events", { headers: { "last-event-id": id } });
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request", at: "Last-Event-ID" } });
  }
});

test("a silent stream says that it is there, and moves the last id past what the caller may not see", async () => {
  const here = await watched({ heartbeatMs: 60 });
  const stream = await here.watch(BOB);
  const open = await stream.next();
  await later(here);

  await expect.poll(() => stream.lastId(), { timeout: 5_000 }).not.toBe(open.id);
});

test("a stream ends when its token does", async () => {
  const here = await watched({ heartbeatMs: 60 });
  // Tokens are minted at the process's own time, so this one has ended when the tolerance has passed.
  const stream = await here.watch({ ttlS: 1 });
  await stream.next();

  await stream.ended();
}, 30_000);

test("a stream ends when the server closes", async () => {
  const here = await watched();
  const stream = await here.watch();
  await stream.next();

  await here.app.close();

  await stream.ended();
});

test("streams are counted, for everybody and for each principal, and who leaves makes room", async () => {
  const here = await watched({ principalStreamsMax: 2, streamsMax: 3 });
  const mine = [await here.watch(), await here.watch()];
  for (const stream of mine) await stream.next();

  const third = await here.call("GET", "/v1/events");
  const bobs = await here.watch(BOB);
  await bobs.next();
  const auditors = await here.call("GET", "/v1/events", { as: AUDITOR });
  mine[0]?.stop();

  expect(third).toMatchObject({ status: 503, body: { code: "overloaded" } });
  expect(third.headers["retry-after"]).toBe("5");
  expect(auditors.status).toBe(503);
  await expect.poll(async () => (await here.watch()).status, { timeout: 5_000 }).toBe(200);
});
