import { describe, expect, test } from "vitest";
import type { Operation } from "../../src/core/operation.ts";
import { proposal } from "../../src/core/proposal.ts";
import { LEDGER_BOUNDS, postgresLedger } from "../../src/ledger/ledger.ts";
import { authorityView } from "../../src/service/authority.ts";
import { executeLater } from "../../src/service/cancel.ts";
import { propose } from "../../src/service/propose.ts";
import { movableClock } from "../support/clock.ts";
import { breaking } from "../support/flown.ts";
import { openingOf } from "../support/instance.ts";
import { type Rig, rig, STOCK_TOOL } from "../support/rig.ts";
import { change, refusal, rowsOf, stocked } from "../support/stock.ts";

/** Runs `body` (PL/pgSQL) whenever the tool's SQL touches an item. */
async function onTouch(here: Rig, body: string): Promise<void> {
  await here.run(
    `create function touched() returns trigger language plpgsql as $$ begin ${body} return new; end $$`,
  );
  await here.run(
    "create trigger a_touched before update on inventory for each row execute function touched()",
  );
}

const summary = (operations: readonly Operation[]) =>
  operations.map((operation) => operation.reason ?? operation.state);

describe("an effect whose permission ends while it is performed", () => {
  /** Touching "slow" takes longer than any permission lives. */
  async function slowRig(): Promise<Rig> {
    // One commit at a time: the clock jumps for everybody.
    const here = await rig({ bounds: { ...LEDGER_BOUNDS, inFlightMax: 1 } });
    await movableClock(here);
    await onTouch(
      here,
      "if new.item = 'slow' then perform setval('test_ahead', 120000 + (select last_value from test_ahead)); end if;",
    );
    for (const item of ["slow", "b"]) await stocked(here, item);
    return here;
  }

  test.each(["now", "later"] as const)(
    "(asked for %s) is rolled back and rejected as expired, and its neighbour is not touched",
    async (when) => {
      const here = await slowRig();

      const operations = await Promise.all(
        ["slow", "b"].map(async (item) => {
          const operation = await here.done(change(item), { version: 42, execute: when });
          return when === "now"
            ? operation
            : (await executeLater(here.ports, here.session, operation.id)).operation;
        }),
      );

      const [slow, neighbour] = operations;
      for (const operation of operations) expect(await here.again(operation)).toEqual(operation);
      expect(slow).toMatchObject({ state: "rejected", reason: "expired" });
      // The neighbour's permission, when it is as old, has ended as well if it comes second.
      if (when === "now") expect(neighbour?.state).toBe("succeeded");
      expect(await here.stock("b")).toMatchObject({ writes: neighbour?.state === "succeeded" ? 1 : 0 });
      expect(await here.stock("slow")).toEqual({ available: 10, version: 42, writes: 0 });
      expect(await rowsOf(here, "receipts")).toBe(2);
    },
  );

  test("broken: without asking again before the commit, it is there after its permission ended", async () => {
    const here = await slowRig();
    const rule =
      "writ_require(i.fresh_until_ms is null or clock.at < writ_at(i.fresh_until_ms), 'the permission ended before the commit')";
    const ledger = postgresLedger(breaking(here.database, rule, "true"));
    const ports = { ...here.ports, ledger, authority: authorityView(ledger) };
    Object.assign(here.ports, ports);

    const operation = await here.done(change("slow"), { version: 42 });

    expect(operation.state).toBe("succeeded");
    expect(operation.settledAt).toBeGreaterThan(
      operation.authorization?.expiresAt ?? Number.POSITIVE_INFINITY,
    );
  });
});

describe("a tool's own SQL", () => {
  test("that touches more than one row is rolled back, and its neighbours are not", async () => {
    const wide = {
      ...STOCK_TOOL,
      name: "inventory.wide",
      expectedVersion: "none" as const,
      sql: {
        perform:
          "update inventory set available = :available where tenant_id = :tenant and warehouse = :warehouse and item like :item || '%' returning item",
      },
    };
    const here = await rig({ tools: [STOCK_TOOL, wide] });
    for (const item of ["x1", "x2", "b"]) await stocked(here, item);

    const operations = await Promise.all([
      here.done(change("x"), { tool: wide.name }),
      here.done(change("b"), { version: 42 }),
    ]);

    expect(summary(operations)).toEqual(["provider_refused", "succeeded"]);
    expect(operations[0]?.attempts[0]?.outcome).toMatchObject({
      detail: "the tool's SQL touched 2 rows, and may touch 1",
    });
    for (const operation of operations) expect(await here.again(operation)).toEqual(operation);
    expect(await here.stock("x1")).toMatchObject({ writes: 0 });
    expect(await here.stock("x2")).toMatchObject({ writes: 0 });
  });

  test("may return whatever PostgreSQL has: what cannot stand in a receipt is named there", async () => {
    const odd = {
      ...STOCK_TOOL,
      name: "inventory.odd",
      sql: {
        perform: `${STOCK_TOOL.sql?.perform}, 'NaN'::float8 as nan, '-Infinity'::float8 as low, '\\x0102'::bytea as bytes,
          interval '1 day' as day, array[1.5, null] as list, now() as moment, '{"a": 1e400}'::jsonb as big, null as nothing`,
      },
    };
    const here = await rig({ tools: [odd] });
    await stocked(here, "a");

    const operation = await here.done(change("a"), { version: 42, tool: odd.name });

    expect(operation).toMatchObject({
      state: "succeeded",
      evidence: { data: { row: { nan: "NaN", low: "-Infinity", bytes: { type: "Buffer" }, nothing: null } } },
    });
    expect(await here.again(operation)).toEqual(operation);
    const jws = (await here.ledger.receipt(operation.tenantId, operation.id)) ?? "";
    const claims = JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString());
    expect(claims.evidence).toEqual(operation.evidence);
  });

  test("whatever error it ends with, is that operation's answer and nobody else's", async () => {
    const here = await rig();
    const errors = ["23505", "22012", "P0001", "42501", "57014", "XX000"];
    await onTouch(
      here,
      "if new.item like 'e%' then raise exception 'no' using errcode = substr(new.item, 2); end if;",
    );
    const items = [...errors.map((error) => `e${error}`), "a", "b", "c"];
    for (const item of items) await stocked(here, item);

    const operations = await Promise.all(items.map((item) => here.done(change(item), { version: 42 })));

    expect(summary(operations)).toEqual([
      ...errors.map(() => "provider_refused"),
      "succeeded",
      "succeeded",
      "succeeded",
    ]);
    expect(operations[0]?.attempts[0]?.outcome).toMatchObject({ detail: "23505: no" });
    for (const operation of operations) expect(await here.again(operation)).toEqual(operation);
    const [effects] = await here.run("select sum(writes)::int as n from inventory");
    expect(effects).toEqual({ n: 3 });
    expect(await rowsOf(here, "receipts")).toBe(items.length);
  });

  test.each(["40001", "40P01", "55P03"])(
    "C106: a conflict that passes (%s) is tried again under the same ids: one operation, one attempt, one effect",
    async (error) => {
      const here = await rig();
      await here.run("create sequence tries");
      await onTouch(
        here,
        `if new.item = 'hot' and nextval('tries') <= 2 then raise exception 'conflict' using errcode = '${error}'; end if;`,
      );
      for (const item of ["hot", "b"]) await stocked(here, item);

      const operations = await Promise.all(
        ["hot", "b"].map((item) => here.done(change(item), { version: 42, key: item })),
      );

      expect(summary(operations)).toEqual(["succeeded", "succeeded"]);
      expect(operations[0]?.attempts).toHaveLength(1);
      expect(await here.stock("hot")).toMatchObject({ writes: 1 });
      expect(await rowsOf(here, "operations")).toBe(2);
      expect((await here.run("select last_value::int as n from tries"))[0]?.n).toBeGreaterThanOrEqual(3);
    },
  );

  test("a conflict that does not pass is said to the caller, and nothing is stored", async () => {
    const here = await rig();
    await onTouch(here, "raise exception 'conflict' using errcode = '40001';");
    await stocked(here, "hot");

    const answer = await refusal(here.done(change("hot"), { version: 42, key: "k" }));

    expect(answer.code).toBe("ledger_unavailable");
    for (const table of ["operations", "events", "receipts", "intent_keys"])
      expect(await rowsOf(here, table)).toBe(0);
  });
});

describe("an item that the database cannot take", () => {
  test("fails alone: what rode with it in one batch is stored, claimed and recorded", async () => {
    const here = await rig();
    const items = Array.from({ length: 12 }, (_, n) => `i${n}`);
    for (const item of items) await stocked(here, item);
    const openings = await Promise.all(
      items.map((item) =>
        openingOf(
          here.ports,
          here.session,
          proposal({ tool: STOCK_TOOL.name, arguments: change(item), expectedVersion: 42 }, item),
        ),
      ),
    );

    const answers = await Promise.allSettled(
      openings.map((opening, n) =>
        here.ledger.open(
          n === 5 ? { ...opening, operation: { ...opening.operation, note: "a\u0000b" } } : opening,
        ),
      ),
    );

    expect(answers.map(({ status }) => status)).toEqual(
      items.map((_, n) => (n === 5 ? "rejected" : "fulfilled")),
    );
    expect(await here.stock("i5")).toMatchObject({ writes: 0 });
    const [effects] = await here.run("select sum(writes)::int as n, max(writes) as most from inventory");
    expect(effects).toEqual({ n: 11, most: 1 });
    expect(await rowsOf(here, "receipts")).toBe(11);
    expect(await rowsOf(here, "intent_keys")).toBe(11);
  });

  test("is not made of a caller's own words", async () => {
    const here = await rig();
    await stocked(here, "a");
    const claims = { tool: STOCK_TOOL.name, arguments: change("a"), expectedVersion: 42, note: "a\u0000b" };

    const { operation } = await propose(here.ports, here.session, proposal(claims, undefined));

    expect(operation).toMatchObject({ state: "succeeded", note: "a\ufffdb" });
    expect(await here.again(operation)).toEqual(operation);
  });
});

describe("too many at once", () => {
  test("are told so at once and stored not at all; sent again, they are served", async () => {
    const here = await rig({ bounds: { ...LEDGER_BOUNDS, batchMax: 1, inFlightMax: 1, waitingMax: 4 } });
    const items = Array.from({ length: 20 }, (_, n) => `i${n}`);
    for (const item of items) await stocked(here, item);
    const send = (item: string) => here.done(change(item), { version: 42, key: item });
    await here.ports.authority.refresh(here.session.tenantId);

    const first = await Promise.allSettled(items.map(send));
    const refused = items.filter((_, n) => first[n]?.status === "rejected");
    const codes = first.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
    const stored = await rowsOf(here, "operations");
    for (const item of refused) await send(item);

    expect(new Set(codes)).toEqual(new Set(["overloaded"]));
    expect(stored).toBe(items.length - refused.length);
    expect(refused.length).toBeGreaterThan(10);
    const [effects] = await here.run("select sum(writes)::int as n, max(writes) as most from inventory");
    expect(effects).toEqual({ n: items.length, most: 1 });
  });
});
