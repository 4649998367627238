import { parseContract } from "../../src/core/contract-parse.ts";
import { living } from "../connectors/errand.ts";
import { apacheDav } from "../servers/apache-dav.ts";
import { addressOf } from "./ask.ts";
import { conform } from "./conform.ts";
import { httpSpeech } from "./cutting-proxy.ts";
import { DOCUMENT, documentConnector, documentEffects, prepareDocument, writeDocument } from "./document.ts";
import { DONE, DOUBT } from "./subject.ts";

// It honours If-Match, but two writers with one version may both win: `writ probe` finds that out. So a repeat is never safe, and only
// what the marker shows is believed.
const CONTRACT = parseContract({
  contract: "webdav.document/v1",
  ...DOCUMENT,
  ...living("5s"),
  precondition: { kind: "etag", atomic: "claimed", versions: "may_return", replay: "precondition_first" },
  outcomes: [
    { when: { status: [200, 201, 204] }, is: "effect" },
    { when: { status: [412] }, is: "precondition_failed" },
    { when: { status: [423] }, is: "transient_no" },
    { when: { status: [400, 401, 403, 405, 413, 415, 422, 428] }, is: "final_no" },
  ],
});

conform({
  name: "document with a marker",
  server: apacheDav,
  tool: { contract: CONTRACT, expectedVersion: "required" },
  address: addressOf,
  connect: documentConnector,
  speech: httpSpeech("PUT /"),
  prepare: prepareDocument,
  effects: documentEffects,
  rival: (running, item) => writeDocument(running, item, { available: 18 }),
  ends: {
    direct: DONE,
    "before send": DOUBT.withoutEffect,
    "mid body": DOUBT.withoutEffect,
    "after effect": DONE,
    // 204 has no body: with its headers the answer is whole.
    "after headers": DONE,
    "before send, then another writes the same": DOUBT.withoutEffect,
    "after effect, then another writes the same": DOUBT.withEffect,
  },
});
