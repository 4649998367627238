import { TRANSPORTS } from "../core/transport.ts";
import type { ContractConnector } from "./contract-connector.ts";
import { type Deadline, deadline, LATE, UNSENT_LATE, wordsOf } from "./deadline.ts";
import { defineConnector } from "./define.ts";
import type { Exchange, Sending } from "./exchange.ts";
import type { Line } from "./line.ts";
import { dial, NATS_SCHEMES } from "./nats/connection.ts";
import { type NatsMessage, writeNatsMessage } from "./nats/message.ts";
import { find } from "./nats/search.ts";
import { last, type NatsSpeaker, publish } from "./nats/send.ts";
import { type BrokerSettings, pinnedBroker, secretsOf } from "./reach.ts";

/** JetStream servers: streams that remember message ids, and key-value buckets, which are streams too. */
export const NATS = defineConnector<BrokerSettings, NatsMessage>({
  kind: "nats",
  transport: TRANSPORTS.nats,
  settings: {
    pinned: (settings) => pinnedBroker("nats", settings, NATS_SCHEMES),
    secrets: secretsOf,
  },
  write: writeNatsMessage,
  open: lineOf,
});

/** The connector of one NATS server or cluster. Throws `invalid` for settings that name no safe place or credential. */
export function natsConnector(settings: BrokerSettings): ContractConnector {
  return NATS.connect(settings);
}

interface Held {
  readonly speaker: Promise<NatsSpeaker>;
  over: boolean;
}

async function lineOf(settings: BrokerSettings): Promise<Line<NatsMessage>> {
  const library = await import("@nats-io/transport-node");
  const { jetstreamManager } = await import("@nats-io/jetstream");
  let held: Held | undefined;
  const speaker = async (): Promise<NatsSpeaker> => {
    const connection = await dial(library, settings);
    return { library, connection, manager: await jetstreamManager(connection, { checkAPI: false }) };
  };
  /** The connection that is kept: a new one when it has ended, or could not be made. */
  const kept = (): Promise<NatsSpeaker> => {
    if (held !== undefined && !held.over) return held.speaker;
    const next: Held = { speaker: speaker(), over: false };
    held = next;
    const end = (): void => {
      next.over = true;
    };
    next.speaker.then(({ connection }) => connection.closed().then(end)).catch(end);
    return next.speaker;
  };
  return {
    send: async (message, sending) => {
      const limit = deadline(sending);
      const own = sending.fresh ? speaker() : undefined;
      try {
        const at = await limit.race(own ?? kept());
        if (at === LATE) return UNSENT_LATE;
        return await asked(at, message, { ...sending, limit });
      } catch (error) {
        // A publication answers for itself: what is thrown here came before it, or from a question.
        return { kind: "unsent", why: wordsOf(error) };
      } finally {
        limit.end();
        void own?.then(({ connection }) => connection.close()).catch(() => undefined);
      }
    },
    // One that is still being made is not waited for: it ends when it is there.
    close: async () => void held?.speaker.then(({ connection }) => connection.close()).catch(() => undefined),
  };
}

async function asked(
  speaker: NatsSpeaker,
  message: NatsMessage,
  { limit, ...terms }: Sending & { readonly limit: Deadline },
): Promise<Exchange> {
  if (message.kind === "publish") return publish(speaker, message, { ...terms, deadline: limit });
  const answer = await limit.race(
    message.kind === "last" ? last(speaker, message, terms.answerMaxBytes) : find(speaker, message, limit),
  );
  return answer === LATE ? { kind: "silent", cause: "no whole answer came in time" } : answer;
}
