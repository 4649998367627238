// What the bench offers: one tool whose effect is a row of the ledger's own database, and one whose effect is an HTTP request.
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { parseContract } from "../../dist/core/contract-parse.js";
import { tenantId } from "../../dist/core/ids.js";

export const TENANT = tenantId("acme");
export const WAREHOUSE = "warehouse_example";
/** Each caller has items of its own: callers that meet on one row would measure the lock and not the path. */
export const ITEMS = 8192;
export const LOCAL_TOOL = "inventory.set_available";
export const EXTERNAL_TOOL = "orders.place";

const text = { type: "string" };
const REASON = "cycle count 2026-10-14 by shift lead, ticket OPS-18231, counted twice by two people";

/** The tables of the tool with the local effect; `version - 1` counts the effects on an item. */
export const TABLES = `
  create table inventory (tenant_id text not null, warehouse text not null, item text not null, available int not null check (available >= 0),
    version int not null, primary key (tenant_id, warehouse, item)) with (fillfactor = 70);
  insert into inventory select '${TENANT}', '${WAREHOUSE}', 'item_' || n, 100, 1 from generate_series(0, ${ITEMS - 1}) n;`;

/** Everything that compose() is told; `shop` is the address of the HTTP provider. */
export function configuration(shop) {
  return {
    tenants: [TENANT],
    issuer: "https://bench.writ.example",
    audience: "writ",
    listen: { host: "127.0.0.1", port: 0 },
    roles: { agent: ["*"] },
    tools: [localTool(), externalTool()],
    providers: {
      stock: { kind: "postgres" },
      shop: { kind: "http", http: { base: shop, allowPrivate: true } },
    },
  };
}

function preset(name) {
  return parseContract(parse(readFileSync(new URL(`../../presets/${name}.yaml`, import.meta.url), "utf8")));
}

function tool(own) {
  return {
    permissionForMs: 60_000,
    reviewForMs: 60_000,
    autonomy: "allowed",
    lookalikes: "principal",
    intentKey: "optional",
    reversible: true,
    ...own,
  };
}

function localTool() {
  return tool({
    name: LOCAL_TOOL,
    title: "Set the available stock of an item",
    provider: "stock",
    input: schema({ warehouse: text, item: text, available: { type: "integer", minimum: 0 }, reason: text }),
    resource: {
      type: "Item",
      id: "{warehouse}:{item}",
      parents: [{ type: "Warehouse", id: "{warehouse}" }],
    },
    expectedVersion: "required",
    sql: {
      read: "select available, version from inventory where tenant_id = :tenant and warehouse = :warehouse and item = :item",
      perform: `update inventory set available = :available, version = version + 1
        where tenant_id = :tenant and warehouse = :warehouse and item = :item and version = :expectedVersion returning available, version`,
    },
    contract: preset("postgres-ledger"),
  });
}

function externalTool() {
  return tool({
    name: EXTERNAL_TOOL,
    title: "Place an order",
    provider: "shop",
    input: schema({ order: text, item: text, quantity: { type: "integer", minimum: 1 }, reason: text }),
    resource: { type: "Order", id: "{order}", parents: [] },
    expectedVersion: "none",
    contract: preset("http/idempotency-key"),
  });
}

function schema(properties) {
  return { type: "object", additionalProperties: false, required: Object.keys(properties), properties };
}

/** The claims of one proposal, with a key that nobody used before. */
export const PROPOSALS = {
  local: ({ item, version, n, key }) => ({
    key,
    claims: {
      tool: LOCAL_TOOL,
      arguments: { warehouse: WAREHOUSE, item: `item_${item}`, available: n % 1000, reason: REASON },
      expectedVersion: version,
    },
  }),
  external: ({ item, key }) => ({
    key,
    claims: {
      tool: EXTERNAL_TOOL,
      arguments: { order: key, item: `item_${item}`, quantity: 1, reason: REASON },
    },
  }),
};
