import { parseContract } from "../../src/core/contract-parse.ts";
import { living } from "../connectors/errand.ts";
import { nginxDav } from "../servers/nginx-dav.ts";
import { addressOf } from "./ask.ts";
import { conform } from "./conform.ts";
import { httpSpeech } from "./cutting-proxy.ts";
import { DOCUMENT, documentConnector, documentEffects, prepareDocument, writeDocument } from "./document.ts";
import { DONE, DOUBT } from "./subject.ts";

// An honest contract for a server that ignores every precondition: it promises none.
const CONTRACT = parseContract({
  contract: "nginx.document/v1",
  ...DOCUMENT,
  ...living("5s"),
  outcomes: [{ when: { status: [200, 201, 204] }, is: "effect" }],
});

conform({
  name: "document with a marker, no precondition",
  server: nginxDav,
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
    "after headers": DONE,
    "before send, then another writes the same": DOUBT.withoutEffect,
    "after effect, then another writes the same": DOUBT.withEffect,
  },
});
