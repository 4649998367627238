import { afterAll, beforeAll, describe, expect } from "vitest";
import { natsConnector } from "../../src/connectors/nats.ts";
import type { Contract } from "../../src/core/contract.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import { maySend } from "../../src/core/sending.ts";
import { cuttingProxy } from "../conformance/cutting-proxy.ts";
import { nats } from "../servers/nats.ts";
import { needs } from "../support/needs.ts";
import { type NatsOnlooker, natsOnlooker } from "../support/onlooker-nats.ts";
import { rig } from "../support/rig.ts";
import { errandOf, toolWith } from "./errand.ts";
import { closeAfter } from "./rig.ts";

const test = needs(nats);

let server: Awaited<ReturnType<typeof nats.start>>;
let onlooker: NatsOnlooker;

beforeAll(async () => {
  if (nats.installed() !== undefined) return;
  server = await nats.start();
  onlooker = await natsOnlooker(server);
  await onlooker.stream({ name: "SHORT", subjects: ["short.>"], duplicate_window: 2_000_000_000 });
});
afterAll(async () => {
  await onlooker?.close();
  await server?.stop();
});

function connector(url = server.url) {
  const { user, password } = server;
  const made = natsConnector({ url, auth: { basic: { user, password } }, allowPrivate: ["127.0.0.1"] });
  closeAfter(() => made.close());
  return made;
}

async function keptOn(subject: string) {
  return (await onlooker.kept("SHORT")).filter((message) => message.subject === subject);
}

/** A contract without a lookup, over the stream that forgets message ids after two seconds. */
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

describe("C071 the window is the server's", () => {
  test("a contract that counts on a longer window than the stream has sends nothing, and says so in one sentence", async () => {
    const errand = errandOf(shortly({ for: "3s", after: "executes" }), { resource: "longer" });

    const learned = await connector().perform(errand);

    expect(learned).toEqual({
      kind: "absent",
      why: "the stream SHORT remembers message ids for 2000 ms and the contract counts on 3000 ms: nothing is sent",
    });
    expect(await keptOn("short.longer")).toEqual([]);
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
  const made = connector(`nats://${proxy.host}:${proxy.port}`);
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
  return { last, contract, messages: await keptOn(`short.${item}`) };
}

/** True for the second sequence that it sees. */
function secondTime(): (seq: number) => boolean {
  const seen = new Set<number>();
  return (seq) => seen.add(seq).size > 1;
}

function toolOf(contract: Contract) {
  return toolWith(contract, { name: "jobs.add", title: "Add a job", provider: "broker" });
}
