import { httpConnector } from "../../src/connectors/http.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import { living } from "../connectors/errand.ts";
import { radicale } from "../servers/radicale.ts";
import { addressOf, ask, over } from "./ask.ts";
import { calendarEntry } from "./calendar.ts";
import { conform } from "./conform.ts";
import { httpSpeech } from "./cutting-proxy.ts";
import { DONE } from "./subject.ts";

// The entry is named after the operation and can be made once: "there is one already" means ours.
const CONTRACT = parseContract({
  contract: "radicale.entry/v1",
  transport: "http",
  ...living("5s"),
  request: {
    method: "PUT",
    url: "{{base}}/{{op.id}}.ics",
    headers: { "If-None-Match": "*", "Content-Type": "text/calendar; charset=utf-8" },
    encode: "text",
    body: calendarEntry({ uid: "{{op.id}}", title: "{{args.title}}" }),
  },
  identity: { kind: "create_once", duplicateMeans: "effect" },
  lookup: [
    {
      name: "entry",
      strength: "authoritative",
      lag: "0s",
      request: { method: "GET", url: "{{base}}/{{op.id}}.ics" },
      found: { status: [200] },
      absent: { status: [404] },
      receipt: { version: "header:ETag" },
    },
  ],
  outcomes: [
    { when: { status: [201] }, is: "effect" },
    { when: { status: [412] }, is: "duplicate" },
    { when: { status: [400, 403, 409, 415] }, is: "final_no" },
  ],
});

conform({
  name: "entry that is created once",
  server: radicale,
  tool: { contract: CONTRACT, expectedVersion: "none" },
  address: addressOf,
  connect: ({ url }, at) => httpConnector({ base: over(url, at), allowPrivate: ["127.0.0.1"] }),
  speech: httpSpeech("PUT /"),
  prepare: async (_running, item) => ({ arguments: { title: item } }),
  effects: async ({ url }, { item }) => {
    // All that the calendar holds, in one text.
    const { text } = await ask(url);
    return text.split(`SUMMARY:${item}\r\n`).length - 1;
  },
  ends: {
    direct: DONE,
    "before send": DONE,
    "mid body": DONE,
    "after effect": DONE,
    "after headers": DONE,
  },
});
