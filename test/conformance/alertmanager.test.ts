import { expect, onTestFinished } from "vitest";
import { httpConnector } from "../../src/connectors/http.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { living } from "../connectors/errand.ts";
import { alertmanager } from "../servers/alertmanager.ts";
import type { Stoppable } from "../servers/server.ts";
import { needs } from "../support/needs.ts";
import { addressOf, askJson, over } from "./ask.ts";
import { conform, tryCase } from "./conform.ts";
import { httpSpeech } from "./cutting-proxy.ts";
import { DONE, DOUBT, type Subject } from "./subject.ts";

// Two equal requests are two silences: nothing may be repeated. The comment carries our marker, so that finding one proves the effect.
const SILENCE: JsonObject = {
  contract: "alertmanager.silence/v1",
  transport: "http",
  ...living("5s"),
  request: {
    method: "POST",
    url: "{{base}}/api/v2/silences",
    body: {
      matchers: [{ name: "alertname", value: "{{args.alert}}", isRegex: false }],
      startsAt: "{{args.from}}",
      endsAt: "{{args.until}}",
      createdBy: "writ",
      comment: "{{op.id}} {{op.digest}}",
    },
  },
  lookup: [
    {
      name: "comment",
      strength: "positive",
      lag: "0s",
      request: {
        method: "GET",
        url: "{{base}}/api/v2/silences",
        query: { filter: 'alertname="{{args.alert}}"' },
      },
      found: { status: [200], body: { "/0/comment": "{{op.id}} {{op.digest}}" } },
      absent: { status: [200] },
      receipt: { silence: "/0/id" },
    },
  ],
  outcomes: [
    {
      when: { status: [200], body: { "/silenceID": { present: true } } },
      is: "effect",
      receipt: { silence: "/silenceID" },
    },
    { when: { status: [400, 404] }, is: "final_no" },
  ],
};

const SUBJECT: Subject<Stoppable & { readonly url: string }> = {
  name: "silence with a marker",
  server: alertmanager,
  tool: { contract: parseContract(SILENCE), expectedVersion: "none" },
  address: addressOf,
  connect: ({ url }, at) => httpConnector({ base: over(url, at), allowPrivate: ["127.0.0.1"] }),
  speech: httpSpeech("POST /api/v2/silences "),
  prepare: async (_running, item) => ({
    arguments: { alert: item, from: hours(0), until: hours(2) },
  }),
  effects: async ({ url }, { operationId }) => {
    const silences = await askJson(`${url}/api/v2/silences`);
    // Alertmanager's own form of an answer.
    return (silences as readonly { comment: string }[]).filter(({ comment }) => comment.includes(operationId))
      .length;
  },
  ends: {
    direct: DONE,
    "before send": DOUBT.withoutEffect,
    "mid body": DOUBT.withoutEffect,
    "after effect": DONE,
    "after headers": DONE,
  },
};

conform(SUBJECT);

needs(alertmanager)(
  "a contract that lies is caught: with a key that nobody keeps, one lost answer makes two silences",
  async () => {
    const { lookup: _, ...blind } = SILENCE;
    const lie: JsonObject = { identity: { kind: "key", window: { for: "24h" } } };
    const running = await alertmanager.start();
    onTestFinished(() => running.stop());

    const { row } = await tryCase(
      { ...SUBJECT, tool: { contract: parseContract({ ...blind, ...lie }), expectedVersion: "none" } },
      running,
      "after effect",
    );

    expect(row.seen).toMatchObject({ state: "succeeded", effects: 2, attempts: 2 });
  },
);

function hours(ahead: number): string {
  return new Date(Date.now() + ahead * 3_600_000).toISOString();
}
