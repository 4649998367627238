import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MARKER_TABLE } from "../../src/core/marker-message.ts";
import { TRANSPORTS } from "../../src/core/transport.ts";

function page(name: string): string {
  return readFileSync(new URL(`../../docs/connectors/${name}.md`, import.meta.url), "utf8");
}

test("the page about other databases shows the very table that the connector uses", () => {
  expect(page("postgres")).toContain(MARKER_TABLE);
});

test.each(["git", "smtp", "postgres"] as const)(
  "the page about %s names every phase of its silences",
  (name) => {
    for (const phase of Object.keys(TRANSPORTS[name].phases)) expect(page(name)).toContain(`\`${phase}\``);
  },
);
