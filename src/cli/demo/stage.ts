import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, writClient } from "../../client.ts";
import { compose, type LocalIssuer, localIssuer, type Writ } from "../../compose.ts";
import type { Configuration } from "../../config.ts";
import { type Simulated, startSimulated } from "../../connectors/simulated/provider.ts";
import { connect, type Database } from "../../database/pool.ts";
import { runScript } from "../../database/script.ts";
import { sql } from "../../database/sql.ts";
import { EXAMPLE_FOLDER } from "../example.ts";
import { quietLog } from "../log.ts";
import { hurried, pointedAt } from "./hurry.ts";
import { startVictim, type Victim } from "./victim-process.ts";

/** One line of the journal that a trigger keeps beside the example's table. */
export interface StockEntry {
  readonly at: number;
  readonly available: number;
  readonly version: number;
}

/** A real Writ before real providers: a table in its own PostgreSQL, a shop that compares versions, and a kiosk that promises nothing. */
export interface Stage {
  readonly url: string;
  readonly agent: Client;
  /** A person with the resolver role. */
  readonly person: Client;
  readonly agentToken: string;
  readonly shop: Simulated;
  readonly kiosk: Simulated;
  /** Puts an item into the table, at version 42. */
  stockItem(item: string): Promise<void>;
  /** Another program changes the item: its version goes up. */
  stockChangedByOthers(item: string): Promise<void>;
  /** What Writ changed, by the table's own journal. */
  stockJournal(item: string): Promise<readonly StockEntry[]>;
  /** A second Writ in a process of its own, which a scene may kill. Begun on the first call; later calls give the same. */
  victim(): Promise<Victim>;
  /** Puts an item into the shop, at version 42. */
  shopItem(item: string): void;
  close(): Promise<void>;
}

export interface StageOptions {
  /** An empty database of the story's own. */
  readonly databaseUrl: string;
  /** An empty folder for its keys. */
  readonly home: string;
  readonly configuration: Configuration;
}

const WAREHOUSE = "wh_1";
const FIRST_VERSION = 42;
const TOKEN_TTL_S = 3600;
const CLOSE_WITHIN_MS = 2_000;
const WORKER_IDLE_MS = 100;

export async function setStage({ databaseUrl, home, configuration: given }: StageOptions): Promise<Stage> {
  const shop = await startSimulated({ guarantees: { etag: "strong", marker: true } });
  const kiosk = await startSimulated({ guarantees: {} });
  await runScript(databaseUrl, readFileSync(join(EXAMPLE_FOLDER, "tables.sql"), "utf8"));
  const configuration = hurried(pointedAt(given, { shop: shop.url, kiosk: kiosk.url }));
  const issuer = localIssuer({ home, tenants: configuration.tenants });
  const writ = await compose({
    configuration,
    databaseUrl,
    home,
    issuers: [issuer.issuer],
    log: quietLog,
    worker: `writ-${process.pid}`,
  });
  const { url } = await writ.listen({ host: "127.0.0.1", port: 0 });
  // Somebody looks on: what is due is looked for more often than an installation needs.
  writ.startWorker({ idleMs: WORKER_IDLE_MS });
  const setup = await connect({ url: databaseUrl, applicationName: "setup", readersMax: 1, writersMax: 1 });
  const others = await connect({
    url: databaseUrl,
    applicationName: "somebody else",
    readersMax: 1,
    writersMax: 1,
  });
  const agentToken = await tokenFor(issuer, writ, { principal: "ada", client: "agent-7", role: "agent" });
  const person = await tokenFor(issuer, writ, { principal: "grace", client: "writ-cli", role: "resolver" });
  let victim: Promise<Victim> | undefined;
  return {
    url,
    agentToken,
    agent: writClient({ url, token: agentToken }),
    person: writClient({ url, token: person }),
    shop,
    kiosk,
    ...tableOf(writ, setup, others),
    victim: () => {
      victim ??= startVictim({ configuration, databaseUrl, home });
      return victim;
    },
    shopItem: (item) => {
      // The shop counts an item's versions from one.
      for (let version = 1; version <= FIRST_VERSION; version++) shop.setItem(`${WAREHOUSE}/${item}`, 10);
    },
    close: async () => {
      (await victim?.catch(() => undefined))?.child.kill("SIGKILL");
      await writ.close(CLOSE_WITHIN_MS);
      await Promise.all([setup.close(), others.close(), shop.close(), kiosk.close()]);
    },
  };
}

function tableOf(
  writ: Writ,
  setup: Database,
  others: Database,
): Pick<Stage, "stockItem" | "stockChangedByOthers" | "stockJournal"> {
  const tenant = tenantOf(writ);
  return {
    stockItem: async (item) => {
      await setup.flight([
        sql`insert into inventory (tenant_id, warehouse, item, available, version)
            values (${tenant}, ${WAREHOUSE}, ${item}, 10, ${FIRST_VERSION})`,
      ]);
    },
    stockChangedByOthers: async (item) => {
      await others.flight([
        sql`update inventory set available = 9, version = version + 1
             where tenant_id = ${tenant} and warehouse = ${WAREHOUSE} and item = ${item}`,
      ]);
    },
    stockJournal: async (item) => {
      const { rows } = await setup.read<StockEntry>(
        sql`select floor(extract(epoch from at) * 1000)::float8 as at, available, version from inventory_journal
             where tenant_id = ${tenant} and warehouse = ${WAREHOUSE} and item = ${item}
               and by not in ('setup', 'somebody else') order by n`,
      );
      return rows;
    },
  };
}

function tenantOf({ configuration }: Writ): Configuration["tenants"][number] {
  const [tenant] = configuration.tenants;
  if (tenant === undefined) throw new Error("the example's configuration has a tenant");
  return tenant;
}

function tokenFor(
  issuer: LocalIssuer,
  writ: Writ,
  who: { readonly principal: string; readonly client: string; readonly role: string },
): Promise<string> {
  const { principal, client, role } = who;
  return issuer.mint({ tenant: tenantOf(writ), principal, client, roles: [role], ttlS: TOKEN_TTL_S });
}
