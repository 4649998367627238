import { describe, expect, test } from "vitest";
import { proposal } from "../../src/core/proposal.ts";
import { executeLater } from "../../src/service/cancel.ts";
import { propose } from "../../src/service/propose.ts";
import { instance } from "../support/instance.ts";
import { rig, STOCK_TOOL } from "../support/rig.ts";
import { orderTool, shop } from "../support/shop.ts";
import { change, refusal, rowsOf, stocked } from "../support/stock.ts";

describe("K1: the same effect is asked for again", () => {
  test("C003: after an edit was executed, the original asked for again is told what became of it, and is not executed", async () => {
    const here = await rig();
    await stocked(here, "a");
    const original = await here.done(change("a", 18), { version: 42, execute: "later", key: "k1" });
    const edited = await here.done(change("a", 15), { version: 42, supersedes: original.id });

    const sameKey = await here.ask(change("a", 18), { version: 42, execute: "later", key: "k1" });
    const noKey = await here.done(change("a", 18), { version: 42 });

    expect(edited.state).toBe("succeeded");
    expect(sameKey).toMatchObject({
      how: "replayed",
      operation: { id: original.id, state: "rejected", reason: "superseded" },
    });
    expect(noKey).toMatchObject({ state: "rejected", reason: "precondition_failed", currentVersion: "43" });
    expect(await here.stock("a")).toEqual({ available: 15, version: 43, writes: 1 });
  });

  test("C006: a batch of which one waits, sent again as a whole after a restart, executes each member once", async () => {
    const here = await rig();
    for (const item of ["a", "b"]) await stocked(here, item);
    const batch = [
      { item: "a", execute: "now" },
      { item: "b", execute: "later" },
    ] as const;
    const send = (ports: typeof here.ports) =>
      Promise.all(
        batch.map(({ item, execute }) =>
          propose(
            ports,
            here.session,
            proposal(
              { tool: STOCK_TOOL.name, arguments: change(item), expectedVersion: 42, execute },
              `batch-${item}`,
            ),
          ),
        ),
      );
    const first = await send(here.ports);
    const { ports } = await instance(here, "after the restart");

    const again = await send(ports);
    await executeLater(ports, here.session, again[1]?.operation.id as never);
    const third = await send(ports);

    expect(first.map(({ operation }) => operation.state)).toEqual(["succeeded", "authorized"]);
    expect(again.map(({ how }) => how)).toEqual(["replayed", "replayed"]);
    expect(third.map(({ how, operation }) => [how, operation.state])).toEqual([
      ["replayed", "succeeded"],
      ["replayed", "succeeded"],
    ]);
    for (const item of ["a", "b"]) expect(await here.stock(item)).toMatchObject({ writes: 1 });
  });

  test("C009, C010: a client that gave up and calls again under the same key while it runs gets its operation; the provider sees one request", async () => {
    const here = await shop();
    here.provider.fault("slow", { ms: 1_200 });
    const call = () =>
      here.ask({ order: "o1", item: "main/bolt", quantity: 1 }, { tool: "orders.place", key: "r-1" });

    const first = await call();
    const second = await call();
    await first.done;
    const third = await call();

    expect(second).toMatchObject({
      how: "replayed",
      operation: { id: first.operation.id, state: "executing" },
    });
    expect(third).toMatchObject({ how: "replayed", operation: { state: "succeeded" } });
    expect(here.provider.requests()).toHaveLength(1);
  });
});

describe("K6: whose key, and for what", () => {
  test("C055: a tool that asks for a key refuses a proposal without one, and stores nothing", async () => {
    const here = await shop({ tool: { intentKey: "required" } });

    const answer = await refusal(here.place("o1"));

    expect(answer.code).toBe("idempotency-key-missing");
    expect(await rowsOf(here, "operations")).toBe(0);
    expect(here.provider.requests()).toHaveLength(0);
  });
});

describe("K7: what another process knew earlier", () => {
  test("C062: an operation that one instance saw executing is finished to it once another has finished it", async () => {
    const here = await shop();
    const other = await instance(here, "w2");
    here.provider.fault("slow", { ms: 1_000 });
    const begun = await here.ask({ order: "o1", item: "main/bolt", quantity: 1 }, { tool: "orders.place" });
    const { tenantId, id } = begun.operation;

    const early = await other.ledger.read(tenantId, id);
    await begun.done;
    const late = await other.ledger.read(tenantId, id);

    expect([early?.value.state, late?.value.state]).toEqual(["executing", "succeeded"]);
  });
});

describe("K9: names that look alike", () => {
  test("C080, C081: two principals whose names only look alike share nothing, and content keeps its own form", async () => {
    const tool = orderTool(STOCK_TOOL.contract, {
      provider: "stock",
      sql: {
        perform:
          "insert into inventory (tenant_id, warehouse, item, available, version) values (:tenant, :item, :order, :quantity, 0) returning warehouse",
      },
    });
    const here = await rig({ tools: [tool] });
    const names = ["test#zo\u00eb", "test#zoe\u0308"];
    const cities = ["K\u00f6ln", "Ko\u0308ln"];

    const operations = [];
    for (const [n, principalId] of names.entries())
      operations.push(
        await here.done(
          { order: `o${n}`, item: cities[n], quantity: 1 },
          { tool: tool.name, key: "k1", session: here.as({ principalId }) },
        ),
      );

    expect(operations.map((operation) => operation.state)).toEqual(["succeeded", "succeeded"]);
    expect(operations.map((operation) => operation.principalId)).toEqual(names);
    const rows = await here.run("select warehouse from inventory order by item");
    expect(rows.map((row) => row.warehouse)).toEqual(cities);
  });
});
