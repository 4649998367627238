import { POSTGRES } from "../../src/connectors/marker.ts";
import { MARKER_TABLE } from "../../src/core/marker-message.ts";
import { preset } from "../connectors/errand.ts";
import { type PostgresServer, postgres } from "../servers/postgres.ts";
import { STOCK, STOCK_SQL, setStock } from "../servers/stock-table.ts";
import { conform } from "./conform.ts";
import { DONE, REFUSED } from "./subject.ts";

conform<PostgresServer>({
  name: "a row that names the operation, in the effect's transaction",
  server: postgres,
  tool: {
    contract: preset("postgres/marker", { requestLife: "20s", maxPause: "10s", lease: "35s" }),
    expectedVersion: "required",
    sql: STOCK_SQL,
  },
  address: ({ url }) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) }),
  connect: ({ url }, { host, port }) => {
    const moved = new URL(url);
    moved.host = `${host}:${port}`;
    return POSTGRES.connect({ url: moved.href });
  },
  // The marker is written first, then the tool's statement; the answer that matters is the one to COMMIT.
  speech: {
    begins: /insert into writ_operations/,
    middle: /^[\s\S]*?update stock set[\s\S]{8}/,
    answers: /C\0\0\0\x0bCOMMIT\0/,
    head: /C\0\0\0\x0bCOMMIT\0/,
  },
  prepare: async (running, item) => {
    if ((await running.run("select to_regclass('stock') as made"))[0]?.made === null)
      for (const text of [MARKER_TABLE, ...STOCK]) await running.run(text);
    await running.run("insert into stock (tenant_id, item, available, version) values ('acme', $1, 20, 7)", [
      item,
    ]);
    return { arguments: { available: 18 }, version: "7" };
  },
  effects: async (running, { operationId }) =>
    Number(
      (await running.run("select count(*) as n from stock_journal where operation = $1", [operationId]))[0]
        ?.n,
    ),
  rival: (running, item) => setStock(running, item, 18),
  ends: {
    direct: DONE,
    "before send": DONE,
    "mid body": DONE,
    "after effect": DONE,
    "after headers": DONE,
    "before send, then another writes the same": REFUSED,
    "after effect, then another writes the same": DONE,
  },
});
