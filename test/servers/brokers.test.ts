import { expect } from "vitest";
import { needs } from "../support/needs.ts";
import { accepts } from "./launch.ts";
import { nats } from "./nats.ts";
import { rabbitmq } from "./rabbitmq.ts";
import { redis } from "./redis.ts";

for (const server of [nats, redis, rabbitmq]) {
  needs(server)(
    `${server.name} answers on its own port, and is gone after its stop`,
    async () => {
      const running = await server.start();

      const port = Number(new URL(running.url).port);
      const before = await accepts(port);
      await running.stop();
      await running.stop();

      expect(before).toBe(true);
      expect(await accepts(port)).toBe(false);
    },
    120_000,
  );
}
