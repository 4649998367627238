import type { Rig } from "./rig.ts";

/** An item of the warehouse "wh_1" that the tests of the ledger's own database change. */
export async function stocked(here: Rig, item: string, version = 42, tenant = "acme"): Promise<void> {
  await here.run(
    "insert into inventory (tenant_id, warehouse, item, available, version) values ($1, 'wh_1', $2, 10, $3)",
    [tenant, item, version],
  );
}

export const change = (item: string, available = 18) => ({ warehouse: "wh_1", item, available });

/** The code of the problem that a promise rejects with; fails when it resolves. */
export async function refusal(work: Promise<unknown>): Promise<{ code: string; [detail: string]: unknown }> {
  const caught = await work.then(
    (value) => ({ code: `no refusal but ${JSON.stringify(value)}`, details: {} }),
    (error: { code?: string; details?: object; message: string }) => ({
      code: error.code ?? error.message,
      details: error.details ?? {},
    }),
  );
  return { code: caught.code, ...caught.details };
}

/** How many rows a table has for a tenant. */
export async function rowsOf(here: Rig, table: string, tenant = "acme"): Promise<number> {
  const [row] = await here.run(`select count(*)::int as n from ${table} where tenant_id = $1`, [tenant]);
  return row?.n as number;
}
