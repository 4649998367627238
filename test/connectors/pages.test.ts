import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MARKER_TABLE } from "../../src/core/marker-message.ts";
import { KNOWN_COMMANDS } from "../../src/core/redis-command.ts";
import { TRANSPORTS } from "../../src/core/transport.ts";
import { preset } from "./errand.ts";

function page(name: string): string {
  return readFileSync(new URL(`../../docs/connectors/${name}.md`, import.meta.url), "utf8");
}

test("the page about other databases shows the very table that the connector uses", () => {
  expect(page("postgres")).toContain(MARKER_TABLE);
});

test.each(["git", "smtp", "postgres", "nats", "redis", "rabbitmq"] as const)(
  "the page about %s names every phase of its silences",
  (name) => {
    for (const phase of Object.keys(TRANSPORTS[name].phases)) expect(page(name)).toContain(`\`${phase}\``);
  },
);

const BROKERS = [
  "nats/jetstream-publish",
  "nats/jetstream-queue",
  "nats/kv-put",
  "redis/marker",
  "redis/stream-append",
  "rabbitmq/publish",
];

test.each(BROKERS)(
  "the page about the connector of %s names the preset, and every status and every result that it reads",
  (name) => {
    const contract = preset(name);
    const text = page(contract.transport);

    expect(text).toContain(`presets/${name}`);
    for (const { when } of contract.outcomes) {
      for (const status of when.status ?? []) expect(text).toMatch(new RegExp(`^\\|.*\\b${status}\\b`, "m"));
      for (const [pointer, value] of Object.entries(when.body ?? {})) {
        expect(text).toContain(pointer.split("/").at(-1));
        if (pointer === "/result") expect(text).toContain(`\`${value}\``);
      }
    }
  },
);

test("the page about Redis names every command that a contract may use", () => {
  for (const command of KNOWN_COMMANDS) expect(page("redis")).toContain(`\`${command}\``);
});
