import { Kvm } from "@nats-io/kv";
import { afterAll, beforeAll, expect } from "vitest";
import { natsConnector } from "../../src/connectors/nats.ts";
import type { BrokerSettings } from "../../src/connectors/reach.ts";
import { freePort } from "../servers/launch.ts";
import { nats } from "../servers/nats.ts";
import { needs } from "../support/needs.ts";
import { type NatsOnlooker, natsOnlooker } from "../support/onlooker-nats.ts";
import { errandOf, preset } from "./errand.ts";
import { closeAfter } from "./rig.ts";

const test = needs(nats);
const QUEUE = preset("nats/jetstream-queue");
const PUBLISH = preset("nats/jetstream-publish");
const KV = preset("nats/kv-put");

let server: Awaited<ReturnType<typeof nats.start>>;
let onlooker: NatsOnlooker;

beforeAll(async () => {
  if (nats.installed() !== undefined) return;
  server = await nats.start();
  onlooker = await natsOnlooker(server);
  await onlooker.stream({ name: "JOBS", subjects: ["jobs.>"], max_msgs_per_subject: 100 });
  await onlooker.stream({ name: "ORDERS", subjects: ["orders.>"] });
  await onlooker.stream({ name: "KV_CONFIG", subjects: ["$KV.CONFIG.>"], max_msgs_per_subject: 5 });
});
afterAll(async () => {
  await onlooker?.close();
  await server?.stop();
});

function connector(settings: Partial<BrokerSettings> = {}) {
  const { user, password } = server;
  const made = natsConnector({
    url: server.url,
    auth: { basic: { user, password } },
    allowPrivate: ["127.0.0.1"],
    ...settings,
  });
  closeAfter(() => made.close());
  return made;
}

async function keptOn(stream: string, subject: string) {
  return (await onlooker.kept(stream)).filter((message) => message.subject === subject);
}

test("one publication is one message, with its id, its stream and its content; a repeat is a duplicate and no second one", async () => {
  const errand = errandOf(QUEUE, { resource: "once" });
  const made = connector();

  const first = await made.perform(errand);
  const again = await made.perform({ ...errand, attempt: 2 });

  const [message, ...more] = await keptOn("JOBS", "jobs.once");
  expect(first).toMatchObject({ kind: "confirmed", evidence: { data: { seq: message?.seq } } });
  expect(again).toMatchObject({ kind: "lost", answer: "duplicate", seen: { seq: message?.seq } });
  expect(more).toEqual([]);
  expect(message?.text).toBe('{"item":"main/bolt","quantity":2}');
  expect(message?.headers).toEqual({
    "Nats-Msg-Id": errand.action.operationId,
    "Nats-Expected-Stream": "JOBS",
    "Writ-Digest": errand.digest,
  });
});

test("the same identity with another content is not executed, and the lookup shows whose message stands there", async () => {
  const before = await onlooker.write("orders.other", "before");
  const choices = { resource: "other", expectedVersion: String(before) };
  const made = connector();
  const now = { firstSentAt: Date.now() };
  await made.perform(errandOf(PUBLISH, choices));
  const other = errandOf(PUBLISH, { ...choices, arguments: { item: "main/bolt", quantity: 5 } });

  const learned = await made.perform(other);
  const found = await made.lookUp({ ...other, ...now }, "message_id");

  expect(learned).toMatchObject({ kind: "lost", answer: "duplicate" });
  expect(found).toMatchObject({ kind: "conflict" });
  expect(await keptOn("ORDERS", "orders.other")).toHaveLength(2);
});

test("a stale version is refused, and another's equal value is never found as ours", async () => {
  const made = connector();
  await onlooker.write("$KV.CONFIG.taken", "before");
  const read = await made.read({
    tenantId: "acme",
    resourceId: "taken",
    arguments: {},
    contract: KV,
    signal: AbortSignal.timeout(5_000),
  });
  const version = read.kind === "read" ? read.version : "";
  const errand = errandOf(KV, { resource: "taken", expectedVersion: version, operation: 40 });
  await onlooker.write("$KV.CONFIG.taken", '{"item":"main/bolt","quantity":2}');

  expect(await made.perform(errand)).toMatchObject({ kind: "refused", reason: "precondition_failed" });
  expect(await made.lookUp(errand, "revision")).toEqual({ kind: "absent" });
  expect(await keptOn("KV_CONFIG", "$KV.CONFIG.taken")).toHaveLength(2);
});

test("a key is created at revision 0, and only once", async () => {
  const made = connector();
  const create = (operation: number) =>
    made.perform(errandOf(KV, { resource: "fresh", expectedVersion: "0", operation }));

  expect((await create(41)).kind).toBe("confirmed");
  expect(await create(42)).toMatchObject({ kind: "refused", reason: "precondition_failed" });
  expect(await keptOn("KV_CONFIG", "$KV.CONFIG.fresh")).toHaveLength(1);
});

test("of many writers with one revision at most one wins, and the bucket's own client reads what it wrote", async () => {
  const version = String(await onlooker.write("$KV.CONFIG.raced", "before"));
  const made = connector();
  const one = (operation: number) =>
    made.perform(errandOf(KV, { resource: "raced", expectedVersion: version, operation }));

  const learned = await Promise.all(Array.from({ length: 24 }, (_, n) => one(100 + n)));

  const won = learned.filter(({ kind }) => kind === "confirmed");
  const bucket = await new Kvm(onlooker.connection).open("CONFIG");
  const entry = await bucket.get("raced");
  expect(won).toMatchObject([{ evidence: { data: { revision: entry?.revision } } }]);
  expect(entry?.json()).toEqual({ item: "main/bolt", quantity: 2 });
  expect(learned.filter(({ kind }) => kind === "refused")).toHaveLength(23);
  expect(await keptOn("KV_CONFIG", "$KV.CONFIG.raced")).toHaveLength(2);
});

test("a search is no absence where the stream has lost messages since, and none where the history is full", async () => {
  const made = connector();
  const missing = errandOf(PUBLISH, { resource: "lost", expectedVersion: "1", operation: 43 });
  const whole = await made.lookUp({ ...missing, firstSentAt: Date.now() }, "message_id");
  const seq = await onlooker.write("orders.lost", "soon gone");
  await onlooker.write("orders.lost", "stays");
  await onlooker.manager.streams.deleteMessage("ORDERS", seq);

  const holed = await made.lookUp({ ...missing, firstSentAt: Date.now() }, "message_id");
  const first = await onlooker.write("$KV.CONFIG.full", "0");
  for (let n = 1; n <= 5; n++) await onlooker.write("$KV.CONFIG.full", String(n));
  const full = await made.lookUp(
    errandOf(KV, { resource: "full", expectedVersion: String(first), operation: 44 }),
    "revision",
  );

  expect(whole).toEqual({ kind: "absent" });
  expect(holed).toMatchObject({ kind: "unclear" });
  expect(full).toMatchObject({ kind: "unclear" });
});

test("a stream whose messages are taken away is not searched: a consumer of ours would change who gets them", async () => {
  await onlooker.stream({ name: "TAKEN", subjects: ["taken.>"], retention: "interest" as never }); // The library's own enum says no more.
  const search = {
    stream: "TAKEN",
    subject: "taken.{{resource}}",
    header: { "Nats-Msg-Id": "{{op.id}}" },
    since: "{{op.first_sent_at}}",
  };
  const contract = preset("nats/jetstream-queue", {
    lookup: [
      {
        name: "it",
        request: { find: search },
        found: { status: 200, body: { "/headers/Nats-Msg-Id": "{{op.id}}" } },
        absent: { status: 404, body: { "/kept": true } },
      },
    ],
  });

  expect(await connector().lookUp(errandOf(contract), "it")).toMatchObject({ kind: "unclear" });
  expect((await onlooker.manager.streams.info("TAKEN")).state.consumer_count).toBe(0);
});

test("a closed gate, an aborted signal and a place that cannot be reached leave nothing, now and later", async () => {
  const at = (resource: string, more = {}) => errandOf(QUEUE, { resource, ...more });
  const none = `nats://127.0.0.1:${await freePort()}`;

  const learned = [
    await connector().perform(at("gated", { gate: () => false })),
    await connector().perform(at("aborted", { signal: AbortSignal.abort() })),
    await connector({ url: none }).perform(at("nowhere")),
    await connector({ allowPrivate: false }).perform(at("private")),
    await connector({ auth: { basic: { user: "writ", password: "wrong" } } }).perform(at("stranger")),
    await connector().perform(errandOf(nobodyHears(), { resource: "unheard" })),
  ];

  expect(learned.map(({ kind }) => kind)).toEqual(Array(6).fill("absent"));
  expect(JSON.stringify(learned)).toContain("is not public");
  expect(JSON.stringify(learned)).not.toContain(server.password);
  for (const resource of ["gated", "aborted", "nowhere", "private", "stranger", "unheard"])
    expect(await keptOn("JOBS", `jobs.${resource}`)).toEqual([]);
});

function nobodyHears() {
  const publish = { stream: "JOBS", subject: "elsewhere.{{resource}}", headers: {}, payload: "{{args}}" };
  return preset("nats/jetstream-queue", {
    identity: "none",
    request: { publish },
    outcomes: [
      { when: { status: 503, body: { "/error/code": 503 } }, is: "transient_no" },
      { when: { status: 200, body: { "/seq": { present: true } } }, is: "effect" },
    ],
  });
}

test("no argument and no resource adds a wildcard, a blank or another part to the subject", async () => {
  const contract = preset("nats/jetstream-queue", {
    request: {
      publish: {
        stream: "JOBS",
        subject: "jobs.{{args.lane}}",
        headers: { "Nats-Msg-Id": "{{op.id}}" },
        payload: "x",
      },
    },
  });
  const made = connector();

  for (const lane of ["a.b", "*", ">", "a b", "a\r\nPUB x 0", ""]) {
    const learned = await made.perform(errandOf(contract, { arguments: { lane } }));
    expect(learned, JSON.stringify(lane)).toMatchObject({ kind: "refused", reason: "provider_refused" });
  }
});
