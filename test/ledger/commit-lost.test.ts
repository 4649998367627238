import { describe, expect, test } from "vitest";
import { proposal } from "../../src/core/proposal.ts";
import { executeLater } from "../../src/service/cancel.ts";
import type { Ledger } from "../../src/service/ledger-port.ts";
import type { Ports } from "../../src/service/ports.ts";
import { propose } from "../../src/service/propose.ts";
import { type Cut, type CutProxy, cutProxy } from "../support/cut-proxy.ts";
import { instance } from "../support/instance.ts";
import { type Rig, rig, STOCK_TOOL } from "../support/rig.ts";
import { type Shop, shop } from "../support/shop.ts";
import { change, rowsOf, stocked } from "../support/stock.ts";

const CUTS: readonly Cut[] = ["before commit", "after commit"];

/** The service on a wire that can be cut; `here` itself speaks to the database directly. */
async function behind(here: Rig): Promise<{ readonly ports: Ports; readonly proxy: CutProxy }> {
  const proxy = await cutProxy(here.url);
  const { ports } = await instance(here, "behind", proxy.url);
  await ports.authority.refresh(here.session.tenantId);
  return { ports, proxy };
}

const local = (here: Rig, ports: Ports, item: string) =>
  propose(
    ports,
    here.session,
    proposal({ tool: STOCK_TOOL.name, arguments: change(item), expectedVersion: 42 }, `key-${item}`),
  );

const order = (here: Shop, ports: Ports, name: string, execute: "now" | "later" = "now") =>
  propose(
    ports,
    here.session,
    proposal(
      { tool: "orders.place", arguments: { order: name, item: "main/bolt", quantity: 1 }, execute },
      `key-${name}`,
    ),
  );

describe.each(CUTS)("C103, C104: the connection breaks %s", (where) => {
  test("of an effect in our own database: it is there once, with its receipt, and the caller is told so", async () => {
    const here = await rig();
    await stocked(here, "a");
    const { ports, proxy } = await behind(here);
    const cut = proxy.cut(where, "key-a");

    const { operation } = await local(here, ports, "a");

    await cut;
    expect(operation.state).toBe("succeeded");
    expect(await here.again(operation)).toEqual(operation);
    expect(await here.stock("a")).toEqual({ available: 18, version: 43, writes: 1 });
    expect(await rowsOf(here, "operations")).toBe(1);
    expect(await rowsOf(here, "receipts")).toBe(1);
  });

  test("of a batch of effects: each is there once, none is lost", async () => {
    const here = await rig();
    const items = Array.from({ length: 24 }, (_, n) => `i${n}x`);
    for (const item of items) await stocked(here, item);
    const { ports, proxy } = await behind(here);
    const cut = proxy.cut(where, "key-i7x");

    const answers = await Promise.all(items.map((item) => local(here, ports, item)));

    await cut;
    expect(answers.map(({ operation }) => operation.state)).toEqual(items.map(() => "succeeded"));
    const [effects] = await here.run("select sum(writes)::int as n, max(writes) as most from inventory");
    expect(effects).toEqual({ n: items.length, most: 1 });
    expect(await rowsOf(here, "receipts")).toBe(items.length);
  });

  test("of a proposal that is claimed at once: one operation, one request, under the claim that is on disk", async () => {
    const here = await shop();
    const { ports, proxy } = await behind(here);
    const cut = proxy.cut(where, "key-o1");

    const begun = await order(here, ports, "o1");
    const operation = await begun.done;

    await cut;
    expect(operation).toMatchObject({ state: "succeeded" });
    expect(operation?.attempts).toHaveLength(1);
    expect(here.provider.requests()).toHaveLength(1);
    expect(await rowsOf(here, "operations")).toBe(1);
  });

  test("of a claim: committed it is ours and one request is sent; not committed nothing is sent, and it can be claimed again", async () => {
    const here = await shop();
    const { ports, proxy } = await behind(here);
    const { operation } = await order(here, ports, "o1", "later");
    const cut = proxy.cut(where, operation.id.slice(3));

    const executed = await executeLater(ports, here.session, operation.id);
    await executed.done;

    await cut;
    const committed = where === "after commit";
    expect(await here.again(operation)).toMatchObject({ state: committed ? "succeeded" : "authorized" });
    expect(here.provider.requests()).toHaveLength(committed ? 1 : 0);
    const again = await executeLater(ports, here.session, operation.id);
    await again.done;
    expect(await here.again(operation)).toMatchObject({ state: "succeeded", attempts: [{ n: 1 }] });
    expect(here.orders(operation)).toBe(1);
  });

  test("of what was learned: it is recorded once, and nothing is sent again", async () => {
    const here = await shop();
    const { ports, proxy } = await behind(here);
    const { operation, done } = await order(here, ports, "o1");
    const cut = proxy.cut(where, operation.id.slice(3));

    const settled = await done;

    await cut;
    expect(settled).toMatchObject({ state: "succeeded" });
    const events = await here.ledger.events(operation.tenantId, operation.id);
    expect(events.map((event) => JSON.parse(event.body).type)).toEqual([
      "proposed",
      "authorized",
      "claimed",
      "confirmed",
    ]);
    expect(here.provider.requests()).toHaveLength(1);
    expect(await rowsOf(here, "receipts")).toBe(1);
  });

  test("of a proposal that supersedes another: the old one is ended once and the new one is there once", async () => {
    const here = await rig();
    await stocked(here, "a");
    const { ports, proxy } = await behind(here);
    const old = await here.done(change("a"), { version: 42, execute: "later", key: "old" });
    const cut = proxy.cut(where, "key-new");

    const { operation } = await propose(
      ports,
      here.session,
      proposal(
        { tool: STOCK_TOOL.name, arguments: change("a", 5), expectedVersion: 42, supersedes: old.id },
        "key-new",
      ),
    );

    await cut;
    expect(operation.state).toBe("succeeded");
    expect(await here.again(old)).toMatchObject({ state: "rejected", reason: "superseded" });
    expect(await here.stock("a")).toMatchObject({ available: 5, writes: 1 });
    expect(await rowsOf(here, "operations")).toBe(2);
  });
});

describe("a claim whose answer was lost, while another worker claims", () => {
  /** Our claim is rolled back, and before we read again somebody else's is made. */
  async function beaten(here: Shop, believe: (ledger: Ledger) => Ledger): Promise<void> {
    const { ports, proxy } = await behind(here);
    const rival = await instance(here, "rival");
    const { operation } = await order(here, ports, "o1", "later");
    here.provider.fault("slow", { ms: 600 });
    const cut = proxy.cut("before commit", operation.id.slice(3), "down");
    const ours = executeLater({ ...ports, ledger: believe(ports.ledger) }, here.session, operation.id);
    await cut;

    const theirs = await executeLater(rival.ports, here.session, operation.id);
    proxy.up();
    const mine = await ours;
    await Promise.all([theirs.done, mine.done]);
  }

  test("is not believed: the claim on disk is not ours, and one request is sent", async () => {
    const here = await shop({ of: "nothing" });

    await beaten(here, (ledger) => ledger);

    expect(here.provider.requests()).toHaveLength(1);
    expect(here.orders()).toBe(1);
  });

  test("broken: read again without the claim id, both send", async () => {
    const here = await shop({ of: "nothing" });
    const naive = (ledger: Ledger): Ledger => ({
      ...ledger,
      claim: async (claiming) => {
        const answer = await ledger.claim(claiming);
        const { tenantId, id } = claiming.operation;
        const read = await ledger.read(tenantId, id);
        // "It is executing, so our commit must have arrived."
        return answer.kind === "changed" && read?.value.state === "executing"
          ? { kind: "claimed", operation: read.value, clock: read.clock }
          : answer;
      },
    });

    await beaten(here, naive);

    expect(here.orders()).toBe(2);
  });
});
