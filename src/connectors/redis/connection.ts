import type * as Redis from "redis";
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

export const REDIS_SCHEMES: Schemes = { plain: "redis", tls: "rediss", port: { plain: 6379, tls: 6379 } };

/** The client library, loaded when it is first needed. */
export type RedisLibrary = typeof Redis;

type Client = ReturnType<typeof clientOf>;

/** One connection, for one message at a time, with what the server said about itself when it was made. */
export interface RedisSpeaker {
  readonly client: Client;
  readonly server: ServerFacts;
}

/** What decides whether a marker that was written is still there. */
export interface ServerFacts {
  readonly role: string;
  /** The eviction policy, where a limit on memory makes it act. */
  readonly evicts?: string;
}

/** A connection to the first place that lets us in. It never connects again, and keeps nothing to send later. */
export async function dial(library: RedisLibrary, settings: BrokerSettings): Promise<RedisSpeaker> {
  const whys: string[] = [];
  for (const place of placesOf(settings, REDIS_SCHEMES)) {
    try {
      for (const address of await addressesOf(place, settings)) {
        const client = clientOf(library, settings, place, address);
        // What ends a connection rejects what was asked on it; nobody else need hear of it.
        client.on("error", () => undefined);
        try {
          return await timely(greeted(client), settings, () => client.destroy());
        } catch (error) {
          client.destroy();
          whys.push(`${place.host}: ${wordsOf(error)}`);
        }
      }
    } catch (error) {
      whys.push(wordsOf(error));
    }
  }
  throw new Error(`no connection: ${whys.join("; ")}`);
}

async function greeted(client: Client): Promise<RedisSpeaker> {
  await client.connect();
  return { client, server: await factsOf(client) };
}

function clientOf(library: RedisLibrary, settings: BrokerSettings, place: Place, address: string) {
  const { auth } = settings;
  const login = auth !== undefined && "basic" in auth ? auth.basic : undefined;
  const socket = {
    host: address,
    port: place.port,
    connectTimeout: connectMsOf(settings),
    reconnectStrategy: false as const,
  };
  return library.createClient({
    RESP: 2,
    socket: place.tls ? { ...tlsOf(place, settings), ...socket, tls: true } : socket,
    // Nothing waits for a connection, nothing is sent again, and nobody moves us to another server.
    disableOfflineQueue: true,
    maintNotifications: "disabled",
    disableClientInfo: true,
    // A command's time is its message's.
    commandOptions: { timeout: 0 },
    database: databaseOf(place),
    ...(login === undefined ? {} : { username: login.user, password: login.password }),
  });
}

/** The database that the url's path names; 0 where it names none. */
export function databaseOf({ path }: Place): number {
  return path === "" ? 0 : Number(path);
}

/** Asked of the server itself: a replica answers questions about what it may not have yet. */
export async function factsOf(client: Pick<Client, "sendCommand">): Promise<ServerFacts> {
  const text = String(await client.sendCommand(["INFO"]));
  const fact = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(text)?.[1] ?? "";
  const policy = fact("maxmemory_policy");
  const limited = fact("maxmemory") !== "0";
  return {
    role: fact("role"),
    ...(limited && policy !== "noeviction" ? { evicts: policy || "unknown" } : {}),
  };
}
