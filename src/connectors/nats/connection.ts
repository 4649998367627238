import { connect as connectTcp } from "node:net";
import type * as Nats from "@nats-io/transport-node";
import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";
import { wordsOf } from "../deadline.ts";
import {
  addressesOf,
  type BrokerSettings,
  connectMsOf,
  type Place,
  placesOf,
  type Schemes,
  timely,
  tlsOf,
} from "../reach.ts";

export const NATS_SCHEMES: Schemes = { plain: "nats", tls: "tls", port: { plain: 4222, tls: 4222 } };

/** The client library, loaded when it is first needed. */
export type NatsLibrary = typeof Nats;

/**
 * A connection to the first place that lets us in. It never connects again, and what was not written when it ends is never written: the
 * client drops it.
 */
export async function dial(library: NatsLibrary, settings: BrokerSettings): Promise<NatsConnection> {
  const whys: string[] = [];
  for (const place of placesOf(settings, NATS_SCHEMES)) {
    try {
      for (const address of await addressesOf(place, settings)) {
        try {
          await greeting(address, place.port, settings);
          return await library.connect(optionsOf(library, settings, place, address));
        } catch (error) {
          whys.push(`${place.host}: ${wordsOf(error)}`);
        }
      }
    } catch (error) {
      whys.push(wordsOf(error));
    }
  }
  throw new Error(`no connection: ${whys.join("; ")}`);
}

/**
 * Hears the server's first word on a connection of its own, and ends that. The client gives up in time on a server that says nothing, but
 * leaves its socket open: so it is not let near one.
 */
async function greeting(host: string, port: number, settings: BrokerSettings): Promise<void> {
  const socket = connectTcp({ host, port });
  const spoken = new Promise<void>((resolve, reject) => {
    socket.once("data", () => resolve());
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the server said nothing")));
  });
  try {
    await timely(spoken, settings, () => void socket.destroy());
  } finally {
    socket.destroy();
  }
}

function optionsOf(
  { credsAuthenticator }: NatsLibrary,
  settings: BrokerSettings,
  place: Place,
  address: string,
): ConnectionOptions {
  const { auth } = settings;
  const host = address.includes(":") ? `[${address}]` : address;
  return {
    servers: [`${host}:${place.port}`],
    name: "writ",
    // Nothing is repeated behind our back, no other server than the settings' is spoken to, no name is resolved again.
    reconnect: false,
    ignoreClusterUpdates: true,
    waitOnFirstConnect: false,
    resolve: false,
    noAsyncTraces: true,
    timeout: connectMsOf(settings),
    // `null` refuses a server that wants TLS under a plain address. The client hands all of the rest on to Node's tls.
    tls: place.tls
      ? ({ ...tlsOf(place, settings), host: address } as NonNullable<ConnectionOptions["tls"]>)
      : null,
    ...(auth === undefined ? {} : authOf(credsAuthenticator, auth)),
  };
}

function authOf(
  credsAuthenticator: NatsLibrary["credsAuthenticator"],
  auth: NonNullable<BrokerSettings["auth"]>,
): Partial<ConnectionOptions> {
  if ("basic" in auth) return { user: auth.basic.user, pass: auth.basic.password };
  // A credentials file holds a JWT and the seed that signs the server's challenge; anything else is a token.
  return auth.bearer.includes("-----BEGIN NATS USER JWT-----")
    ? { authenticator: credsAuthenticator(Buffer.from(auth.bearer, "utf8")) }
    : { token: auth.bearer };
}
