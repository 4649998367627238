import { expect, test } from "vitest";
import { rig, STOCK_TOOL } from "../support/rig.ts";
import { change, rowsOf, stocked } from "../support/stock.ts";

const sql = (change: Partial<NonNullable<typeof STOCK_TOOL.sql>>) => ({
  ...STOCK_TOOL,
  sql: { perform: "", ...STOCK_TOOL.sql, ...change },
});

test("a deferred constraint that the effect violates rejects it with its reason, and nothing of it stays", async () => {
  const perform = `update inventory set available = :available, version = version + 1, item = item || '-moved'
      where tenant_id = :tenant and warehouse = :warehouse and item = :item and version = :expectedVersion returning available`;
  const here = await rig({ tools: [sql({ perform })] });
  await here.run("create table shelf (item text primary key)");
  await here.run("insert into shelf values ('a-moved')");
  for (const item of ["a", "b"]) await stocked(here, item, 1);
  await here.run(
    "alter table inventory add constraint known foreign key (item) references shelf deferrable initially deferred not valid",
  );

  const [good, bad] = await Promise.all(["a", "b"].map((item) => here.done(change(item), { version: 1 })));
  const lone = await here.done(change("b"), { version: 1, key: "again" });

  expect(good?.state).toBe("succeeded");
  for (const operation of [bad, lone])
    expect(operation).toMatchObject({ state: "rejected", reason: "provider_refused" });
  expect(JSON.stringify(lone.attempts)).toContain("23503");
  expect((await here.stock("b"))?.writes).toBe(0);
});

test("a number that has no exact reading rejects the effect that returned it, and not its neighbours", async () => {
  const perform = `update inventory set available = :available, version = version + 1
      where tenant_id = :tenant and warehouse = :warehouse and item = :item and version = :expectedVersion
      returning case when item = 'b' then 9007199254740993 else 1 end as big`;
  const here = await rig({ tools: [sql({ perform })] });
  for (const item of ["a", "b", "c"]) await stocked(here, item, 1);

  const answers = await Promise.all(["a", "b", "c"].map((item) => here.done(change(item), { version: 1 })));
  const lone = await here.done(change("b", 7), { version: 1 });

  expect(answers.map(({ state }) => state)).toEqual(["succeeded", "rejected", "succeeded"]);
  expect(lone).toMatchObject({ state: "rejected", reason: "provider_refused" });
  expect((await here.stock("b"))?.writes).toBe(0);
  expect(await rowsOf(here, "receipts")).toBe(4);
});
