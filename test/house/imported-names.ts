// Names of modules that the floors are tried with.
const OUTWARD = [
  "..",
  "./../core/ids.ts",
  "./x/../../core/ids.ts",
  "../../src/core/ids.ts",
  "/src/core/ids.ts",
];
export const URLS = ["file:///src/core/ids.ts", "data:text/javascript,1", "writ", "writ/client"];
export const AROUND = [...OUTWARD, ...URLS];
export const DOORS = [
  "../http/app.ts",
  "../mcp/server.ts",
  "../cli/print.ts",
  "../compose.ts",
  "../worker.ts",
  "../index.ts",
];
export const ADAPTERS = [
  "../ledger/rows.ts",
  "../connectors/template.ts",
  "../policy/cedar.ts",
  "../audit/sealer.ts",
];
export const BELOW = [
  "./sibling.ts",
  "../core/ids.ts",
  "../service/ports.ts",
  "../service/ledger-port.ts",
  "../service/identity-port.ts",
  "../database/sql.ts",
  "node:fs",
  "undici",
];
export const NOT_BELOW = [
  "../service/propose.ts",
  "../database/pool.ts",
  "../config.ts",
  "../wire.ts",
  "../drill/faults.ts",
];

/** The command may open databases, read contracts and start the simulated provider; what an adapter is made of is compose's. */
export const NOT_CLI = [...ADAPTERS, "../connectors/http.ts", "../identity/tokens.ts"];
