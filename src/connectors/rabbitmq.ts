import { TRANSPORTS } from "../core/transport.ts";
import type { ContractConnector } from "./contract-connector.ts";
import { deadline, wordsOf } from "./deadline.ts";
import { defineConnector } from "./define.ts";
import type { Line } from "./line.ts";
import { dial, RABBITMQ_SCHEMES } from "./rabbitmq/connection.ts";
import { type RabbitMessage, writeRabbitMessage } from "./rabbitmq/message.ts";
import { publish } from "./rabbitmq/send.ts";
import { type BrokerSettings, pinnedBroker, secretsOf, wrong } from "./reach.ts";

/** RabbitMQ over AMQP 0-9-1: persistent, mandatory, confirmed; no repeat is recognized and no question answered. */
export const RABBITMQ = defineConnector<BrokerSettings, RabbitMessage>({
  kind: "rabbitmq",
  transport: TRANSPORTS.rabbitmq,
  settings: {
    pinned: (settings) => {
      if (settings.auth === undefined || !("basic" in settings.auth))
        throw wrong("auth", "is basic here: the user and the password");
      return pinnedBroker("rabbitmq", settings, RABBITMQ_SCHEMES);
    },
    secrets: secretsOf,
  },
  write: writeRabbitMessage,
  open: lineOf,
});

/** The connector of one RabbitMQ. Throws `invalid` for settings that name no safe place or credential. */
export function rabbitmqConnector(settings: BrokerSettings): ContractConnector {
  return RABBITMQ.connect(settings);
}

async function lineOf(settings: BrokerSettings): Promise<Line<RabbitMessage>> {
  const library = await import("amqplib");
  return {
    // Always on a connection of its own: nothing else is lost with it, and a closed gate takes back what the client has not written.
    send: async (message, sending) => {
      const limit = deadline(sending);
      try {
        const speaker = await dial(library, settings, limit);
        try {
          return await publish(speaker, message, { gate: sending.gate, deadline: limit });
        } finally {
          speaker.cut();
        }
      } catch (error) {
        return { kind: "unsent", why: wordsOf(error) };
      } finally {
        limit.end();
      }
    },
    close: async () => undefined,
  };
}
