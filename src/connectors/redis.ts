import { TRANSPORTS } from "../core/transport.ts";
import type { ContractConnector } from "./contract-connector.ts";
import { deadline, LATE, UNSENT_LATE, wordsOf } from "./deadline.ts";
import { defineConnector } from "./define.ts";
import type { Line } from "./line.ts";
import { type BrokerSettings, pinnedBroker, placesOf, secretsOf, wrong } from "./reach.ts";
import { databaseOf, dial, REDIS_SCHEMES, type RedisSpeaker } from "./redis/connection.ts";
import { type RedisMessage, writeRedisMessage } from "./redis/message.ts";
import { ask, run } from "./redis/send.ts";

/** Redis: the marker of an operation and its effect in one script. */
export const REDIS = defineConnector<BrokerSettings, RedisMessage>({
  kind: "redis",
  transport: TRANSPORTS.redis,
  settings: {
    pinned: (settings) => {
      if (settings.auth !== undefined && !("basic" in settings.auth))
        throw wrong(
          "auth",
          "is basic here: the user (default, where there is only a password) and the password",
        );
      for (const place of placesOf(settings, REDIS_SCHEMES))
        if (!/^\d{0,4}$/.test(place.path) || !Number.isInteger(databaseOf(place)))
          throw wrong("url", "ends with the number of a database, or with nothing");
      return pinnedBroker("redis", settings, REDIS_SCHEMES);
    },
    secrets: secretsOf,
  },
  write: writeRedisMessage,
  open: lineOf,
});

/** The connector of one Redis server. Throws `invalid` for settings that name no safe place or credential. */
export function redisConnector(settings: BrokerSettings): ContractConnector {
  return REDIS.connect(settings);
}

const IDLE_MAX = 8;

async function lineOf(settings: BrokerSettings): Promise<Line<RedisMessage>> {
  const library = await import("redis");
  const idle: RedisSpeaker[] = [];
  let closed = false;
  /** One that nobody uses, else a new one: a second message on a connection would share the first one's fate. */
  const taken = async (fresh: boolean): Promise<RedisSpeaker> => {
    for (let kept = fresh ? undefined : idle.pop(); kept !== undefined; kept = idle.pop())
      if (kept.client.isReady) return kept;
    return dial(library, settings);
  };
  const back = (speaker: RedisSpeaker, whole: boolean): void => {
    if (whole && !closed && speaker.client.isReady && idle.length < IDLE_MAX) idle.push(speaker);
    else speaker.client.destroy();
  };
  return {
    send: async (message, sending) => {
      const limit = deadline(sending);
      const taking = taken(sending.fresh);
      try {
        const speaker = await limit.race(taking);
        if (speaker === LATE) {
          void taking.then((late) => back(late, !sending.fresh)).catch(() => undefined);
          return UNSENT_LATE;
        }
        const exchange =
          message.kind === "write" || message.kind === "bar"
            ? await run(library, speaker, message, { ...sending, deadline: limit })
            : await limit.race(ask(library, speaker, message, sending.answerMaxBytes));
        const got =
          exchange === LATE ? ({ kind: "silent", cause: "no whole answer came in time" } as const) : exchange;
        // An answer that is still under way belongs to nobody.
        back(speaker, got.kind === "answered" && !sending.fresh);
        return got;
      } catch (error) {
        return { kind: "unsent", why: wordsOf(error) };
      } finally {
        limit.end();
      }
    },
    close: async () => {
      closed = true;
      for (const { client } of idle.splice(0)) client.destroy();
    },
  };
}
