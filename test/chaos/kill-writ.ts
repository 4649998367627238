import { expect } from "vitest";
import { brokenLink } from "../../src/core/event.ts";
import { kill } from "../support/child.ts";
import { type Shop, type ShopOptions, shop } from "../support/shop.ts";
import { stocked } from "../support/stock.ts";
import { type Process, startWrit, TOOLS } from "./processes.ts";

const CALLERS = 12;

/** What was found wrong after the last kill; and how often an attempt had to be repeated, so that it was no walk in the park. */
export interface Damage {
  /** Acknowledged, and not what the ledger says. */
  readonly lost: readonly string[];
  /** Operations and rows with another number of effects than of receipts. */
  readonly wrong: readonly string[];
  readonly acknowledged: number;
  readonly repeated: number;
}

/** Kills a process of Writ in the middle of its work, again and again; then lets another one finish, and counts at both providers. */
export async function killWrit(rounds: number, options: ShopOptions = {}): Promise<Damage> {
  const here = await shop({ of: "key", tools: TOOLS, ...options });
  for (let caller = 0; caller < CALLERS; caller += 2) await stocked(here, `i${caller}`, 0);
  const told = { databaseUrl: here.url, providerUrl: here.provider.url, callers: CALLERS };
  const acknowledged: Process["acknowledged"][number][] = [];

  for (let round = 0; round < rounds; round++) {
    here.provider.fault("drop_after", { times: 3, match: { method: "POST" } });
    const writ = await startWrit({ ...told, name: `r${round}` });
    // Somewhere in the work, in each round at another place.
    const many = 10 + ((round * 37) % 60);
    await expect.poll(() => writ.acknowledged.length, { timeout: 20_000, interval: 1 }).toBeGreaterThan(many);
    await kill(writ.child);
    acknowledged.push(...writ.acknowledged);
  }
  here.provider.clearFaults();
  await startWrit({ ...told, name: "last", callers: 0 });

  const unsettled = () => here.run("select id, state from operations where settled_at is null");
  await expect.poll(unsettled, { timeout: 30_000, interval: 100 }).toEqual([]);
  const [tried] = await here.run(
    "select count(*)::int as n from operations where jsonb_array_length(attempts) > 1",
  );
  return {
    lost: await lostOf(here, acknowledged),
    wrong: [...(await wrongRows(here)), ...(await wrongOrders(here))],
    acknowledged: acknowledged.length,
    repeated: tried?.n as number,
  };
}

/** What a caller was told is what the ledger says, for ever. */
async function lostOf(
  here: Shop,
  acknowledged: readonly Process["acknowledged"][number][],
): Promise<string[]> {
  const lost: string[] = [];
  for (const { id, state } of acknowledged) {
    const kept = (await here.ledger.read(here.session.tenantId, id))?.value.state;
    const final = state === "succeeded" || state === "rejected";
    if (kept === undefined || (final && kept !== state)) lost.push(`${id} was ${state} and is ${kept}`);
  }
  return lost;
}

/** Effects are counted where they are, not in our own books. */
async function wrongRows(here: Shop): Promise<string[]> {
  const rows = await here.run(`
    select i.item, i.writes::int as effects, count(r.operation_id)::int as receipts
    from inventory i
    left join operations o on o.state = 'succeeded' and o.resource = 'Item:wh_1/' || i.item
    left join receipts r on r.tenant_id = o.tenant_id and r.operation_id = o.id group by 1, 2`);
  return rows
    .filter(({ effects, receipts }) => effects !== receipts)
    .map(({ item, effects, receipts }) => `${item} has ${effects} effects and ${receipts} receipts`);
}

async function wrongOrders(here: Shop): Promise<string[]> {
  const wrong: string[] = [];
  const orders = await here.run("select id, state from operations where tool = 'orders.place'");
  for (const { id, state } of orders) {
    const operation = `op_${String(id).replaceAll("-", "")}` as Process["acknowledged"][number]["id"];
    const effects = here.orders({ id: operation });
    if (effects !== (state === "succeeded" ? 1 : 0))
      wrong.push(`${operation} is ${state} with ${effects} effects`);
    const broken = brokenLink(await here.ledger.events(here.session.tenantId, operation));
    if (broken !== undefined) wrong.push(`${operation}: ${broken}`);
  }
  return wrong;
}
