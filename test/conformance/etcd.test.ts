import { httpConnector } from "../../src/connectors/http.ts";
import { living, preset } from "../connectors/errand.ts";
import { etcd } from "../servers/etcd.ts";
import { addressOf, askJson, over } from "./ask.ts";
import { conform } from "./conform.ts";
import { httpSpeech } from "./cutting-proxy.ts";
import { DONE, REFUSED } from "./subject.ts";

const CONTRACT = preset("http/etcd", living("5s"));

conform({
  name: "transaction with a marker",
  server: etcd,
  tool: { contract: CONTRACT, expectedVersion: "required" },
  address: addressOf,
  connect: ({ url }, at) => httpConnector({ base: over(url, at), allowPrivate: ["127.0.0.1"] }),
  speech: httpSpeech("POST /v3/kv/txn "),
  prepare: async (running, item) => {
    await put(running, item, "before");
    return { arguments: { value: "after" }, version: (await key(running, item))?.mod_revision ?? "" };
  },
  // The marker is written in the transaction of the effect, once for ever: its own version counts how often.
  effects: async (running, { operationId }) =>
    Number((await key(running, `writ/op/acme/${operationId}`))?.version ?? 0),
  rival: (running, item) => put(running, item, "after"),
  ends: {
    direct: DONE,
    "before send": DONE,
    "mid body": DONE,
    "after effect": DONE,
    "after headers": DONE,
    "before send, then another writes the same": REFUSED,
    "after effect, then another writes the same": DONE,
  },
});

interface Running {
  readonly url: string;
}

function b64(text: string): string {
  return Buffer.from(text).toString("base64");
}

async function put({ url }: Running, name: string, value: string): Promise<void> {
  await askJson(`${url}/v3/kv/put`, "POST", { body: { key: b64(name), value: b64(value) } });
}

async function key(
  { url }: Running,
  name: string,
): Promise<{ readonly mod_revision: string; readonly version: string } | undefined> {
  const answer = await askJson(`${url}/v3/kv/range`, "POST", { body: { key: b64(name) } });
  // The gateway's own form of an answer.
  const { kvs = [] } = answer as { kvs?: readonly { mod_revision: string; version: string }[] };
  return kvs[0];
}
