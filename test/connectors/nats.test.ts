import { Kvm } from "@nats-io/kv";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { natsConnector } from "../../src/connectors/nats.ts";
import type { BrokerSettings } from "../../src/connectors/reach.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import { maySend } from "../../src/core/sending.ts";
import type { Tool } from "../../src/core/tool.ts";
import { cuttingProxy } from "../conformance/cutting-proxy.ts";
import { freePort } from "../servers/launch.ts";
import { nats } from "../servers/nats.ts";
import { needs } from "../support/needs.ts";
import { type NatsOnlooker, natsOnlooker } from "../support/onlooker-nats.ts";
import { rig } from "../support/rig.ts";
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
  await onlooker.stream({ name: "SHORT", subjects: ["short.>"], duplicate_window: 2_000_000_000 });
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

/** The work queue's contract over the stream that forgets message ids after two seconds. */
function shortly(window: Readonly<Record<string, string>>) {
  return parseContract({
    contract: "test/short/v1",
    transport: "nats",
    requestLife: "1s",
    maxPause: "900ms",
    lease: "2s",
    settle: { bounded: "2s" },
    backoff: { first: "1ms", max: "2ms" },
    identity: { kind: "key", window: { opens: "first_effect", margin: "1ms", ...window } },
    request: {
      publish: {
        stream: "SHORT",
        subject: "short.{{resource}}",
        headers: { "Nats-Msg-Id": "{{op.id}}" },
        payload: "{{args}}",
      },
    },
    outcomes: [
      { when: { status: 200, body: { "/duplicate": true } }, is: "duplicate" },
      { when: { status: 200, body: { "/seq": { present: true } } }, is: "effect" },
    ],
  });
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

describe("C071 the window is the server's", () => {
  test("a contract that counts on a longer window than the stream has sends nothing, and says so in one sentence", async () => {
    const errand = errandOf(shortly({ for: "3s", after: "executes" }), { resource: "longer" });

    const learned = await connector().perform(errand);

    expect(learned).toEqual({
      kind: "absent",
      why: "the stream SHORT remembers message ids for 2000 ms and the contract counts on 3000 ms: nothing is sent",
    });
    expect(await keptOn("SHORT", "short.longer")).toEqual([]);
  });

  test("beyond the window the executor itself refuses to repeat: one effect, and a person", async () => {
    const { last, contract, messages } = await lostThenForgotten("refused", {
      for: "2s",
      after: "executes",
    });

    const [first] = last.attempts;
    const sending = { n: 2, leaseUntil: Number.MAX_SAFE_INTEGER, expiresAt: Number.MAX_SAFE_INTEGER };
    expect(messages).toHaveLength(1);
    expect(last).toMatchObject({ state: "unknown", attempts: [{ outcome: { kind: "lost" } }] });
    expect(last.attention).toContain("no safe repeat");
    expect(maySend(last, sending, contract, (first?.claimedAt ?? 0) + 2_000, 0)).toEqual({
      open: false,
      why: "window",
    });
  });

  test("broken variant: who takes the window for endless has the effect twice", async () => {
    const { last, messages } = await lostThenForgotten("doubled", { for: "2s", after: "refuses" });

    expect(last.state).toBe("succeeded");
    expect(messages).toHaveLength(2);
    expect(new Set(messages.map(({ headers }) => headers["Nats-Msg-Id"])).size).toBe(1);
  });
});

/** The real service: the answer of the first attempt is cut off, the server forgets the id, and a worker takes the next steps. */
async function lostThenForgotten(item: string, window: Readonly<Record<string, string>>) {
  const contract = shortly(window);
  const { port } = new URL(server.url);
  const answers = /MSG _INBOX/;
  const speech = { begins: /HPUB short\./, middle: /^HPUB/, answers, head: answers };
  const proxy = await cuttingProxy({ host: "127.0.0.1", port: Number(port) }, speech);
  closeAfter(() => proxy.close());
  const made = connector({ url: `nats://${proxy.host}:${proxy.port}` });
  const here = await rig({ tools: [toolOf(contract)], connectors: { broker: made } });
  proxy.cut("after effect");

  const first = await here.done({ item }, { tool: "jobs.add", key: item });
  expect(first.state).toBe("unknown");
  // The server itself says when it has forgotten: an id that is younger than ours is new to it again.
  await expect
    .poll(
      async () =>
        (await onlooker.manager.jetstream().publish("short.probe", "", { msgID: `probe-${item}` })).seq,
      { timeout: 15_000, interval: 200 },
    )
    .toSatisfy(secondTime());
  let last = first;
  for (let steps = 0; steps < 5; steps++) last = await here.step(last);
  return { last, contract, messages: await keptOn("SHORT", `short.${item}`) };
}

/** True for the second sequence that it sees. */
function secondTime(): (seq: number) => boolean {
  const seen = new Set<number>();
  return (seq) => seen.add(seq).size > 1;
}

function toolOf(contract: Tool["contract"]): Tool {
  return {
    name: "jobs.add",
    title: "Add a job",
    provider: "broker",
    input: { type: "object" },
    resource: { type: "Item", id: "{item}", parents: [] },
    expectedVersion: "none",
    contract,
    permissionForMs: 60_000,
    reviewForMs: 60_000,
    autonomy: "allowed",
    lookalikes: "off",
    intentKey: "optional",
    reversible: true,
  };
}

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
