import { describe, expect, test } from "vitest";
import { loadConfiguration } from "../../src/config.ts";
import type { ContractConnector } from "../../src/connectors/contract-connector.ts";
import type { Exchange, Reply } from "../../src/connectors/exchange.ts";
import type { Contract } from "../../src/core/contract.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { TRANSPORTS } from "../../src/core/transport.ts";
import { folderOf } from "../config/folder.ts";
import { errandOf, living } from "./errand.ts";
import { type Office, telegraph } from "./telegraph.ts";

const SETTINGS = { office: "Paddington", password: "hunter2secret" };
const WRITTEN: JsonObject = {
  contract: "telegraph/v1",
  transport: "telegraph",
  ...living("250ms"),
  identity: { kind: "key", window: { for: "permanent" } },
  request: { to: "{{resource}}", text: "{{args.item}} {{op.id}} STOP" },
  outcomes: [
    { when: { status: 200, body: { "/taken": true } }, is: "effect", receipt: { number: "/number" } },
    { when: { phase: "before_stop" }, is: "not_sent" },
    { when: { status: 409 }, is: "final_no" },
  ],
};

function contract(changes: JsonObject = {}): Contract {
  const { transport } = telegraph(never);
  return parseContract({ ...WRITTEN, ...changes }, { ...TRANSPORTS, telegraph: transport });
}

const never: Office = async () => {
  throw new Error("nobody telegraphs");
};
const answering =
  (reply: Partial<Reply>): Office =>
  async (_telegram, { gate }) =>
    gate()
      ? { kind: "answered", reply: { status: 200, headers: {}, at: 0, ...reply } }
      : { kind: "unsent", why: "the gate was closed" };
const silent =
  (phase: string, cause = "the line is dead"): Office =>
  async () => ({ kind: "silent", phase, cause });
const connect = (office: Office, open?: () => Promise<void>): ContractConnector =>
  telegraph(office, open).connect(SETTINGS);

describe("a connector that somebody else defines", () => {
  test("sends the message once, as written from the action, and reads the answer by the contract", async () => {
    const sent: Json[] = [];
    const office: Office = (telegram, sending) => {
      sent.push(telegram);
      return answering({ body: { taken: true, number: 7 } })(telegram, sending);
    };

    const learned = await connect(office).perform(errandOf(contract()));

    expect(learned).toEqual({
      kind: "confirmed",
      evidence: { kind: "answer", data: { attempt: 1, status: 200, number: 7 } },
    });
    expect(sent).toEqual([
      { to: "main/bolt", text: `main/bolt ${errandOf(contract()).action.operationId} STOP` },
    ]);
  });

  test("asks the gate, and what the gate stopped is absent", async () => {
    const errand = errandOf(contract(), { gate: () => false });

    expect(await connect(answering({})).perform(errand)).toEqual({
      kind: "absent",
      why: "the gate was closed",
    });
  });

  test("shows no secret of its settings in what it learned", async () => {
    const learned = await connect(silent("after_stop", "login hunter2secret timed out")).perform(
      errandOf(contract()),
    );

    expect(learned).toMatchObject({ kind: "lost", cause: "login [secret] timed out" });
  });

  test("that throws has said nothing: the service takes it for lost", async () => {
    await expect(connect(never).perform(errandOf(contract()))).rejects.toThrow("nobody telegraphs");
  });
});

describe("a silence", () => {
  const learned = (phase: string, changes?: JsonObject) =>
    connect(silent(phase)).perform(errandOf(contract(changes)));

  test("in a phase that proves that nothing can happen is what the contract says of it", async () => {
    expect(await learned("before_stop")).toEqual({ kind: "absent", why: "the line is dead" });
    expect(
      await learned("before_stop", { outcomes: [{ when: { phase: "before_stop" }, is: "final_no" }] }),
    ).toMatchObject({ kind: "refused" });
  });

  test("is lost where the contract says nothing, in any other phase, and in none", async () => {
    const lost = { kind: "lost", cause: "the line is dead" };

    expect(
      await learned("before_stop", { outcomes: [{ when: { status: 200 }, is: "effect" }] }),
    ).toMatchObject(lost);
    expect(await learned("after_stop")).toEqual({ ...lost, seen: { phase: "after_stop" } });
    expect(await learned("elsewhere")).toMatchObject(lost);
  });

  test("is lost in a phase that proves nothing, whatever a contract that nobody linted says", async () => {
    const liar = { outcomes: [{ when: { phase: "after_stop" }, is: "not_sent" }] };

    expect(await learned("after_stop", liar)).toMatchObject({ kind: "lost" });
  });

  test("is never matched by a rule about answers, nor an answer by a rule about silence", async () => {
    const both = (is: string): JsonObject => ({
      outcomes: [
        { when: { phase: ["before_stop", "after_stop"] }, is },
        { when: { status: 200 }, is: "effect" },
      ],
    });

    expect(await connect(answering({})).perform(errandOf(contract(both("not_sent"))))).toMatchObject({
      kind: "confirmed",
    });
  });
});

describe("a line that is not open yet", () => {
  test("is opened with the first message, once for all", async () => {
    let opened = 0;
    const connector = connect(answering({ body: { taken: true, number: 1 } }), async () => {
      opened += 1;
    });
    expect(opened).toBe(0);

    await Promise.all([1, 2, 3].map((operation) => connector.perform(errandOf(contract(), { operation }))));

    expect(opened).toBe(1);
  });

  test("and cannot be opened sends nothing, says why, and is opened anew for the next message", async () => {
    let times = 0;
    const connector = connect(answering({ body: { taken: true, number: 1 } }), async () => {
      times += 1;
      if (times === 1) throw new Error("no office hunter2secret");
    });

    const first = await connector.perform(errandOf(contract()));
    const second = await connector.perform(errandOf(contract()));

    expect(first).toEqual({ kind: "absent", why: "no office [secret]" });
    expect(second).toMatchObject({ kind: "confirmed" });
  });

  test("and never opens ends with the message's life: absent, and unclear for a question", async () => {
    const connector = connect(answering({}), () => new Promise(() => undefined));
    const lookup = [
      {
        name: "ask",
        request: { to: "{{op.id}}", text: "?" },
        found: { status: 200 },
        absent: { status: 404 },
      },
    ];

    expect(await connector.perform(errandOf(contract()))).toMatchObject({ kind: "absent" });
    expect(await connector.lookUp(errandOf(contract({ lookup })), "ask")).toMatchObject({ kind: "unclear" });
  });

  test("or is closed sends nothing more", async () => {
    const connector = connect(answering({}));
    await connector.close();

    expect(await connector.perform(errandOf(contract()))).toEqual({
      kind: "absent",
      why: "the connector was closed",
    });
  });

  test("while a message waits for it has its signal: what is aborted then never leaves", async () => {
    const stop = new AbortController();
    const sent: Exchange[] = [];
    const connector = connect(
      async () => {
        const told: Exchange = { kind: "silent", cause: "sent" };
        sent.push(told);
        return told;
      },
      () => new Promise(() => undefined),
    );

    const learning = connector.perform(errandOf(contract(), { signal: stop.signal }));
    stop.abort();

    expect(await learning).toMatchObject({ kind: "absent" });
    expect(sent).toEqual([]);
  });
});

describe("a configuration", () => {
  const TOOL = `tool: telegram.send
title: Send a telegram
provider: office
input: { type: object, required: [item], properties: { item: { type: string } } }
resource: { type: Telegram, id: "{item}" }
expectedVersion: none
contract: CONTRACT
`;
  const load = (provider: string, terms: Json = WRITTEN) =>
    loadConfiguration(
      folderOf({
        "writ.yaml": `providers:\n  office: ${provider}\n`,
        "tools/telegram.yaml": TOOL.replace("CONTRACT", JSON.stringify(terms)),
      }),
      { PASSWORD: "hunter2secret" },
      [telegraph(never)],
    );

  test("that was given the kind reads its providers and its contracts", () => {
    const { providers, tools } = load("{ kind: telegraph, office: Paddington, password: env:PASSWORD }");

    expect(providers.office).toEqual({ kind: "telegraph", transport: "foreign", settings: SETTINGS });
    expect(tools[0]?.contract).toEqual(contract());
  });

  test.each([
    ["{ kind: telegraph, office: Paddington }", WRITTEN, 'writ.yaml:2:3: "password" is missing'],
    [
      "{ kind: telegraph, office: Paddington, password: env:PASSWORD }",
      { ...WRITTEN, request: { to: "x", text: "{{secret:a}} {{op.id}}" } },
      'the provider has no "a" under secrets',
    ],
    [
      "{ kind: telegraph, office: Paddington, password: env:PASSWORD }",
      { ...WRITTEN, request: { to: "{{secret:a}}", text: "{{op.id}}" } },
      "secret-in-the-open",
    ],
    [
      "{ kind: telegraph, office: Paddington, password: env:PASSWORD }",
      { ...WRITTEN, outcomes: [{ when: { phase: "after_stop" }, is: "not_sent" }] },
      "silence-read-as-answer",
    ],
    [
      "{ kind: http, base: 'https://shop.example' }",
      WRITTEN,
      "this contract is for transport telegraph, and the provider speaks http",
    ],
  ])("%s is checked like any other", (provider, terms, says) => {
    expect(() => load(provider, terms)).toThrow(says);
  });

  test("takes no kind under a name that is taken", () => {
    const folder = folderOf({});

    expect(() => loadConfiguration(folder, {}, [{ ...telegraph(never), kind: "http" }])).toThrow(
      "there is a kind of connector named http already",
    );
    expect(() => loadConfiguration(folder, {}, [telegraph(never), telegraph(never)])).toThrow(
      "named telegraph already",
    );
  });
});
