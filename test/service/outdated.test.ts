import { expect, onTestFinished, test } from "vitest";
import { definitionsOf } from "../../src/catalog/catalog.ts";
import { proposal } from "../../src/core/proposal.ts";
import type { Tool } from "../../src/core/tool.ts";
import { authorityView } from "../../src/service/authority.ts";
import { executeLater } from "../../src/service/cancel.ts";
import { halt, lift } from "../../src/service/halt.ts";
import type { Ports } from "../../src/service/ports.ts";
import { propose } from "../../src/service/propose.ts";
import { startWorker, WORKER_BOUNDS } from "../../src/worker.ts";
import { instance } from "../support/instance.ts";
import { redeployed } from "../support/redeployed.ts";
import { rig, STOCK_TOOL } from "../support/rig.ts";
import { KINDS, orderTool, type Shop, shop } from "../support/shop.ts";
import { change, refusal, rowsOf, stocked } from "../support/stock.ts";

const TOOL = orderTool(KINDS.nothing.contract);
const CHANGED = orderTool(KINDS.nothing.contract, { title: "Place an order, the new way" });

const ordering = (ports: Ports, here: Shop, order: string) => {
  const args = { order, item: "main/bolt", quantity: 1 };
  return propose(ports, here.session, proposal({ tool: "orders.place", arguments: args }, undefined));
};

/** A process of the first deployment that has seen its authority, and the deployment that comes after it. */
async function rolling(knows = true) {
  const here = await shop({ of: "nothing" });
  const { offered } = await here.ledger.enroll(here.session.tenantId, definitionsOf([TOOL]));
  const first = await instance(here, "old");
  const named = knows ? new Map([[here.session.tenantId, offered]]) : undefined;
  const old: Ports = { ...first.ports, authority: authorityView(first.ledger, named) };
  await (await ordering(old, here, "before")).done;
  const waiting = await here.place("waits", { execute: "later" });
  const connectors = {
    shop: (here.ports.catalog.tool(here.session.tenantId, TOOL.name) ?? never()).connector,
  };
  const deploy = (tools: readonly Tool[]) => redeployed(here, { tools, connectors });
  return { here, old, waiting, deploy };
}

function never(): never {
  throw new Error("the tool is offered");
}

test("a process of an older configuration decides nothing and claims nothing, until its configuration is in force again", async () => {
  const { here, old, waiting, deploy } = await rolling();
  const later = await deploy([CHANGED]);

  const proposing = await refusal(ordering(old, here, "o1"));
  const claiming = await refusal(executeLater(old, here.session, waiting.id));
  const stored = await rowsOf(here, "operations");
  const outdated = old.authority.outdated();
  // Stopping needs no configuration.
  const ops = here.as({ principalId: "test#ops", clientId: "console", roles: ["operator"] });
  const made = await halt(old, ops, { scope: "tenant", reason: "an incident" });
  const halted = await refusal(ordering(later, here, "o1"));
  await lift(old, ops, made.id);
  const executed = await executeLater(later, here.session, waiting.id);
  await deploy([TOOL]);
  const again = await ordering(old, here, "o2");

  expect([proposing.code, claiming.code]).toEqual(["not_ready", "not_ready"]);
  expect(stored).toBe(2);
  expect(halted.code).toBe("halted");
  expect(outdated).toEqual([here.session.tenantId]);
  expect(executed.operation).toMatchObject({ state: "rejected", reason: "superseded" });
  expect((await again.done)?.state).toBe("succeeded");
  expect(here.orders()).toBe(2);
});

test("broken: a process that does not know what it offers goes on deciding under the new epoch", async () => {
  const { here, old, deploy } = await rolling(false);
  await deploy([CHANGED]);

  const proposed = await ordering(old, here, "o1");

  expect((await proposed.done)?.state).toBe("succeeded");
});

test("its worker leaves what is due to the others, and takes it up again when its configuration is in force", async () => {
  const { here, old, waiting, deploy } = await rolling();
  await deploy([CHANGED]);
  await refusal(ordering(old, here, "o1"));
  await here.run("update operations set execute = 'now', due_at = writ_now() where state = 'authorized'");
  const due = async () =>
    here.run("select due_at <= writ_now() as due, state from operations where id = $1", [
      waiting.id.slice(3),
    ]);
  const asked: number[] = [];
  const ledger = {
    ...old.ledger,
    due: async (query: Parameters<typeof old.ledger.due>[0]) => {
      asked.push(query.exceptTenants.length);
      return old.ledger.due(query);
    },
  };

  const worker = startWorker({ ...old, ledger }, { ...WORKER_BOUNDS, idleMs: 20 });
  onTestFinished(() => worker.stop(5_000));
  await expect.poll(() => asked.length, { timeout: 10_000, interval: 10 }).toBeGreaterThan(3);
  const left = await due();
  await deploy([TOOL]);
  await expect
    .poll(async () => (await here.again(waiting)).state, { timeout: 10_000, interval: 20 })
    .toBe("succeeded");

  expect(asked.slice(0, 3)).toEqual([1, 1, 1]);
  expect(left).toEqual([{ due: true, state: "authorized" }]);
  expect(here.orders()).toBe(2);
});

test.each<[string, readonly Tool[], string]>([
  ["went away", [], "unknown_tool"],
  [
    "takes other arguments now",
    [{ ...STOCK_TOOL, input: { ...STOCK_TOOL.input, required: ["warehouse", "item", "available", "why"] } }],
    "invalid",
  ],
  ["asks for a version now", [{ ...STOCK_TOOL, expectedVersion: "none" }], "invalid"],
])("a known intent key has its operation, though its tool %s", async (_name, tools, code) => {
  const here = await rig();
  await stocked(here, "a");
  const first = await here.done(change("a"), { version: 42, key: "k" });
  const later = await redeployed(here, { tools });
  const again = (args: object, key: string, session = here.session) =>
    propose(
      later,
      session,
      proposal({ tool: STOCK_TOOL.name, arguments: args as never, expectedVersion: 42 }, key),
    );

  const replayed = await again(change("a"), "k");
  const reused = await refusal(again(change("a", 5), "k"));
  const fresh = await refusal(again(change("a"), "k2"));
  const theirs = await refusal(again(change("a"), "k", here.as({ principalId: "test#bob" })));
  await here.run("delete from operations where tenant_id = 'acme'");
  const spent = await refusal(again(change("a"), "k"));

  expect(replayed).toMatchObject({ how: "replayed", operation: { id: first.id, state: "succeeded" } });
  expect([reused.code, fresh.code, theirs.code, spent.code]).toEqual(["key_reused", code, code, "key_spent"]);
  expect(await here.stock("a")).toMatchObject({ writes: 1 });
});
