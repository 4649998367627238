import { describe, expect, test } from "vitest";
import { cancel } from "../../src/service/cancel.ts";
import { halt } from "../../src/service/halt.ts";
import type { Proposed } from "../../src/service/propose.ts";
import { STOCK_TOOL } from "../support/rig.ts";
import { type Shop, shop } from "../support/shop.ts";
import { change, refusal, rowsOf, stocked } from "../support/stock.ts";

const WINDOW_MS = 10 * 60_000;

const STATES = ["succeeded", "rejected", "unknown", "authorized", "executing"] as const;
type Made = (typeof STATES)[number];

/** An operation that is in this state; its order, its key and its state have one name. */
async function made(here: Shop, state: Made): Promise<Proposed> {
  if (state === "unknown") here.provider.fault("drop_after");
  if (state === "executing") here.provider.fault("slow", { ms: 1_500 });
  const proposed = await send(here, state, { key: state });
  return state === "executing" ? proposed : { ...proposed, operation: await settledBy(proposed) };
}

const send = (here: Shop, state: Made, more: { key?: string; quantity?: number } = {}) => {
  const { quantity = state === "rejected" ? 5_000 : 1, ...rest } = more;
  const execute = state === "authorized" ? "later" : "now";
  return here.ask({ order: state, item: "main/bolt", quantity }, { tool: "orders.place", execute, ...rest });
};
const settledBy = async ({ operation, done }: Proposed) => (await done) ?? operation;

describe("a key that is known", () => {
  test("C002: sent again with the same proposal gives its operation in whatever state, and is no second effect", async () => {
    const here = await shop({ of: "nothing" });
    for (const state of STATES) {
      const first = await made(here, state);
      const orders = here.orders();

      const again = await send(here, state, { key: state });

      expect(first.operation.state).toBe(state);
      expect(again).toMatchObject({ how: "replayed", operation: { id: first.operation.id, state } });
      expect(again.done).toBeUndefined();
      await first.done;
      expect(here.orders() - orders).toBe(state === "executing" ? 1 : 0);
    }
    expect(await rowsOf(here, "operations")).toBe(STATES.length);
    // All but the one that waits have sent, and each has sent once.
    expect(here.provider.requests()).toHaveLength(STATES.length - 1);
  });

  test("C061: sent with other content is refused, in whatever state its operation is, and nothing is stored or shown", async () => {
    const here = await shop({ of: "nothing" });
    for (const state of STATES) {
      const first = await made(here, state);

      const answer = await refusal(send(here, state, { key: state, quantity: 501 }));

      expect({ state, code: answer.code }).toEqual({ state, code: "key_reused" });
      expect(answer.operationId).toBeUndefined();
      await first.done;
    }
    expect(await rowsOf(here, "operations")).toBe(STATES.length);
    expect(await rowsOf(here, "intent_keys")).toBe(STATES.length);
  });

  test("waiting for people, gives the operation that waits", async () => {
    const here = await shop({ tool: { autonomy: "never" } });

    const first = await here.place("o1", { key: "k" });
    const again = await here.ask(
      { order: "o1", item: "main/bolt", quantity: 1 },
      { tool: "orders.place", key: "k" },
    );

    expect(first.state).toBe("proposed");
    expect(again).toMatchObject({ how: "replayed", operation: { id: first.id, state: "proposed" } });
  });

  test("is spent for ever once its operation's details were pruned, and executes nothing", async () => {
    const here = await shop();
    await here.place("o1", { key: "k" });
    await here.run("delete from operations");

    const same = await refusal(here.place("o1", { key: "k" }));
    const other = await refusal(here.place("o2", { key: "k" }));

    expect([same.code, other.code]).toEqual(["key_spent", "key_spent"]);
    expect(here.orders()).toBe(1);
  });

  test("C056: of a rejected operation is not taken by the corrected proposal; a new key is a new operation", async () => {
    const here = await shop();
    const wrong = await here.place("o1", { key: "k1", quantity: 5_000 });

    const reused = await refusal(here.place("o1", { key: "k1", quantity: 5 }));
    const right = await here.place("o1", { key: "k2", quantity: 5 });

    expect(wrong).toMatchObject({ state: "rejected", reason: "provider_refused" });
    expect(reused.code).toBe("key_reused");
    expect(right.state).toBe("succeeded");
    expect(right.id).not.toBe(wrong.id);
    expect(here.provider.requests().map((request) => request.key)).toEqual([wrong.id, right.id]);
  });

  test("still answers with its operation while a halt stands: a retry must not be told that nothing was stored", async () => {
    const here = await shop();
    const first = await here.place("o1", { key: "k" });
    await halt(here.ports, here.as({ roles: ["operator"] }), { scope: "tenant", reason: "drill" });

    const again = await here.ask(
      { order: "o1", item: "main/bolt", quantity: 1 },
      { tool: "orders.place", key: "k" },
    );
    const other = await refusal(here.place("o1", { key: "k", quantity: 2 }));
    const fresh = await refusal(here.place("o2", { key: "k2" }));

    expect(again).toMatchObject({ how: "replayed", operation: { id: first.id, state: "succeeded" } });
    expect([other.code, fresh.code]).toEqual(["key_reused", "halted"]);
    expect(await rowsOf(here, "intent_keys")).toBe(1);
  });
});

test("C054: a key means something only to its own tenant and principal, and never to another tool or resource", async () => {
  const tools = [STOCK_TOOL, { ...STOCK_TOOL, name: "inventory.other" }];
  const here = await shop({ tools: tools });
  for (const tenant of ["acme", "globex"]) await stocked(here, "a", 1, tenant);
  await stocked(here, "b", 1);
  const foreign = here.as({ tenantId: "globex" as never });
  const neighbour = here.as({ principalId: "test#bob" });

  const mine = await here.done(change("a"), { version: 1, key: "k1" });
  const theirs = await here.done(change("a"), { version: 1, key: "k1", session: foreign });
  const bobs = await here.done(change("a", 5), { version: 2, key: "k1", session: neighbour });
  const otherTool = await refusal(here.done(change("a"), { version: 1, key: "k1", tool: "inventory.other" }));
  const otherResource = await refusal(here.done(change("b"), { version: 1, key: "k1" }));

  expect(new Set([mine.id, theirs.id, bobs.id]).size).toBe(3);
  expect([mine, theirs, bobs].map((operation) => operation.state)).toEqual(Array(3).fill("succeeded"));
  expect([otherTool.code, otherResource.code]).toEqual(["key_reused", "key_reused"]);
});

describe("without a key", () => {
  test("C001: an equal proposal joins the operation that is not settled, and there is one effect", async () => {
    const here = await shop({ of: "nothing" });
    here.provider.fault("drop_after");
    const first = await here.place("o1");

    const second = await here.ask({ order: "o1", item: "main/bolt", quantity: 1 }, { tool: "orders.place" });

    expect(first.state).toBe("unknown");
    expect(second).toMatchObject({ how: "joined", operation: { id: first.id, state: "unknown" } });
    expect(second.done).toBeUndefined();
    expect(here.provider.requests()).toHaveLength(1);
  });

  test("C002: an equal one that succeeded a moment ago is refused and named; a new key means a second one", async () => {
    const here = await shop();
    const first = await here.place("o1");

    const second = await refusal(here.place("o1"));
    const meant = await here.place("o1", { key: "second" });

    expect(second).toMatchObject({ code: "looks_the_same", operationId: first.id });
    expect(second.next).toContain("new Idempotency-Key");
    expect(meant.state).toBe("succeeded");
    expect(here.orders()).toBe(2);
  });

  test("an equal one that succeeded longer ago than ten minutes is another intent", async () => {
    const here = await shop();
    await here.place("o1");

    await here.clock.ahead(WINDOW_MS - 2_000);
    const early = await refusal(here.place("o1"));
    await here.clock.ahead(3_000);
    const late = await here.place("o1");

    expect(early.code).toBe("looks_the_same");
    expect(late.state).toBe("succeeded");
    expect(here.orders()).toBe(2);
  });

  test("an equal one that was rejected or cancelled had no effect, so nothing looks the same as it", async () => {
    const here = await shop();
    const waiting = await here.place("o1", { execute: "later" });
    await cancel(here.ports, here.session, waiting.id);

    const again = await here.place("o1");

    expect(again).toMatchObject({ state: "succeeded" });
  });
});

describe("with a new key", () => {
  test.each(["unknown", "executing"] as const)(
    "an equal operation that is %s refuses a second one until it has settled; then two keys are two effects",
    async (state) => {
      const here = await shop();
      const first = await made(here, state);

      const early = await refusal(send(here, state, { key: "k2" }));
      const stored = await rowsOf(here, "operations");
      await first.done;
      await here.clock.ahead(2_000);
      const settled = await here.step(first.operation);
      const late = await settledBy(await send(here, state, { key: "k2" }));

      expect(early).toMatchObject({ code: "equal_effect_in_doubt", operationId: first.operation.id });
      expect(stored).toBe(1);
      expect([settled.state, late.state]).toEqual(["succeeded", "succeeded"]);
      expect(here.orders()).toBe(2);
    },
  );
});
