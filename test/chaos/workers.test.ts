import { beforeAll, expect, test } from "vitest";
import { STOCK_TOOL } from "../support/rig.ts";
import { KINDS, orderTool, shop } from "../support/shop.ts";
import { change, rowsOf, stocked } from "../support/stock.ts";
import { build, startWrit } from "./processes.ts";

beforeAll(build);

test("C013: 200 operations and three worker processes on one database: each is executed once", {
  timeout: 60_000,
}, async () => {
  const tools = [STOCK_TOOL, orderTool(KINDS.nothing.contract)];
  const here = await shop({ of: "nothing", tools });
  here.provider.fault("slow", { ms: 15, times: "always", match: { method: "POST" } });
  for (let n = 0; n < 100; n++) await stocked(here, `i${n}`);
  await Promise.all(
    Array.from({ length: 100 }, async (_, n) => {
      await here.done(change(`i${n}`), { version: 42, key: `w${n}`, execute: "later" });
      await here.place(`o${n}`, { key: `k${n}`, execute: "later" });
    }),
  );
  // Due only when all three are at work.
  const told = { databaseUrl: here.url, providerUrl: here.provider.url, callers: 0, tools };
  for (const name of ["p1", "p2", "p3"]) await startWrit({ ...told, name });

  await here.run("update operations set execute = 'now', due_at = writ_now()");

  await expect.poll(() => rowsOf(here, "receipts"), { timeout: 40_000, interval: 50 }).toBe(200);
  const [effects] = await here.run("select sum(writes)::int as n, max(writes) as most from inventory");
  expect(effects).toEqual({ n: 100, most: 1 });
  expect(here.orders()).toBe(100);
  expect(here.provider.requests()).toHaveLength(100);
  const tried = await here.run(
    "select state, jsonb_array_length(attempts) as attempts, count(*)::int as n from operations group by 1, 2",
  );
  expect(tried).toEqual([{ state: "succeeded", attempts: 1, n: 200 }]);
  const by = await here.run("select distinct attempts -> 0 ->> 'worker' as name from operations order by 1");
  expect(by.map((row) => row.name)).toEqual(["p1", "p2", "p3"]);
});
