import { Client, Pool } from "undici";
import type { HttpMessage } from "../core/http-message.ts";
import type { Message } from "../core/message.ts";
import { TRANSPORTS } from "../core/transport.ts";
import type { ContractConnector } from "./contract-connector.ts";
import { defineConnector } from "./define.ts";
import { egressGuard, guardedConnector } from "./http/egress.ts";
import { exchange } from "./http/exchange.ts";
import {
  baseOf,
  credentialHeader,
  type HttpSettings,
  secretsOf,
  settingsDigestValue,
} from "./http/settings.ts";
import { signer } from "./http/sign.ts";
import type { Line } from "./line.ts";
import { type RenderedRequest, renderRequest } from "./template.ts";
import { type Subject, unwritable } from "./variable.ts";

export { type HttpSettings, settingsDigestValue } from "./http/settings.ts";

const CONNECT_MS = 10_000;
const CONNECTIONS_MAX = 8;
const SIGNED = ["content-digest", "signature", "signature-input"];

/** Providers that are spoken to over HTTP/1.1. */
export const HTTP = defineConnector<HttpSettings, RenderedRequest>({
  kind: "http",
  transport: TRANSPORTS.http,
  settings: {
    pinned: (settings) => {
      egressGuard(settings);
      return settingsDigestValue(settings);
    },
    secrets: secretsOf,
    base: baseOf,
  },
  write,
  open: lineOf,
});

/** The connector of one HTTP provider. Throws `invalid` for settings that name no safe place or credential. */
export function httpConnector(settings: HttpSettings): ContractConnector {
  return HTTP.connect(settings);
}

function authOf({ auth }: HttpSettings): readonly (readonly [string, string])[] {
  return auth === undefined ? [] : [credentialHeader(auth)];
}

function write(message: Message, subject: Subject, settings: HttpSettings): RenderedRequest {
  const request = renderRequest(message as unknown as HttpMessage, subject); // The transport's form has parsed it.
  const auth = authOf(settings);
  const ours = [...auth.map(([name]) => name), ...(settings.sign === undefined ? [] : SIGNED)];
  const twice = request.headers.find(([name]) => ours.includes(name));
  return twice === undefined
    ? request
    : unwritable(`the contract and the provider's settings both write ${twice[0]}`);
}

async function lineOf(settings: HttpSettings): Promise<Line<RenderedRequest>> {
  const { origin } = new URL(baseOf(settings));
  const connect = guardedConnector(settings, settings.connectMs ?? CONNECT_MS, settings.ca);
  // One request at a time on a connection: a second behind it would share its fate.
  const common = { connect, pipelining: 1, allowH2: false };
  const kept = new Pool(origin, { ...common, connections: settings.connectionsMax ?? CONNECTIONS_MAX });
  const auth = authOf(settings);
  const sign = settings.sign === undefined ? undefined : await signer(settings.sign);
  return {
    send: async (request, { fresh, ...sending }) => {
      const headers = sign === undefined ? auth : [...auth, ...(await sign(request))];
      const dispatcher = fresh ? new Client(origin, common) : kept;
      const got = await exchange(dispatcher, { ...sending, request, headers, close: fresh });
      if (fresh) await dispatcher.destroy();
      return got;
    },
    close: () => kept.destroy(),
  };
}
