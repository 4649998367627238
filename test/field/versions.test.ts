import { describe, expect, test } from "vitest";
import { executeLater } from "../../src/service/cancel.ts";
import { preset } from "../connectors/errand.ts";
import { instance } from "../support/instance.ts";
import { rig, STOCK_TOOL } from "../support/rig.ts";
import { orderTool, type Shop, shop } from "../support/shop.ts";
import { change, rowsOf, stocked } from "../support/stock.ts";

/** The shop's items as documents with a strong tag, written only under the version that was read. */
async function documents(): Promise<Shop> {
  const contract = preset("http/etag-document", {
    requestLife: "3s",
    maxPause: "2s",
    lease: "6s",
    settle: { bounded: "8s" },
    backoff: { first: "100ms", max: "1s" },
    attemptsMax: 3,
  });
  const tool = orderTool(contract, {
    name: "items.set",
    input: {
      type: "object",
      required: ["warehouse", "item", "available"],
      properties: {
        warehouse: { type: "string" },
        item: { type: "string" },
        available: { type: "integer", minimum: 0 },
      },
    },
    resource: { type: "Item", id: "{warehouse}/{item}", parents: [] },
    expectedVersion: "required",
  });
  return shop({ tools: [tool], guarantees: { etag: "strong", marker: true } });
}

const set = (here: Shop, version: string, more: Parameters<Shop["done"]>[1] = {}) =>
  here.done({ warehouse: "main", item: "bolt", available: 18 }, { tool: "items.set", version, ...more });
const writes = (here: Shop) => here.provider.requests().filter((request) => request.method === "PUT");

describe("K10, K11: versions", () => {
  test("C089: an old plan that is executed late finds that a newer one was applied, and is refused where it would write", async () => {
    const here = await rig();
    await stocked(here, "a", 7);
    const old = await here.done(change("a", 5), { version: 7, execute: "later" });
    const fresh = await here.done(change("a", 9), { version: 7 });

    const executed = await executeLater(here.ports, here.session, old.id);

    expect(fresh.state).toBe("succeeded");
    expect(executed.operation).toMatchObject({
      state: "rejected",
      reason: "precondition_failed",
      currentVersion: "8",
    });
    expect(await here.stock("a")).toEqual({ available: 9, version: 8, writes: 1 });
  });

  test("C097: of two writers with one version, through two instances at the same moment, one wins", async () => {
    const here = await rig();
    const other = await instance(here, "w2");
    await stocked(here, "a", 42);
    const waiting = await Promise.all(
      [5, 6].map((available) => here.done(change("a", available), { version: 42, execute: "later" })),
    );

    const executed = await Promise.all(
      waiting.map(({ id }, n) => executeLater(n === 0 ? here.ports : other.ports, here.session, id)),
    );

    const states = executed.map(({ operation }) => operation.reason ?? operation.state).sort();
    expect(states).toEqual(["precondition_failed", "succeeded"]);
    expect(await here.stock("a")).toMatchObject({ version: 43, writes: 1 });
  });

  test("C098: a conflict ends the operation with both versions; it is not sent again with the current one", async () => {
    const here = await documents();
    here.provider.writeAsSomebodyElse("main/bolt", 7);

    const operation = await set(here, '"v1"');
    const later = await here.drive(operation);

    expect(later).toMatchObject({
      state: "rejected",
      reason: "precondition_failed",
      expectedVersion: '"v1"',
      currentVersion: '"v2"',
    });
    expect(writes(here)).toHaveLength(1);
  });

  test("C116: what looks right is not our effect: somebody else set it so while our request was lost", async () => {
    const here = await documents();
    here.provider.fault("drop_before", { match: { method: "PUT" } });
    const lost = await set(here, '"v1"');
    here.provider.writeAsSomebodyElse("main/bolt", 18);

    const left = await here.drive(lost);

    expect(lost.state).toBe("unknown");
    expect(left.state).not.toBe("succeeded");
    expect(here.provider.journal().filter((effect) => effect.by === "request")).toEqual([]);
  });

  test("a write whose answer was lost is told by its own marker: one effect, and no second one under the same version", async () => {
    const here = await documents();
    here.provider.fault("drop_after", { match: { method: "PUT" } });

    const settled = await here.drive(await set(here, '"v1"'));

    expect(settled).toMatchObject({ state: "succeeded" });
    expect(here.provider.journal().filter((effect) => effect.by === "request")).toHaveLength(1);
  });

  test("C101: a hundred who take one of sixty through the ledger's own database: sixty succeed, and nothing is oversold", async () => {
    const take = {
      ...STOCK_TOOL,
      name: "inventory.take",
      lookalikes: "off" as const,
      expectedVersion: "none" as const,
      input: { type: "object", properties: { warehouse: {}, item: {} } },
      sql: {
        perform:
          "update inventory set available = available - 1, version = version + 1 where tenant_id = :tenant and warehouse = :warehouse and item = :item returning available",
      },
    };
    const here = await rig({ tools: [take] });
    await here.run("insert into inventory values ('acme', 'wh_1', 'a', 60, 0)");
    const other = await instance(here, "w2");

    const operations = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        here.done({ warehouse: "wh_1", item: "a" }, { tool: take.name, key: `k${n}` }),
      ),
    );

    const refused = operations.filter((operation) => operation.reason === "provider_refused");
    expect(refused).toHaveLength(40);
    expect(await here.stock("a")).toMatchObject({ available: 0, writes: 60 });
    expect(await rowsOf(here, "receipts")).toBe(100);
    expect(await other.ledger.list(here.session.tenantId, { state: "succeeded", max: 200 })).toHaveLength(60);
  });
});
