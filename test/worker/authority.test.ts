import { expect, onTestFinished, test } from "vitest";
import type { Delegation } from "../../src/core/delegation.ts";
import { halt, lift } from "../../src/service/halt.ts";
import { revokeDelegation } from "../../src/service/revoke.ts";
import { startWorker, WORKER_BOUNDS } from "../../src/worker.ts";
import { linked, under } from "../support/delegated.ts";
import { instance } from "../support/instance.ts";
import { type Shop, shop } from "../support/shop.ts";

const BOUNDS = { ...WORKER_BOUNDS, atOnceMax: 2, idleMs: 20 };
const CHAINS = ["revoked", "halted", "left alone"] as const;
const EACH = 10;

/** How often the operations of each chain were claimed so far, in the ledger's own rows. */
async function claims(here: Shop): Promise<Readonly<Record<string, number>>> {
  const rows = await here.run(
    `select (action::jsonb #>> '{delegation,0,holder}') as root, sum(jsonb_array_length(attempts))::int as n from operations group by 1`,
  );
  return Object.fromEntries(rows.map(({ root, n }) => [root, n]));
}

const settledOf = async (here: Shop, root: string) =>
  here.run(
    `select state, reason, count(*)::int as n from operations where action::jsonb #>> '{delegation,0,holder}' = $1 group by 1, 2 order by 1`,
    [root],
  );

test("four workers, back-off everywhere: a revoked chain is never claimed again, a halted one waits and goes on, and each effect is there once", {
  timeout: 120_000,
}, async () => {
  const here = await shop({ of: "key" });
  const ops = here.as({ principalId: "test#ops", clientId: "console", roles: ["operator"] });
  const roots: Delegation[] = [];
  for (const root of CHAINS) {
    const link = await linked(here, root);
    const below = await linked(here, `below ${root}`, await linked(here, `between ${root}`, link));
    for (let n = 0; n < EACH; n++)
      await here.place(`${root.replace(" ", "_")}${n}`, { session: under(here, below), execute: "later" });
    roots.push(link);
  }
  const [revoked, halted] = roots as [Delegation, Delegation];
  // Half of what is sent is turned away, and waits its back-off out.
  here.provider.fault("throttle", { times: (CHAINS.length * EACH) / 2 });
  await here.run("update operations set execute = 'now', due_at = writ_now()");

  for (const name of ["w1", "w2", "w3", "w4"]) {
    const worker = startWorker((await instance(here, name)).ports, BOUNDS);
    onTestFinished(() => worker.stop(5_000));
  }
  await expect
    .poll(() => here.provider.requests().length, { timeout: 20_000, interval: 5 })
    .toBeGreaterThan(5);
  await revokeDelegation(here.ports, ops, revoked.id, "over");
  const whenRevoked = (await claims(here))[CHAINS[0]];
  const stop = await halt(here.ports, ops, { scope: "delegation", name: halted.id, reason: "an incident" });
  const whenHalted = (await claims(here))[CHAINS[1]];
  const all = [{ state: "succeeded", reason: null, n: EACH }];
  await expect.poll(() => settledOf(here, CHAINS[2]), { timeout: 30_000, interval: 50 }).toEqual(all);
  const beforeLift = (await claims(here))[CHAINS[1]];
  await lift(here.ports, ops, stop.id);
  await expect.poll(() => settledOf(here, CHAINS[1]), { timeout: 45_000, interval: 100 }).toEqual(all);
  const open = "select count(*)::int as n from operations where settled_at is null";
  await expect
    .poll(async () => (await here.run(open))[0], { timeout: 30_000, interval: 100 })
    .toEqual({ n: 0 });

  expect((await claims(here))[CHAINS[0]]).toBe(whenRevoked);
  expect(beforeLift).toBe(whenHalted);
  const ended = await settledOf(here, CHAINS[0]);
  expect(ended.some(({ reason }) => reason === "revoked")).toBe(true);
  expect(ended.filter(({ state, reason }) => state !== "succeeded" && reason !== "revoked")).toEqual([]);
  const effects = here.provider.journal().filter(({ kind }) => kind === "order");
  const [{ n: succeeded } = { n: -1 }] = await here.run(
    "select count(*)::int as n from operations where state = 'succeeded'",
  );
  expect(effects).toHaveLength(succeeded as number);
  expect(new Set(effects.map(({ key }) => key)).size).toBe(effects.length);
});
