import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { POSTGRES } from "../../src/connectors/marker.ts";
import { MARKER_TABLE } from "../../src/core/marker-message.ts";
import type { Errand } from "../../src/service/ports.ts";
import { freePort } from "../servers/launch.ts";
import { type PostgresServer, postgres } from "../servers/postgres.ts";
import { STOCK, STOCK_SQL, setStock } from "../servers/stock-table.ts";
import { cutProxy } from "../support/cut-proxy.ts";
import { type ErrandChoices, errandOf, preset } from "./errand.ts";
import { closeAfter } from "./rig.ts";

const CONTRACT = preset("postgres/marker", { requestLife: "10s", maxPause: "1s", lease: "15s" });

let server: PostgresServer;
let items = 0;
beforeAll(async () => {
  server = await postgres.start();
  for (const text of [MARKER_TABLE, ...STOCK]) await server.run(text);
}, 120_000);
afterAll(async () => {
  await server.stop();
});

function connectorTo(url = server.url) {
  const connector = POSTGRES.connect({ url });
  closeAfter(() => connector.close());
  return connector;
}

/** An item of its own with version 7, and an errand that sets it to 18. */
async function setting(args: Record<string, unknown> = {}, choices: ErrandChoices = {}): Promise<Errand> {
  items += 1;
  const item = `item-${items}`;
  await server.run("insert into stock (tenant_id, item, available, version) values ('acme', $1, 20, 7)", [
    item,
  ]);
  return errandFor(item, args, { operation: items, ...choices });
}

function errandFor(item: string, args: Record<string, unknown>, choices: ErrandChoices): Errand {
  const more = { resource: item, expectedVersion: "7", ...choices };
  const errand = errandOf(CONTRACT, { ...more, arguments: { item, available: 18, ...args } as never }); // JSON.
  return { ...errand, tool: { ...errand.tool, sql: STOCK_SQL } };
}

async function effects({ action }: Errand): Promise<number> {
  const rows = await server.run("select 1 from stock_journal where operation = $1", [action.operationId]);
  return rows.length;
}

describe("the effect and its marker", () => {
  test("are one commit: the answer is the row, and a repeat finds the marker", async () => {
    const errand = await setting();
    const connector = connectorTo();

    const outcome = await connector.perform(errand);
    const again = await connector.perform(errand);

    expect(outcome).toMatchObject({
      kind: "confirmed",
      evidence: { data: { row: { available: 18, version: 8 } } },
    });
    expect(again).toMatchObject({ kind: "lost", answer: "duplicate" });
    expect(await connector.lookUp(errand, "marker")).toMatchObject({ kind: "confirmed" });
    expect(await effects(errand)).toBe(1);
  });

  test("of many at once under one identity happen once", async () => {
    const errand = await setting();
    const connector = connectorTo();

    const outcomes = await Promise.all(Array.from({ length: 6 }, () => connector.perform(errand)));

    expect(outcomes.filter(({ kind }) => kind === "confirmed")).toHaveLength(1);
    expect(await effects(errand)).toBe(1);
  });

  test("leave no marker when the version is another, the row is not there or the value is refused", async () => {
    const stale = await setting();
    await setStock(server, stale.action.resource.id, 18);
    const absent = errandFor("no such item", {}, { operation: 900 });
    const refused = await setting({ available: -1 });
    const connector = connectorTo();

    expect(await connector.perform(stale)).toMatchObject({
      kind: "refused",
      reason: "precondition_failed",
      detail: expect.stringContaining("which is 8"),
    });
    expect(await connector.perform(absent)).toMatchObject({ kind: "refused", reason: "not_found" });
    expect(await connector.perform(refused)).toMatchObject({ kind: "refused", reason: "provider_refused" });
    // The same value by somebody else is never taken as ours.
    for (const errand of [stale, absent, refused])
      expect(await connector.lookUp(errand, "marker")).toEqual({ kind: "absent" });
  });

  test("under the same identity with another action are a mismatch and a conflict", async () => {
    const errand = await setting();
    const connector = connectorTo();
    await connector.perform(errand);
    const other = { ...errand, digest: `sha-256:${"x".repeat(43)}` };

    expect(await connector.perform(other)).toMatchObject({ kind: "lost", answer: "mismatch" });
    expect(await connector.lookUp(other, "marker")).toMatchObject({ kind: "conflict" });
  });

  test("of another tenant with the same operation are two", async () => {
    const errand = await setting();
    const connector = connectorTo();
    await connector.perform(errand);
    const other = { ...errand, action: { ...errand.action, tenantId: "globex" as never } };

    expect(await connector.lookUp(other, "marker")).toEqual({ kind: "absent" });
  });
});

describe("a tombstone", () => {
  test("stops a late first attempt for ever", async () => {
    const errand = await setting();
    const connector = connectorTo();

    expect(await connector.bar(errand)).toMatchObject({ raised: true });
    expect(await connector.bar(errand)).toMatchObject({ raised: true });
    expect(await connector.perform(errand)).toMatchObject({ kind: "refused" });
    expect(await connector.lookUp(errand, "marker")).toEqual({ kind: "absent", sawBarrier: true });
    expect(await effects(errand)).toBe(0);
  });

  test("that comes too late does not stand", async () => {
    const errand = await setting();
    const connector = connectorTo();
    await connector.perform(errand);

    expect(await connector.bar(errand)).toMatchObject({ raised: false });
    expect(await effects(errand)).toBe(1);
  });
});

describe("a lost answer", () => {
  test.each(["before commit", "after commit"] as const)(
    "%s is lost, and the marker says which it was",
    async (where) => {
      const errand = await setting();
      const proxy = await cutProxy(server.url);
      const cut = proxy.cut(where, errand.action.operationId);

      const outcome = await connectorTo(proxy.url).perform(errand);
      await cut;

      expect(outcome).toMatchObject({ kind: "lost", seen: { phase: "at_commit" } });
      const found = await connectorTo().lookUp(errand, "marker");
      expect(found.kind).toBe(where === "after commit" ? "confirmed" : "absent");
      expect(await effects(errand)).toBe(where === "after commit" ? 1 : 0);
    },
  );

  test("is not read while the transaction is under way: the lookup waits for its end, where a read, with a lock or without, finds nothing", async () => {
    const errand = await setting();
    const { operationId, tenantId } = errand.action;
    const inFlight = await server.hold();
    await inFlight.run("begin");
    await inFlight.run(
      "insert into writ_operations (tenant_id, operation_id, digest, state) values ($1, $2, $3, 'applied')",
      [tenantId, operationId, errand.digest],
    );

    const plainly = await server.run("select 1 from writ_operations where operation_id = $1", [operationId]);
    const locking = await server.run("select 1 from writ_operations where operation_id = $1 for share", [
      operationId,
    ]);
    const looking = connectorTo().lookUp(errand, "marker");
    await expect.poll(() => blocked(), { timeout: 10_000 }).toBeGreaterThan(0);
    await inFlight.run("commit");
    await inFlight.release();

    expect([plainly, locking]).toEqual([[], []]);
    expect(await looking).toMatchObject({ kind: "confirmed" });
  });
});

async function blocked(): Promise<number> {
  const [row] = await server.run(
    "select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return Number(row?.n ?? 0);
}

describe("what is provably nothing", () => {
  test("a closed gate, before the transaction or before its commit", async () => {
    let asked = 0;
    const errand = await setting({}, { gate: () => ++asked < 2 });
    const connector = connectorTo();

    expect(await connector.perform(errand)).toMatchObject({ kind: "absent" });
    expect(asked).toBe(2);
    expect(await effects(errand)).toBe(0);
  });

  test("a lock that is not had in time", async () => {
    const errand = await setting();
    const brief = { ...errand, contract: { ...CONTRACT, requestLifeMs: 1_000 } };
    const holder = await server.hold();
    await holder.run("begin");
    await holder.run("select 1 from stock where item = $1 for update", [errand.action.resource.id]);

    const outcome = await connectorTo().perform(brief);
    await holder.run("rollback");
    await holder.release();

    expect(outcome).toMatchObject({ kind: "absent" });
    expect(await connectorTo().lookUp(errand, "marker")).toEqual({ kind: "absent" });
    expect(await effects(errand)).toBe(0);
  });

  test("no server, or no table for markers", async () => {
    const errand = await setting();
    const nowhere = new URL(server.url);
    nowhere.port = String(await freePort());
    const without = new URL(server.url);
    without.searchParams.set("options", "-c search_path=pg_catalog");

    expect(await connectorTo(nowhere.href).perform(errand)).toMatchObject({ kind: "absent" });
    expect(await connectorTo(without.href).perform(errand)).toMatchObject({
      kind: "absent",
      why: expect.stringContaining("writ_operations"),
    });
    expect(await connectorTo(nowhere.href).lookUp(errand, "marker")).toMatchObject({ kind: "unclear" });
    expect(await connectorTo(without.href).lookUp(errand, "marker")).toMatchObject({ kind: "unclear" });
  });
});

test("values are parameters, never text", async () => {
  const errand = await setting();
  const hostile = `x'; drop table stock; --`;
  const there = errandFor(hostile, {}, { operation: 901 });

  expect(await connectorTo().perform(there)).toMatchObject({ kind: "refused", reason: "not_found" });
  expect(await effects(errand)).toBe(0);
  expect(await server.run("select to_regclass('stock') as t")).toEqual([{ t: "stock" }]);
});

test.each([
  "mysql://u:p@h/d",
  "postgres://u:p@one,two/d",
  "postgres://h/d",
  "postgres://u:p@h",
  "not an address",
])("the connection string %j is refused", (url) => {
  expect(() => POSTGRES.connect({ url })).toThrow(/provider's "database"/);
});
