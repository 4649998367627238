import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test as plain, type TestAPI } from "vitest";

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
 * The one place where a test may be skipped: `const test = needs("server");`
 * Gives vitest's own `test` when the need is met, else one that skips, after saying so once on stderr.
 */
export function needs(need: Need): TestAPI {
  const { has, how } = NEEDS[need];
  if (has()) return plain;
  const lack = `this file needs a ${need}: ${how}`;
  if (process.env.WRIT_CI === "1") throw new Error(lack);
  process.stderr.write(`skipped: ${lack}\n`);
  // TestAPI has more to it than what a skipping test can be asked for: a call, `each` and `for` are there.
  return plain.skip as unknown as TestAPI;
}
