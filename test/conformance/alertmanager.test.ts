import { expect, onTestFinished } from "vitest";
import { httpConnector } from "../../src/connectors/http.ts";
import { living, preset } from "../connectors/errand.ts";
import { alertmanager } from "../servers/alertmanager.ts";
import type { Stoppable } from "../servers/server.ts";
import { needs } from "../support/needs.ts";
import { addressOf, askJson, over } from "./ask.ts";
import { conform, tryCase } from "./conform.ts";
import { httpSpeech } from "./cutting-proxy.ts";
import { DONE, DOUBT, type Subject } from "./subject.ts";

const SUBJECT: Subject<Stoppable & { readonly url: string }> = {
  name: "silence with a marker",
  server: alertmanager,
  tool: { contract: preset("http/alertmanager", living("5s")), expectedVersion: "none" },
  address: addressOf,
  connect: ({ url }, at) => httpConnector({ base: over(url, at), allowPrivate: ["127.0.0.1"] }),
  speech: httpSpeech("POST /api/v2/silences "),
  prepare: async (_running, item) => ({
    arguments: {
      matchers: [{ name: "alertname", value: item, isRegex: false }],
      from: hours(0),
      until: hours(2),
    },
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
    const lie = { lookup: [], identity: { kind: "key", window: { for: "24h" } } };
    const running = await alertmanager.start();
    onTestFinished(() => running.stop());

    const { row } = await tryCase(
      {
        ...SUBJECT,
        tool: { contract: preset("http/alertmanager", { ...living("5s"), ...lie }), expectedVersion: "none" },
      },
      running,
      "after effect",
    );

    expect(row.seen).toMatchObject({ state: "succeeded", effects: 2, attempts: 2 });
  },
);

function hours(ahead: number): string {
  return new Date(Date.now() + ahead * 3_600_000).toISOString();
}
