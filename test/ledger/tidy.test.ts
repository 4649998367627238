import { expect, test } from "vitest";
import { statement } from "../../src/database/sql.ts";
import { rig } from "../support/rig.ts";
import { change, rowsOf, stocked } from "../support/stock.ts";

test("tidying up forgets the rows that proposals met on, and none that is in use; look-alikes are still joined afterwards", async () => {
  const here = await rig();
  for (const item of ["a", "b"]) await stocked(here, item, 1);
  const first = await here.done(change("a"), { version: 1, key: "k" });
  await here.done(change("b"), { version: 1, execute: "later" });
  const held = here.database.transaction(async (tx) => {
    const row = await tx.query(
      statement("select 1 from effect_guards order by effect_digest limit 1 for update", []),
    );
    const more = await here.ledger.tidy();
    return { row, more, left: await rowsOf(here, "effect_guards") };
  });

  expect(await held).toMatchObject({ more: false, left: 1 });
  expect(await here.ledger.tidy()).toBe(false);
  expect(await rowsOf(here, "effect_guards")).toBe(0);
  const joined = await here.ask(change("b"), { version: 1 });
  expect([first.state, joined.how]).toEqual(["succeeded", "joined"]);
  expect((await here.stock("b"))?.writes).toBe(0);
});

test.each(["events", "receipts", "definitions", "authority_events"])(
  "%s cannot be emptied",
  async (table) => {
    const here = await rig();

    await expect(here.run(`truncate ${table} cascade`)).rejects.toThrow(/never change and never disappear/);
  },
);
