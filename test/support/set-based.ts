import { coalesce } from "../../src/database/coalesce.ts";
import { statement } from "../../src/database/sql.ts";
import { submissions } from "./hot-rows.ts";
import type { Rig } from "./rig.ts";

const EFFECT = `update inventory i set available = s.available, version = i.version + 1
  from jsonb_to_recordset($1::jsonb) as s(item text, version int, available int)
  where i.tenant_id = 'acme' and i.warehouse = 'wh_1' and i.item = s.item and i.version = s.version returning i.item`;

/**
 * The ledger as it must not be: effects of a batch are one set-based statement, and two submissions of one resource may ride in one
 * batch. An `update … from` applies a row once, so that the second one is called done and is not. Kept to show that the test would see it.
 */
export async function setBasedRows(
  here: Rig,
  count: number,
  seed: number,
): Promise<{ readonly effects: number; readonly succeeded: number }> {
  type Item = { readonly item: string; readonly version: number; readonly available: number };
  const queue = coalesce<Item, boolean>({
    batchMax: 48,
    inFlightMax: 4,
    waitingMax: count,
    keysOf: () => [],
    run: async (items) => {
      const [rows] = await here.database.flight([statement(EFFECT, [JSON.stringify(items)])]);
      const touched = new Set(((rows?.rows ?? []) as { item: string }[]).map((row) => row.item));
      return items.map(({ item }) => touched.has(item));
    },
  });
  const known: number[] = [];
  const next = submissions(count, seed);
  let succeeded = 0;
  const caller = async (): Promise<void> => {
    for (let submission = next(known); submission !== undefined; submission = next(known)) {
      const { item, version, available } = submission;
      if (!(await queue.submit({ item: `i${item}`, version, available }))) continue;
      succeeded += 1;
      known[item] = Math.max(known[item] ?? 0, version + 1);
    }
  };
  await Promise.all(Array.from({ length: 64 }, caller));
  const [row] = await here.run("select sum(writes)::int as n from inventory");
  return { effects: row?.n as number, succeeded };
}
