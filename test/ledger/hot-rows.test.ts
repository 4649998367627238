import { expect, test } from "vitest";
import { proposal } from "../../src/core/proposal.ts";
import { propose } from "../../src/service/propose.ts";
import { deadlocksOf, hotRows, stockAll } from "../support/hot-rows.ts";
import { instance } from "../support/instance.ts";
import { type Rig, rig, STOCK_TOOL } from "../support/rig.ts";
import { setBasedRows } from "../support/set-based.ts";
import { change, stocked } from "../support/stock.ts";

test("C097: four ledgers write sixty hot rows 4,000 times: there are exactly as many effects as succeeded receipts, row by row, and no deadlock", async () => {
  const { effects, receipts, lies, deadlocks, answers } = await hotRows(4_000, 1);

  expect({ effects, lies, deadlocks }).toEqual({ effects: receipts, lies: 0, deadlocks: 0 });
  expect(Object.values(answers).reduce((sum, count) => sum + count, 0)).toBe(4_000);
  // All that can happen did: written, refused for its version, and sent again.
  const kinds = ["opened succeeded", "opened precondition_failed", "replayed succeeded"];
  for (const kind of kinds) expect(answers[kind]).toBeGreaterThan(100);
  expect(effects).toBe(answers["opened succeeded"]);
});

test("broken: with a set-based effect and without the rule of one resource a batch, receipts lie", async () => {
  const here = await rig();
  await stockAll(here);

  const { effects, succeeded } = await setBasedRows(here, 4_000, 1);

  expect(succeeded).toBeGreaterThan(effects);
});

test("the same resource name of two tenants is locked in one order by everybody: no deadlock", async () => {
  const here = await rig();
  const tenants = ["acme", "globex"];
  for (const tenant of tenants) await stocked(here, "a", 0, tenant);
  const other = await instance(here, "w2");
  // Each effect takes its time, so that the two batches surely meet.
  await here.run(
    "create function dwell() returns trigger language plpgsql as $$ begin perform pg_sleep(0.02); return new; end $$",
  );
  await here.run("create trigger a_dwell after update on inventory for each row execute function dwell()");
  const send = (ports: Rig["ports"], tenant: string, round: number, n: number) =>
    propose(
      ports,
      here.as({ tenantId: tenant as never }),
      proposal(
        { tool: STOCK_TOOL.name, arguments: change("a", n), expectedVersion: round },
        `${round}-${n}-${tenant}`,
      ),
    );

  for (let round = 0; round < 10; round++) {
    const there = tenants.map((tenant) => send(here.ports, tenant, round, 1));
    const back = [...tenants].reverse().map((tenant) => send(other.ports, tenant, round, 2));
    await Promise.all([...there, ...back]);
  }

  expect(await deadlocksOf(here)).toBe(0);
});
