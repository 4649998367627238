import { defineConfig } from "vitest/config";
import { conformanceTable } from "./test/conformance/reporter.ts";
import { closingLine } from "./test/support/closing-line.ts";

const DEEP_TESTS = "test/**/*.deep.test.ts";
const PEERS = "test/peers/**";
// What it holds is only about to be written.
const PAGE = "test/conformance/page.test.ts";

export default defineConfig(({ mode }) => {
  // Deep tests visit whole spaces and take minutes: `npm run test:deep`, or WRIT_DEEP=1, and only there.
  const deep = mode === "deep" || process.env.WRIT_DEEP === "1";
  // The tests of the house itself need no database: `npm run check`.
  const house = mode === "house";
  // One table of what real servers did: `npm run conformance:providers`. `npm test` holds the same rows.
  const conformance = mode === "conformance";
  return {
    test: {
      include: conformance
        ? ["test/conformance/**/*.test.ts"]
        : [deep ? DEEP_TESTS : house ? "test/house/**/*.test.ts" : "test/**/*.test.ts"],
      exclude: [PEERS, ...(deep ? [] : [DEEP_TESTS]), ...(conformance ? [PAGE] : [])],
      env: deep ? { WRIT_DEEP: "1" } : {},
      globalSetup: house ? [] : ["test/support/global-setup.ts"],
      reporters: conformance ? ["dot", conformanceTable()] : ["default", closingLine()],
      pool: "forks",
      maxWorkers: 2,
      // A forgotten `.only` would pass by leaving the rest out.
      allowOnly: false,
      testTimeout: deep ? 600_000 : 20_000,
      hookTimeout: 60_000,
      teardownTimeout: 15_000,
    },
  };
});
