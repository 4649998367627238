import { describe, expect, test } from "vitest";
import { brokenLink } from "../../src/core/event.ts";
import { databaseKinds } from "../support/database.ts";
import { type Rig, rig } from "../support/rig.ts";

const stocked = async (here: Rig, item: string, version = 42): Promise<void> => {
  await here.run(
    "insert into inventory (tenant_id, warehouse, item, available, version) values ('acme', 'wh_1', $1, 10, $2)",
    [item, version],
  );
};
const change = (item: string, available = 18) => ({ warehouse: "wh_1", item, available });

describe.each(databaseKinds())(
  "the path of one operation in the ledger's own database, on a %s server",
  (kind) => {
    test("a normal write is claimed, performed and receipted in one commit", async () => {
      const here = await rig({ kind });
      await stocked(here, "item_1");

      const operation = await here.done(change("item_1"), { version: 42, key: "k1" });

      expect(operation).toMatchObject({ state: "succeeded", evidence: { kind: "row" } });
      expect(await here.stock("item_1")).toEqual({ available: 18, version: 43, writes: 1 });
      expect(await here.again(operation)).toEqual(operation);
      const events = await here.ledger.events(operation.tenantId, operation.id);
      expect(events.map((event) => JSON.parse(event.body).type)).toEqual([
        "proposed",
        "authorized",
        "claimed",
        "confirmed",
      ]);
      expect(brokenLink(events)).toBeUndefined();
      expect(await here.ledger.receipt(operation.tenantId, operation.id)).toMatch(/^ey/);
    });

    test("a stale version is rejected with the current one, and nothing is written", async () => {
      const here = await rig({ kind });
      await stocked(here, "item_1", 43);

      const operation = await here.done(change("item_1"), { version: 42 });

      expect(operation).toMatchObject({
        state: "rejected",
        reason: "precondition_failed",
        currentVersion: "43",
      });
      expect(await here.stock("item_1")).toMatchObject({ writes: 0 });
      expect(await here.again(operation)).toEqual(operation);
    });

    test("what the tool's own SQL refuses is rejected with its reason, and its neighbours are not touched", async () => {
      const here = await rig({ kind });
      const items = ["a", "b", "c", "d"];
      for (const item of items) await stocked(here, item);
      await here.run("alter table inventory add constraint plenty check (available < 100)");

      const operations = await Promise.all(
        items.map((item) => here.done(change(item, item === "c" ? 100 : 5), { version: 42 })),
      );

      expect(operations.map((operation) => operation.state)).toEqual([
        "succeeded",
        "succeeded",
        "rejected",
        "succeeded",
      ]);
      expect(operations[2]).toMatchObject({ reason: "provider_refused" });
      expect(await here.stock("c")).toMatchObject({ available: 10, writes: 0 });
      expect(await here.stock("d")).toMatchObject({ available: 5, writes: 1 });
    });

    test("something for later waits, and runs once however often it is asked to", async () => {
      const here = await rig({ kind });
      await stocked(here, "item_1");

      const waiting = await here.done(change("item_1"), { version: 42, execute: "later" });
      expect(waiting.state).toBe("authorized");
      expect(await here.again(waiting)).toEqual(waiting);
      const { executeLater } = await import("../../src/service/cancel.ts");
      const executed = await Promise.all(
        Array.from({ length: 8 }, () => executeLater(here.ports, here.session, waiting.id)),
      );
      await Promise.all(executed.map((one) => one.done));

      const operation = await here.again(waiting);
      expect(operation).toMatchObject({ state: "succeeded" });
      expect(operation.attempts).toHaveLength(1);
      expect(await here.stock("item_1")).toMatchObject({ writes: 1 });
    });
  },
);
