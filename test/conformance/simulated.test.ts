import { httpConnector } from "../../src/connectors/http.ts";
import type { Guarantees } from "../../src/connectors/simulated/guarantees.ts";
import { type Simulated, startSimulated } from "../../src/connectors/simulated/provider.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { living, preset } from "../connectors/errand.ts";
import type { RealServer, Stoppable } from "../servers/server.ts";
import { addressOf, over } from "./ask.ts";
import { conform } from "./conform.ts";
import { httpSpeech } from "./cutting-proxy.ts";
import { DONE, DOUBT, REFUSED, type Subject } from "./subject.ts";

type Shop = Simulated & Stoppable;

/** Ours, and over a real socket: for guarantees that no server of the suite has. */
function simulated(guarantees: Guarantees): RealServer<Shop> {
  return {
    name: "simulated",
    installed: () => undefined,
    start: async () => {
      const provider = await startSimulated({ guarantees });
      return { ...provider, stop: () => provider.close() };
    },
  };
}

const ORDERS: Omit<Subject<Shop>, "name" | "server" | "tool" | "ends"> = {
  address: addressOf,
  connect: ({ url }, at) => httpConnector({ base: over(url, at), allowPrivate: ["127.0.0.1"] }),
  speech: httpSpeech("POST /orders "),
  prepare: async (running, item) => {
    running.setItem(item, 20);
    return { arguments: { quantity: 2 } };
  },
  effects: async (running, { operationId }) => running.effectsOf(operationId).length,
};

conform({
  ...ORDERS,
  name: "http/idempotency-key",
  server: simulated({ key: { retentionMs: 86_400_000, after: "executes", mismatch: "refuses" } }),
  tool: { contract: preset("http/idempotency-key", living("5s")), expectedVersion: "none" },
  ends: {
    direct: DONE,
    "before send": DONE,
    "mid body": DONE,
    "after effect": DONE,
    "after headers": DONE,
  },
});

conform({
  ...ORDERS,
  name: "http/marker-lookup",
  server: simulated({ lookup: { lagMs: 0 }, tombstone: true }),
  tool: { contract: preset("http/marker-lookup", living("5s")), expectedVersion: "none" },
  ends: {
    direct: DONE,
    // Nothing there, and the barrier keeps a late request out: proved, not guessed.
    "before send": REFUSED,
    "mid body": REFUSED,
    "after effect": DONE,
    "after headers": DONE,
  },
});

conform({
  ...ORDERS,
  name: "http/no-guarantees",
  server: simulated({}),
  tool: { contract: preset("http/no-guarantees", living("5s")), expectedVersion: "none" },
  ends: {
    direct: DONE,
    "before send": DOUBT.withoutEffect,
    "mid body": DOUBT.withoutEffect,
    "after effect": DOUBT.withEffect,
    "after headers": DOUBT.withEffect,
  },
});

const DOCUMENTS: Omit<Subject<Shop>, "name" | "tool" | "ends"> = {
  ...ORDERS,
  server: simulated({ etag: "strong", marker: true }),
  speech: httpSpeech("PUT /items/"),
  prepare: async (running, item) => {
    running.setItem(`main/${item}`, 20);
    return { arguments: { available: 18 }, version: '"v1"' };
  },
  rival: async (running, item) => void running.writeAsSomebodyElse(`main/${item}`, 18),
};

function documentTool(changes: JsonObject = {}): Subject<Shop>["tool"] {
  return {
    contract: preset("http/etag-document", { ...living("5s"), ...changes }),
    expectedVersion: "required",
    resource: { type: "Item", id: "main/{item}", parents: [] },
  };
}

conform({
  ...DOCUMENTS,
  name: "http/etag-document",
  tool: documentTool(),
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

conform({
  ...DOCUMENTS,
  name: "http/etag-document, measured",
  tool: documentTool({
    precondition: { kind: "etag", atomic: "probed", versions: "never_return", replay: "precondition_first" },
    identity: { kind: "same_version" },
  }),
  ends: {
    direct: DONE,
    // What replaces one version can replace it once: a repeat is safe.
    "before send": DONE,
    "mid body": DONE,
    "after effect": DONE,
    "after headers": DONE,
    "before send, then another writes the same": DOUBT.withoutEffect,
    "after effect, then another writes the same": DOUBT.withEffect,
  },
});
