import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Simulated, startSimulated } from "../connectors/simulated/provider.ts";
import { connect } from "../database/pool.ts";
import { runScript } from "../database/script.ts";
import { sql } from "../database/sql.ts";
import { EXAMPLE_FOLDER } from "./example.ts";
import { freePort } from "./port.ts";

/** The example's providers across HTTP. Their journals outlive them, as a provider's would. */
export interface Shops {
  readonly addresses: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const SHOP_PORT = 7071;
const KIOSK_PORT = 7072;

export async function openShops(folder: string, databaseUrl: string): Promise<Shops> {
  await runScript(databaseUrl, readFileSync(join(EXAMPLE_FOLDER, "tables.sql"), "utf8"));
  const journal = (name: string): string => join(folder, ".writ", `${name}.journal.jsonl`);
  // The same address as last time wherever possible: operations pin the one that they were decided for.
  const shop = await startSimulated({
    guarantees: { etag: "strong", marker: true },
    port: await freePort(SHOP_PORT),
    journalPath: journal("shop"),
  });
  const kiosk = await startSimulated({
    guarantees: {},
    port: await freePort(KIOSK_PORT),
    journalPath: journal("kiosk"),
  });
  fill(shop, "wh_1/item_1", 10);
  fill(kiosk, "bolt", 100);
  return {
    addresses: { shop: shop.url, kiosk: kiosk.url },
    close: async () => {
      await Promise.all([shop.close(), kiosk.close()]);
    },
  };
}

/** Once: a restarted shop keeps what its journal knows. */
function fill(provider: Simulated, resource: string, available: number): void {
  if (!provider.journal().some((effect) => effect.resource === resource))
    provider.setItem(resource, available);
}

/** An item that nobody has touched, so that the first command can succeed on every start. */
export interface FirstItem {
  readonly warehouse: string;
  readonly item: string;
  readonly version: number;
  readonly intentKey: string;
}

export async function stockFirstItem(databaseUrl: string, tenantId: string): Promise<FirstItem> {
  const word = randomBytes(3).toString("hex");
  const first = { warehouse: "wh_1", item: `item_${word}`, version: 42, intentKey: `first-${word}` };
  const database = await connect({
    url: databaseUrl,
    applicationName: "setup",
    readersMax: 1,
    writersMax: 1,
  });
  try {
    await database.flight([
      sql`insert into inventory (tenant_id, warehouse, item, available, version)
          values (${tenantId}, ${first.warehouse}, ${first.item}, 10, ${first.version})`,
    ]);
  } finally {
    await database.close();
  }
  return first;
}
