import type { JsonObject } from "../core/json.ts";
import type { Connector } from "../service/ports.ts";
import { GIT } from "./git.ts";
import { HTTP } from "./http.ts";
import { POSTGRES } from "./marker.ts";
import { NATS } from "./nats.ts";
import { RABBITMQ } from "./rabbitmq.ts";
import { REDIS } from "./redis.ts";
import { SMTP } from "./smtp.ts";

/** What is opened from settings: the connector, and what an action pins of the settings. */
export interface Kind<Settings> {
  readonly pinned: (settings: Settings) => JsonObject;
  readonly connect: (settings: Settings) => Connector;
}

/** The kind of connector for each transport that comes with Writ and is sent something. */
export const KINDS = {
  http: HTTP,
  git: GIT,
  smtp: SMTP,
  postgres: POSTGRES,
  nats: NATS,
  redis: REDIS,
  rabbitmq: RABBITMQ,
} as const;
