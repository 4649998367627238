import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sql, statement } from "../../src/database/sql.ts";
import { type Rig, rig } from "../support/rig.ts";
import { change, stocked } from "../support/stock.ts";

/** Two tenants, each with an operation, its events and its receipt. */
async function neighbours(): Promise<Rig> {
  const here = await rig();
  for (const tenant of ["acme", "globex"]) {
    await stocked(here, "item_1", 42, tenant);
    const session = here.as({ tenantId: tenant as never });
    expect((await here.done(change("item_1"), { version: 42, session })).state).toBe("succeeded");
  }
  return here;
}

const TABLES = sql`select c.table_name as name, k.relrowsecurity as walled,
    exists (select from pg_policies p where p.tablename = c.table_name and p.policyname = 'tenant_wall' and p.roles = '{writ_reader}') as ruled,
    has_table_privilege('writ_reader', c.table_name, 'insert, update, delete, truncate') as writable
  from information_schema.columns c join information_schema.tables t using (table_schema, table_name) join pg_class k on k.relname = c.table_name
  where c.table_schema = current_schema() and c.column_name = 'tenant_id' and t.table_type = 'BASE TABLE' order by 1`;

interface Walled {
  readonly name: string;
  readonly walled: boolean;
  readonly ruled: boolean;
  readonly writable: boolean;
}

test("every table of the ledger that holds tenants' rows stands behind the second wall, and who reads there cannot write", async () => {
  const here = await rig();

  const { rows } = await here.database.read<Walled>(TABLES);

  // Made by the test's own tool, not by a migration.
  const ours = rows.filter(({ name }) => name !== "inventory");
  expect(ours.length).toBeGreaterThan(8);
  for (const table of ours) expect(table).toMatchObject({ walled: true, ruled: true, writable: false });
});

test("a statement that forgets its tenant sees one tenant's rows behind the wall, and everybody's without it", async () => {
  const here = await neighbours();

  for (const table of ["operations", "events", "receipts", "effect_guards", "authority", "definitions"]) {
    const forgetful = statement(`select distinct tenant_id from ${table} order by 1`, []);
    const within = await here.database.readWithin<{ tenant_id: string }>("globex", forgetful);
    const foreign = await here.database.readWithin("nobody", forgetful);
    const nobody = await here.database.readWithin("", forgetful);
    const without = await here.database.read<{ tenant_id: string }>(forgetful);

    expect(within.rows.map((row) => row.tenant_id)).toEqual(["globex"]);
    expect([foreign.rows, nobody.rows]).toEqual([[], []]);
    // The broken variant: this is what the wall is for.
    expect(without.rows.map((row) => row.tenant_id)).toEqual(["acme", "globex"]);
  }
});

test("without a tenant the role sees no row at all: forgetting to name one fails closed", async () => {
  const here = await neighbours();

  const [, seen] = await here.database.flight([
    statement("select set_config('role', 'writ_reader', true)", []),
    statement("select count(*)::int as n from operations", []),
  ]);

  expect(seen?.rows).toEqual([{ n: 0 }]);
});

test("role and tenant end with the query: the next one of the same connection has neither", async () => {
  const here = await neighbours();
  const who = sql`select current_user as name, current_setting('writ.tenant', true) as tenant`;

  for (let n = 0; n < 8; n++) {
    const inside = await here.database.readWithin<{ name: string; tenant: string }>("acme", who);
    const after = await here.database.read<{ name: string; tenant: string | null }>(who);

    expect(inside.rows[0]).toEqual({ name: "writ_reader", tenant: "acme" });
    expect(after.rows[0]?.name).not.toBe("writ_reader");
    expect(after.rows[0]?.tenant ?? "").toBe("");
  }
});

test("an error behind the wall is an error, and leaves the connection usable", async () => {
  const here = await neighbours();

  await expect(here.database.readWithin("acme", statement("select 1 / 0", []))).rejects.toThrow(/zero/);
  await expect(
    here.database.readWithin("acme", statement("update operations set note = 'x'", [])),
  ).rejects.toThrow(/permission denied|read-only/);
  const { rows } = await here.database.readWithin("acme", sql`select count(*)::int as n from operations`);
  expect(rows).toEqual([{ n: 1 }]);
});

/** What reads for many tenants in one statement, or before a tenant is known. Everything else reads within one. */
const ACROSS: Readonly<Record<string, number>> = { "read.ts": 1 };

test("only what must look across tenants does", () => {
  const folder = join(import.meta.dirname, "../../src/ledger");
  for (const file of readdirSync(folder)) {
    const across = readFileSync(join(folder, file), "utf8").match(/database\.read\b(?!Within)/g)?.length ?? 0;
    expect({ file, across }).toEqual({ file, across: ACROSS[file] ?? 0 });
  }
});
