import type { Lookup } from "../core/contract.ts";
import type { Measured } from "../core/probe.ts";
import type { Errand } from "./ports.ts";
import { type Bench, lifeOf } from "./probe-bench.ts";
import { unmeasured } from "./probe-precondition.ts";

const ASK_EVERY_MS = 50;

/** Does each lookup find an operation by its identity, how soon, and nothing where nothing is? */
export async function probeLookups(bench: Bench): Promise<readonly Measured[]> {
  const rows: Measured[] = [];
  for (const lookup of bench.probing.offered.tool.contract.lookup) rows.push(await lookedUp(bench, lookup));
  return rows;
}

async function lookedUp(bench: Bench, lookup: Lookup): Promise<Measured> {
  const { name, strength, lagMs } = lookup;
  const row = { claim: "lookup", of: name, claimed: `${strength}: found within ${lagMs} ms` } as const;
  bench.probing.begins?.(`the lookup "${name}"`);
  const { clock } = bench.ports;
  const errand = await writable(bench);
  const nothing = await ask(bench, errand, name);
  if (nothing.kind === "confirmed" || nothing.kind === "conflict")
    return {
      ...row,
      measured: "found what was never sent",
      verdict: "broken",
      says: `the lookup "${name}" found an operation that was never sent`,
    };
  if (nothing.kind === "unclear")
    return unmeasured(row, `before anything was sent it answered: ${nothing.why}`);
  const sent = await bench.send(errand);
  if (sent.kind !== "confirmed") return unmeasured(row, "the write was not accepted");
  const began = clock.monotonicMs();
  for (;;) {
    const askedMs = Math.round(clock.monotonicMs() - began);
    const found = await ask(bench, errand, name);
    if (found.kind === "confirmed")
      return {
        ...row,
        measured: `found after ${askedMs} ms`,
        verdict: "held",
        says: `It found the operation by its identity ${askedMs} ms after the answer, and nothing before it was sent.`,
      };
    // An absence that a reconciler would believe, of something that is there.
    if (strength === "authoritative" && found.kind === "absent" && askedMs > lagMs)
      return {
        ...row,
        measured: `still nothing after ${askedMs} ms`,
        verdict: "broken",
        says: `the lookup "${name}" found nothing ${askedMs} ms after the effect, later than its lag of ${lagMs} ms`,
      };
    if (askedMs > bench.probing.waitMaxMs)
      return unmeasured(row, `it did not find the operation within ${bench.probing.waitMaxMs} ms`);
    await clock.sleep(ASK_EVERY_MS);
  }
}

/** Does the barrier keep a late first attempt out? */
export async function probeBarrier(bench: Bench): Promise<readonly Measured[]> {
  const { barrier } = bench.probing.offered.tool.contract;
  if (barrier.kind === "none") return [];
  const row = { claim: "barrier", claimed: `${barrier.kind}: a late first attempt has no effect` } as const;
  bench.probing.begins?.("the barrier");
  const errand = await writable(bench);
  const { raised, why } = await bench.probing.offered.connector.bar({ ...errand, signal: lifeOf(errand) });
  if (!raised) return [unmeasured(row, `it could not be raised: ${why}`)];
  const late = await bench.send(errand);
  if (late.kind === "confirmed")
    return [
      {
        ...row,
        measured: "the late attempt was accepted",
        verdict: "broken",
        says: "a first attempt that came after the barrier was accepted: it prevents nothing",
      },
    ];
  return [
    {
      ...row,
      measured: "the late attempt had no effect",
      verdict: "held",
      says: "After the barrier a first attempt was kept out.",
    },
  ];
}

async function writable(bench: Bench): Promise<Errand> {
  if (bench.probing.offered.tool.expectedVersion === "none") return bench.errand();
  const at = await bench.version();
  return bench.errand("version" in at ? at : {});
}

function ask(
  bench: Bench,
  errand: Errand,
  name: string,
): ReturnType<Bench["probing"]["offered"]["connector"]["lookUp"]> {
  return bench.probing.offered.connector.lookUp({ ...errand, signal: lifeOf(errand) }, name);
}
