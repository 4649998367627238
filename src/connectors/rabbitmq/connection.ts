import type { Socket } from "node:net";
import type * as Amqp from "amqplib";
import type { ChannelModel, ConfirmChannel } from "amqplib";
import { type Deadline, LATE, wordsOf } from "../deadline.ts";
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

export const RABBITMQ_SCHEMES: Schemes = { plain: "amqp", tls: "amqps", port: { plain: 5672, tls: 5671 } };

/** The client library, loaded when it is first needed. */
export type RabbitLibrary = typeof Amqp;

/** One connection with one channel that confirms, for one message. */
export interface RabbitSpeaker {
  readonly channel: ConfirmChannel;
  /** Ends the connection now: what the client has not written yet is never written. */
  readonly cut: () => void;
}

/** Goes through the handshake with the first place that lets us in. It never connects again. */
export async function dial(
  library: RabbitLibrary,
  settings: BrokerSettings,
  deadline: Deadline,
): Promise<RabbitSpeaker> {
  const whys: string[] = [];
  for (const place of placesOf(settings, RABBITMQ_SCHEMES)) {
    try {
      for (const address of await addressesOf(place, settings)) {
        const opening = open(library, settings, place, address);
        try {
          const speaker = await deadline.race(opening);
          if (speaker !== LATE) return speaker;
          void opening.then(({ cut }) => cut()).catch(() => undefined);
          throw new Error("there was no connection in time");
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

// The broker splits what is longer than 128 KiB; what claims to be larger than this is not a broker.
const FRAME_MAX_BYTES = 1024 * 1024;

async function open(
  { connect }: RabbitLibrary,
  settings: BrokerSettings,
  place: Place,
  address: string,
): Promise<RabbitSpeaker> {
  const { auth } = settings;
  const login = auth !== undefined && "basic" in auth ? auth.basic : undefined;
  const model = await connect(
    {
      protocol: place.tls ? "amqps" : "amqp",
      hostname: address,
      port: place.port,
      // Absent, the client would take "guest".
      username: login?.user ?? "",
      password: login?.password ?? "",
      vhost: encodeURIComponent(vhostOf(place)),
      // The connection lives for one message, whose own time is shorter than any heartbeat.
      heartbeat: 0,
      maxFrameSize: FRAME_MAX_BYTES,
    },
    { ...(place.tls ? tlsOf(place, settings) : {}), noDelay: true, timeout: connectMsOf(settings) },
  );
  const { stream } = model.connection as ChannelModel["connection"] & { readonly stream: Socket }; // The client's own name for its socket.
  const cut = (): void => void stream.destroy();
  model.on("error", () => undefined);
  try {
    const channel = await timely(model.createConfirmChannel(), settings, cut);
    channel.on("error", () => undefined);
    return { channel, cut };
  } catch (error) {
    cut();
    throw error;
  }
}

/** The virtual host that the url's path names; "/" where it names none. */
function vhostOf({ path }: Place): string {
  return path === "" ? "/" : path;
}
