import { expect, onTestFinished } from "vitest";
import { definitionsOf } from "../../src/catalog/catalog.ts";
import { proposal } from "../../src/core/proposal.ts";
import { type Embedded, start } from "../../src/database/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import { propose } from "../../src/service/propose.ts";
import { startWorker, WORKER_BOUNDS } from "../../src/worker.ts";
import { removeFolder, temporaryFolder } from "../support/embedded-server.ts";
import { instance } from "../support/instance.ts";
import { type Shop, shop } from "../support/shop.ts";
import { command } from "../support/template.ts";
import { TOOLS } from "./processes.ts";

const CALLERS = 12;
const ITEMS = `create table inventory (tenant_id text, warehouse text, item text, available int, version int, writes int default 0, primary key (tenant_id, warehouse, item));
  create function count_write() returns trigger language plpgsql as $$ begin new.writes := old.writes + 1; return new; end $$;
  create trigger inventory_counted before update on inventory for each row execute function count_write();
  insert into inventory select 'acme', 'wh_1', 'i' || n, 10, 0 from generate_series(0, ${CALLERS}) n`;

/** A PostgreSQL of our own that syncs each commit, as in production: the others of a test run do not. */
async function ownServer(): Promise<{ url: string; killAndRestart(): Promise<void> }> {
  const folder = temporaryFolder();
  let server: Embedded = await start({ folder });
  onTestFinished(async () => {
    await server.stop();
    await removeFolder(folder);
  });
  await migrate(server.url);
  await command(server.url, (client) => client.query(ITEMS));
  return {
    url: server.url,
    killAndRestart: async () => {
      process.kill(server.pid, "SIGKILL");
      await server.stop();
      server = await start({ folder });
    },
  };
}

/** Kills PostgreSQL under a working Writ, again and again, and counts what is left at both providers. */
export async function killPostgres(rounds: number): Promise<void> {
  const server = await ownServer();
  const here = await shop({ of: "key", tools: TOOLS });
  const { ports, ledger, database } = await instance({ url: server.url, ports: here.ports }, "w1");
  await ledger.enroll(here.session.tenantId, definitionsOf(TOOLS));
  const worker = startWorker(ports, { ...WORKER_BOUNDS, idleMs: 50 });
  onTestFinished(() => worker.stop(5_000));
  const work = { goesOn: true, said: new Map<string, string>() };
  const callers = Array.from({ length: CALLERS }, (_, n) => caller(here, ports, n, work));

  for (let round = 0; round < rounds; round++) {
    const goal = work.said.size + 20 + ((round * 53) % 150);
    await expect.poll(() => work.said.size, { timeout: 30_000, interval: 1 }).toBeGreaterThan(goal);
    await server.killAndRestart();
  }
  work.goesOn = false;
  await Promise.all(callers);

  const query = async (text: string) =>
    (await database.read<Record<string, unknown>>({ name: `q${text.length}`, text, values: [] })).rows;
  const unsettled = "select id, state, due_at from operations where settled_at is null";
  await expect.poll(() => query(unsettled), { timeout: 30_000, interval: 100 }).toEqual([]);
  const kept = await query(
    "select o.intent_key as key, o.state, r.jws is not null as receipt from operations o left join receipts r on r.operation_id = o.id",
  );
  // Each intent is one operation; what was answered is what is on disk; and each has its receipt.
  const states = new Map(kept.map(({ key, state }) => [key, state]));
  expect(states.size).toBe(kept.length);
  for (const [key, state] of work.said)
    if (state === "succeeded" || state === "rejected")
      expect({ key, state: states.get(key) }).toEqual({ key, state });
  expect(kept.filter(({ receipt }) => receipt !== true)).toEqual([]);
  const writes = await query("select sum(writes)::int as n from inventory");
  const written = [...states].filter(([key, state]) => String(key).startsWith("w") && state === "succeeded");
  expect(writes).toEqual([{ n: written.length }]);
  const ordered = [...states].filter(([key, state]) => String(key).startsWith("o") && state === "succeeded");
  expect(here.orders()).toBe(ordered.length);
  expect(new Set(here.provider.journal().map((effect) => effect.key)).size).toBe(ordered.length + 1);
}

async function caller(
  here: Shop,
  ports: Shop["ports"],
  n: number,
  work: { readonly goesOn: boolean; readonly said: Map<string, string> },
): Promise<void> {
  const writes = n % 2 === 0;
  for (let sent = 0, version = 0; work.goesOn; sent++) {
    const key = `${writes ? "w" : "o"}${n}-${sent}`;
    const claims = writes
      ? {
          tool: "inventory.set_available",
          arguments: { warehouse: "wh_1", item: `i${n}`, available: sent },
          expectedVersion: version,
        }
      : { tool: "orders.place", arguments: { order: key, item: "main/bolt", quantity: 1 } };
    const state = await answered(() => propose(ports, here.session, proposal(claims, key)));
    if (writes && state === "succeeded") version += 1;
    work.said.set(key, state);
  }
}

/** Asks again under the same key until there is an answer, as a client does. */
async function answered(ask: () => ReturnType<typeof propose>): Promise<string> {
  for (;;) {
    try {
      const { operation, done } = await ask();
      return ((await done) ?? operation).state;
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error)) throw error;
    }
  }
}
