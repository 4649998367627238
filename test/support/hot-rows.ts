import { proposal } from "../../src/core/proposal.ts";
import { propose } from "../../src/service/propose.ts";
import { instance } from "./instance.ts";
import { type Rig, rig, STOCK_TOOL } from "./rig.ts";

const RESOURCES = 60;
const CALLERS = 64;
const INSTANCES = 4;

/** What a run of submissions left behind. Effects are counted at the rows, receipts in the ledger. */
export interface Aftermath {
  readonly effects: number;
  readonly receipts: number;
  /** Items of which the two counts differ. */
  readonly lies: number;
  readonly deadlocks: number;
  readonly answers: Readonly<Record<string, number>>;
}

/** The same sequence for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface Submission {
  readonly key: string;
  readonly item: number;
  readonly version: number;
  readonly available: number;
}

/** Sixty hot items, one submission in five sent before, many with a version that has gone by. */
export function submissions(
  count: number,
  seed: number,
): (known: readonly number[]) => Submission | undefined {
  const random = randomOf(seed);
  const past: Submission[] = [];
  let sent = 0;
  return (known) => {
    if (sent++ >= count) return undefined;
    const earlier = past[Math.floor(random() * past.length)];
    if (random() < 0.2 && earlier !== undefined) return earlier;
    const item = Math.floor(random() * RESOURCES);
    const stale = random() < 0.2 ? 1 : 0;
    const version = Math.max(0, (known[item] ?? 0) - stale);
    const submission = { key: `k${sent}`, item, version, available: Math.floor(random() * 1_000) };
    past.push(submission);
    return submission;
  };
}

/** Sixty-four callers over four ledgers, each with connections of its own, on one database. */
export async function hotRows(count: number, seed: number): Promise<Aftermath> {
  const here = await rig();
  await stockAll(here);
  const all = [here.ports];
  for (let n = 1; n < INSTANCES; n++) all.push((await instance(here, `w${n}`)).ports);
  const known = Array.from({ length: RESOURCES }, () => 0);
  const next = submissions(count, seed);
  const answers: Record<string, number> = {};
  const caller = async (n: number): Promise<void> => {
    for (let submission = next(known); submission !== undefined; submission = next(known)) {
      const { item, key, version, available } = submission;
      const claims = {
        tool: STOCK_TOOL.name,
        arguments: { warehouse: "wh_1", item: `i${item}`, available },
        expectedVersion: version,
      };
      const answer = await propose(
        all[n % INSTANCES] as Rig["ports"],
        here.session,
        proposal(claims, key),
      ).then(
        ({ how, operation }) => {
          if (operation.state === "succeeded") known[item] = Math.max(known[item] ?? 0, version + 1);
          return `${how} ${operation.reason ?? operation.state}`;
        },
        (problem: { code?: string; message: string }) => problem.code ?? problem.message,
      );
      answers[answer] = (answers[answer] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, n) => caller(n)));
  return { ...(await aftermath(here)), answers };
}

export async function stockAll(here: Rig): Promise<void> {
  await here.run(
    "insert into inventory (tenant_id, warehouse, item, available, version) select 'acme', 'wh_1', 'i' || n, 10, 0 from generate_series(0, $1::int - 1) n",
    [RESOURCES],
  );
}

async function aftermath(here: Rig): Promise<Omit<Aftermath, "answers">> {
  const rows = await here.run(`
    select i.item, i.writes::int as effects, coalesce(o.receipts, 0)::int as receipts
    from inventory i left join (
      select split_part(o.resource, '/', 2) as item, count(*) as receipts
      from operations o join receipts r on r.tenant_id = o.tenant_id and r.operation_id = o.id
      where o.state = 'succeeded' group by 1) o using (item)`);
  const sum = (name: string) => rows.reduce((total, row) => total + (row[name] as number), 0);
  return {
    effects: sum("effects"),
    receipts: sum("receipts"),
    lies: rows.filter((row) => row.effects !== row.receipts).length,
    deadlocks: await deadlocksOf(here),
  };
}

/** How often PostgreSQL had to end a transaction of this database because two waited for each other. */
export async function deadlocksOf(here: Rig): Promise<number> {
  const [row] = await here.run(
    "select deadlocks::int as n from pg_stat_database where datname = current_database()",
  );
  return row?.n as number;
}
