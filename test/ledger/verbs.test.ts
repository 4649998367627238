import { describe, expect, test } from "vitest";
import { proposal } from "../../src/core/proposal.ts";
import { statement } from "../../src/database/sql.ts";
import { claimAndExecute } from "../../src/service/claim.ts";
import { claimingOf, instance, openingOf } from "../support/instance.ts";
import { rig, STOCK_TOOL } from "../support/rig.ts";
import { shop } from "../support/shop.ts";
import { change, rowsOf, stocked } from "../support/stock.ts";

describe("a verb of the ledger", () => {
  test.each(["now", "later"] as const)(
    "C109: open, called again with the same operation (%s), gives the first answer and does nothing again",
    async (execute) => {
      const here = await rig();
      await stocked(here, "a");
      const claims = { tool: STOCK_TOOL.name, arguments: change("a"), expectedVersion: 42, execute };
      const opening = await openingOf(here.ports, here.session, proposal(claims, "k"));
      const other = await instance(here, "w2");

      const answers = [
        await here.ledger.open(opening),
        await here.ledger.open(opening),
        ...(await Promise.all([here.ledger.open(opening), other.ledger.open(opening)])),
      ];

      const operations = answers.map((answer) => (answer.kind === "opened" ? answer.operation : answer));
      for (const operation of operations) expect(operation).toEqual(operations[0]);
      expect(await here.stock("a")).toMatchObject({ writes: execute === "now" ? 1 : 0 });
      expect(await rowsOf(here, "operations")).toBe(1);
    },
  );

  test("record, twice at once from one revision through two instances, is recorded once; the other is told that it changed", async () => {
    const here = await shop({ of: "nothing" });
    const other = await instance(here, "w2");
    here.provider.fault("drop_after");
    const lost = await here.place("o1");
    const recording = (why: string) => ({
      operation: lost,
      progress: { ...lost, attention: why },
      events: [{ type: "attention" as const, actor: { worker: why }, data: { why } }],
      dueAt: null,
    });

    const answers = await Promise.all([
      here.ledger.record(recording("one")),
      other.ledger.record(recording("two")),
      other.ledger.record(recording("three")),
    ]);

    expect(answers.map((answer) => answer.kind).sort()).toEqual(["changed", "changed", "recorded"]);
    const [kept] = answers.flatMap((answer) => (answer.kind === "recorded" ? [answer.operation] : []));
    expect(await here.again(lost)).toEqual(kept);
    const events = await here.ledger.events(lost.tenantId, lost.id);
    expect(events.filter((event) => JSON.parse(event.body).type === "attention")).toHaveLength(2);
  });

  test("claim, behind somebody who only moved the due time, still claims: a due time is no revision", async () => {
    const here = await shop({ of: "nothing" });
    const other = await instance(here, "w2");
    const waiting = await here.place("o1", { execute: "later" });
    const read = await here.ledger.read(waiting.tenantId, waiting.id);
    const claiming = await claimingOf(here.ports, (ports) =>
      claimAndExecute(ports, waiting, read?.clock ?? 0),
    );

    let claim: ReturnType<typeof other.ledger.claim> | undefined;
    await here.database.transaction(async (tx) => {
      await tx.query(statement("update operations set due_at = due_at - interval '1 minute'", []));
      claim = other.ledger.claim(claiming);
      const waits =
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await expect.poll(() => here.run(waits), { timeout: 5_000, interval: 10 }).not.toEqual([]);
    });

    const answer = await claim;
    expect(answer).toMatchObject({
      kind: "claimed",
      operation: { state: "executing", attempts: [{ n: 1 }] },
    });
    expect(await here.again(waiting)).toEqual(answer?.kind === "claimed" ? answer.operation : undefined);
  });

  test("due, asked by many at once, gives each operation to one of them, and again when the reservation ends", async () => {
    const here = await shop({ of: "nothing" });
    const others = await Promise.all(["w2", "w3"].map((name) => instance(here, name)));
    for (let n = 0; n < 12; n++) await here.place(`o${n}`, { execute: "later", key: `k${n}` });
    await here.run("update operations set due_at = writ_now() - interval '1 second'");
    const ask = (ledger: typeof here.ledger) =>
      ledger.due({ max: 5, reserveMs: 5_000, exceptProviders: [], exceptTenants: [] });

    const taken = await Promise.all([here, ...others, ...others].map(({ ledger }) => ask(ledger)));
    const rest = await ask(here.ledger);
    await here.clock.ahead(5_001);
    const again = await ask(here.ledger);

    const ids = [...taken, rest].flatMap(({ value }) => value.map((operation) => operation.id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(12);
    expect(again.value).toHaveLength(5);
  });
});
