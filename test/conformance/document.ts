import { httpConnector } from "../../src/connectors/http.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Connector } from "../../src/service/ports.ts";
import type { DavServer } from "../servers/apache-dav.ts";
import { ask, over } from "./ask.ts";
import type { Address } from "./cutting-proxy.ts";
import type { Watched } from "./subject.ts";

/** A contract's members for one JSON document that carries the marker of its last writer, on a server that knows files only. */
export const DOCUMENT: JsonObject = {
  transport: "http",
  read: { request: { method: "GET", url: "{{base}}/{{resource}}" }, version: { header: "ETag" } },
  request: {
    method: "PUT",
    url: "{{base}}/{{resource}}",
    headers: { "If-Match": "{{expected.version}}" },
    body: { $merge: ["{{args.document}}", { writ: { operation: "{{op.id}}", digest: "{{op.digest}}" } }] },
  },
  lookup: [
    {
      name: "marker",
      strength: "positive",
      request: { method: "GET", url: "{{base}}/{{resource}}" },
      found: { status: [200], body: { "/writ/operation": "{{op.id}}" } },
      absent: { status: [200, 404] },
      digestAt: "/writ/digest",
      receipt: { version: "header:ETag" },
    },
  ],
};

export function documentConnector({ url }: DavServer, at: Address): Connector {
  return httpConnector({ base: over(url, at), allowPrivate: ["127.0.0.1"] });
}

const TRIES_MAX = 100;

/** A new document, and the strong version that its server shows: some show a weak one for a second after a change. */
export async function prepareDocument(
  server: DavServer,
  item: string,
): Promise<{ readonly arguments: JsonObject; readonly version: string }> {
  await writeDocument(server, item, { available: 20 });
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const version = (await ask(`${server.url}/${item}`)).headers.get("etag") ?? "";
    if (version !== "" && !version.startsWith("W/"))
      return { arguments: { document: { available: 18 } }, version };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the server shows no strong version");
}

export async function writeDocument({ url }: DavServer, item: string, document: JsonObject): Promise<void> {
  const { status } = await ask(`${url}/${item}`, "PUT", { body: document });
  if (status >= 300) throw new Error(`the server answered ${status} to a plain PUT`);
}

/** The writes that the server's own log shows, without those of the onlooker. */
export async function documentEffects(server: DavServer, { item }: Watched): Promise<number> {
  return server
    .requests()
    .filter(
      ({ method, path, status, agent }) =>
        method === "PUT" && path === `/${item}` && status < 300 && agent !== "onlooker",
    ).length;
}
