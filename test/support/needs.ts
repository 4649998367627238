import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test as plain, type TestAPI } from "vitest";
import type { RealServer } from "../servers/server.ts";

export const CHROMIUM = process.env.WRIT_TEST_CHROMIUM ?? "/usr/bin/chromium";

export const CERBOS = fileURLToPath(
  new URL("../peers/node_modules/@cerbos/cerbos-linux-x64/cerbos-linux-x64", import.meta.url),
);

/** What a test may need that not every machine has. `npm test` without it skips in the open; CI has it all. */
const NEEDS = {
  server: {
    has: () => Boolean(process.env.WRIT_TEST_DATABASE_URL),
    how: "set WRIT_TEST_DATABASE_URL to a PostgreSQL server on which it may create databases",
  },
  chromium: {
    has: () => existsSync(CHROMIUM),
    how: "install Chromium, or set WRIT_TEST_CHROMIUM to its path",
  },
  cerbos: {
    has: () => existsSync(CERBOS),
    how: "npm ci --prefix test/peers --ignore-scripts (Linux on x64)",
  },
};

type Need = keyof typeof NEEDS;

/**
 * The one place where a test may be skipped: `const test = needs("server");`, or `needs(etcd)` for a server of test/servers.
 * Gives vitest's own `test` when the need is met, else one that skips, after saying so once on stderr.
 */
export function needs(need: Need | Pick<RealServer, "name" | "installed">): TestAPI {
  const lack = typeof need === "string" ? lackOf(need) : lackOfServer(need);
  if (lack === undefined) return plain;
  if (process.env.WRIT_CI === "1") throw new Error(lack);
  process.stderr.write(`skipped: ${lack}\n`);
  // TestAPI has more to it than what a skipping test can be asked for: a call, `each` and `for` are there.
  return plain.skip as unknown as TestAPI;
}

function lackOf(need: Need): string | undefined {
  const { has, how } = NEEDS[need];
  return has() ? undefined : `this file needs a ${need}: ${how}`;
}

function lackOfServer({ name, installed }: Pick<RealServer, "name" | "installed">): string | undefined {
  const why = installed();
  return why === undefined ? undefined : `this file needs ${name}: ${why}`;
}
