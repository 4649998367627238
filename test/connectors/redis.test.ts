import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { BrokerSettings } from "../../src/connectors/reach.ts";
import { redisConnector } from "../../src/connectors/redis.ts";
import { freePort } from "../servers/launch.ts";
import { redis } from "../servers/redis.ts";
import { needs } from "../support/needs.ts";
import { type RedisOnlooker, redisOnlooker } from "../support/onlooker-redis.ts";
import { type ErrandChoices, errandOf, preset } from "./errand.ts";
import { closeAfter } from "./rig.ts";

const test = needs(redis);
const MARKER = preset("redis/marker");

let server: Awaited<ReturnType<typeof redis.start>>;
let onlooker: RedisOnlooker;

beforeAll(async () => {
  if (redis.installed() !== undefined) return;
  server = await redis.start();
  onlooker = await redisOnlooker(server);
});
afterEach(() => onlooker?.$("FLUSHALL"));
afterAll(async () => {
  onlooker?.close();
  await server?.stop();
});

function connector(settings: Partial<BrokerSettings> = {}) {
  const made = redisConnector({
    url: server.url,
    auth: { basic: { user: "default", password: server.password } },
    allowPrivate: ["127.0.0.1"],
    ...settings,
  });
  closeAfter(() => made.close());
  return made;
}

/** A change of one item from version 7, that has 20. */
async function item(choices: ErrandChoices = {}, contract = MARKER) {
  await onlooker.$("HSET", "item:bolt", "available", "20", "version", "7");
  const errand = errandOf(contract, {
    resource: "bolt",
    arguments: { available: 18 },
    expectedVersion: "7",
    ...choices,
  });
  return { ...errand, firstSentAt: Date.now() };
}

async function fields(key = "item:bolt"): Promise<Readonly<Record<string, string>>> {
  const words = (await onlooker.$("HGETALL", key)) as readonly string[];
  return Object.fromEntries(words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1] ?? ""]] : [])));
}

function markerOf({ action }: { readonly action: { readonly operationId: string } }): string {
  return `writ:acme:${action.operationId}`;
}

test("the marker and the effect are one step, the version counts up, and a repeat changes nothing", async () => {
  const errand = await item();
  const made = connector();

  const first = await made.perform(errand);
  await onlooker.$("HSET", "item:bolt", "available", "3");
  const again = await made.perform({ ...errand, attempt: 2 });

  expect(first).toMatchObject({ kind: "confirmed", evidence: { data: { version: "8" } } });
  expect(again).toMatchObject({ kind: "lost", answer: "duplicate", seen: { version: "8" } });
  expect(await fields()).toEqual({ available: "3", version: "8" });
  expect(await fields(markerOf(errand))).toEqual({
    operation: errand.action.operationId,
    digest: errand.digest,
    state: "applied",
    version: "8",
  });
  expect(Number(await onlooker.$("PTTL", markerOf(errand)))).toBeGreaterThan(29 * 86_400_000);
  expect(await made.lookUp(errand, "marker")).toMatchObject({ kind: "confirmed" });
});

test("the same identity with another content is a mismatch, not executed, and a conflict to whoever looks", async () => {
  const made = connector();
  await made.perform(await item());
  const other = await item({ arguments: { available: 5 } });

  expect(await made.perform(other)).toMatchObject({ kind: "lost", answer: "mismatch" });
  expect(await made.lookUp(other, "marker")).toMatchObject({ kind: "conflict" });
  expect((await fields()).available).toBe("20");
});

test("a stale version is refused and leaves no marker; 0 creates what is not there", async () => {
  const made = connector();
  const stale = await item({ expectedVersion: "6", operation: 2 });
  const create = { ...(await item({ expectedVersion: "0", operation: 3, resource: "nut" })) };

  expect(await made.perform(stale)).toMatchObject({ kind: "refused", reason: "precondition_failed" });
  expect(await made.perform(create)).toMatchObject({
    kind: "confirmed",
    evidence: { data: { version: "1" } },
  });
  expect(await fields()).toEqual({ available: "20", version: "7" });
  expect(await fields(markerOf(stale))).toEqual({});
  expect(await made.lookUp(stale, "marker")).toEqual({ kind: "absent" });
});

test("of many writers with one version at most one wins", async () => {
  const made = connector();
  const errands = await Promise.all(
    Array.from({ length: 24 }, (_, n) => item({ operation: n + 1, arguments: { available: n } })),
  );

  const learned = await Promise.all(errands.map((errand) => made.perform(errand)));

  expect(learned.filter(({ kind }) => kind === "confirmed")).toHaveLength(1);
  expect(
    learned.filter((one) => one.kind === "refused" && one.reason === "precondition_failed"),
  ).toHaveLength(23);
  expect((await fields()).version).toBe("8");
});

test("a late first attempt after the tombstone is refused for ever; without one it would still have its effect", async () => {
  const made = connector();
  const barred = await item();
  const unbarred = await item({ operation: 2, resource: "nut", expectedVersion: "0" });

  const bar = await made.bar(barred);
  const late = await made.perform(barred);

  expect(bar.raised).toBe(true);
  expect(late).toMatchObject({ kind: "refused", reason: "provider_refused" });
  expect(await fields()).toEqual({ available: "20", version: "7" });
  expect(await made.lookUp(barred, "marker")).toEqual({ kind: "absent", sawBarrier: true });
  // The broken variant: nobody raised a barrier.
  expect((await made.perform(unbarred)).kind).toBe("confirmed");
});

test("a barrier that comes too late says so, and the effect stands", async () => {
  const made = connector();
  const errand = await item();
  await made.perform(errand);

  expect((await made.bar(errand)).raised).toBe(false);
  expect(await made.lookUp(errand, "marker")).toMatchObject({ kind: "confirmed" });
});

function writing(...commands: readonly (readonly string[])[]) {
  const write = {
    marker: "{{vars.marker}}",
    operation: "{{op.id}}",
    digest: "{{op.digest}}",
    keep: "30d",
    expect: { key: "item:{{resource}}", field: "version", is: "{{expected.version}}" },
    do: commands,
  };
  return preset("redis/marker", { request: { write } });
}

test("a key of another type refuses the whole before anything is written", async () => {
  await onlooker.$("SET", "log", "a text");
  const contract = writing(["HSET", "item:{{resource}}", "available", "1"], ["RPUSH", "log", "x"]);
  const errand = await item({}, contract);

  const learned = await connector().perform(errand);

  expect(learned).toMatchObject({ kind: "refused", reason: "provider_refused" });
  expect(await fields()).toEqual({ available: "20", version: "7" });
  expect(await fields(markerOf(errand))).toEqual({});
});

test("a script that stops in the middle is never called done or not done: the marker says half, and a person decides", async () => {
  await onlooker.$("SET", "count", "not a number");
  const contract = writing(["HSET", "item:{{resource}}", "available", "1"], ["INCRBY", "count", "1"]);
  const errand = await item({}, contract);
  const made = connector();

  const learned = await made.perform(errand);

  expect(learned.kind).toBe("lost");
  expect(await fields(markerOf(errand))).toMatchObject({ state: "half" });
  expect(await made.lookUp(errand, "marker")).toMatchObject({ kind: "unclear" });
});

test("where markers may be dropped nothing is sent, and their absence is none", async () => {
  await onlooker.$("CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "volatile-lru");
  const errand = await item();
  const made = connector();

  const learned = await made.perform(errand);
  const found = await made.lookUp(errand, "marker");
  await onlooker.$("CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction");

  expect(learned).toMatchObject({ kind: "absent", why: expect.stringContaining("drops keys") });
  expect(found).toMatchObject({ kind: "unclear" });
  expect(await fields()).toEqual({ available: "20", version: "7" });
});

test("a replica is not asked for absence, and nothing is sent to it", async () => {
  const errand = await item();
  await onlooker.$("REPLICAOF", "127.0.0.1", String(await freePort()));
  const made = connector();

  const learned = await made.perform(errand);
  const found = await made.lookUp(errand, "marker");
  await onlooker.$("REPLICAOF", "NO", "ONE");

  expect(learned).toMatchObject({ kind: "absent", why: expect.stringContaining("not the primary") });
  expect(found).toMatchObject({ kind: "unclear" });
});

test("a marker that would not be kept any more is no absence when it is not found", async () => {
  const errand = await item();
  const long = 31 * 86_400_000;

  expect(await connector().lookUp(errand, "marker")).toEqual({ kind: "absent" });
  expect(await connector().lookUp({ ...errand, firstSentAt: Date.now() - long }, "marker")).toMatchObject({
    kind: "unclear",
  });
});

test("a closed gate, an aborted signal and a place that cannot be reached leave nothing, now and later", async () => {
  const none = `redis://127.0.0.1:${await freePort()}`;

  const learned = [
    await connector().perform(await item({ gate: () => false })),
    await connector().perform(await item({ signal: AbortSignal.abort() })),
    await connector({ url: none }).perform(await item()),
    await connector({ allowPrivate: false }).perform(await item()),
    await connector({ auth: { basic: { user: "default", password: "wrong" } } }).perform(await item()),
  ];

  expect(learned.map(({ kind }) => kind)).toEqual(Array(5).fill("absent"));
  expect(await onlooker.$("KEYS", "*")).toEqual(["item:bolt"]);
  expect(await fields()).toEqual({ available: "20", version: "7" });
});

test("the gate is asked once, immediately before the bytes leave: a connection that is kept has sent nothing until then", async () => {
  const made = connector();
  await made.perform(await item());
  const before = Number(await calls());

  const learned = await made.perform(
    await item({
      operation: 2,
      gate: () => false,
    }),
  );

  expect(learned).toEqual({ kind: "absent", why: "the send gate was closed" });
  expect(Number(await calls())).toBe(before);
});

/** How many scripts the server has run. */
async function calls(): Promise<string> {
  const text = String(await onlooker.$("INFO", "commandstats"));
  return /cmdstat_eval:calls=(\d+)/.exec(text)?.[1] ?? "0";
}
