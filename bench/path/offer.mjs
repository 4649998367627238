// What the bench offers: one tool whose effect is a row of the ledger's own database, and one whose effect is an HTTP request.
import { fileURLToPath } from "node:url";
import { loadConfiguration } from "../../dist/config.js";

/** Each caller has items of its own: callers that meet on one row would measure the lock and not the path. */
export const ITEMS = 10_240;
export const LOCAL_TOOL = "inventory.set_available";
export const EXTERNAL_TOOL = "orders.place";
const WAREHOUSE = "warehouse_example";
const REASON = "cycle count 2026-10-14 by shift lead, ticket OPS-18231, counted twice by two people";

const CONFIGURATION = loadConfiguration(fileURLToPath(new URL("offer", import.meta.url)), {});
export const [TENANT] = CONFIGURATION.tenants;

/** `shop` is the address of the HTTP provider. */
export function configuration(shop) {
  const { providers } = CONFIGURATION;
  const settings = { ...providers.shop.settings, base: shop };
  return {
    ...CONFIGURATION,
    providers: { ...providers, shop: { kind: "http", transport: "http", settings } },
  };
}

/** The table of the tool with the local effect; `version - 1` counts the effects on an item. */
export const TABLES = `
  create table inventory (tenant_id text not null, warehouse text not null, item text not null, available int not null check (available >= 0),
    version int not null, primary key (tenant_id, warehouse, item)) with (fillfactor = 70);
  insert into inventory select '${TENANT}', '${WAREHOUSE}', 'item_' || n, 100, 1 from generate_series(0, ${ITEMS - 1}) n;`;

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
