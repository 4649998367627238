import type { Outcome } from "../core/attempt.ts";
import type { Identity } from "../core/contract.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { Measured } from "../core/probe.ts";
import type { Errand } from "./ports.ts";
import type { Bench } from "./probe-bench.ts";
import { unmeasured } from "./probe-precondition.ts";

type Known = Exclude<Identity, { readonly kind: "none" }>;

/** Is a second request of one operation recognized: the same, with other content, beside the first, and after the window? */
export async function probeIdentity(bench: Bench): Promise<readonly Measured[]> {
  const { identity } = bench.probing.offered.tool.contract;
  // What makes a version an identity is measured as the precondition.
  if (identity.kind === "none" || identity.kind === "same_version") return [];
  return [
    await same(bench, identity),
    await otherContent(bench, identity),
    await inFlight(bench, identity),
    ...(await afterWindow(bench, identity)),
  ];
}

/** One write, sent twice. `seconds` is told between them. */
interface Pair {
  readonly first: Outcome;
  readonly second: Outcome;
  /** Whether the resource had another version after the second, where it has versions. */
  readonly moved?: boolean;
}

async function fresh(bench: Bench, like?: Errand): Promise<Errand> {
  const { expectedVersion } = bench.probing.offered.tool;
  const more = like === undefined ? {} : { like };
  if (expectedVersion === "none") return bench.errand(more);
  const at = await bench.version();
  return bench.errand("version" in at ? { ...more, ...at } : more);
}

async function versionNow(bench: Bench): Promise<string | undefined> {
  const { contract } = bench.probing.offered.tool;
  if (contract.read === undefined) return undefined;
  const at = await bench.version();
  return "version" in at ? at.version : undefined;
}

async function pair(bench: Bench, first: Errand, second: Errand): Promise<Pair> {
  const one = await bench.send(first);
  const between = await versionNow(bench);
  const two = await bench.send({ ...second, attempt: 2 });
  const after = await versionNow(bench);
  const moved = between === undefined || after === undefined ? {} : { moved: between !== after };
  return { first: one, second: two, ...moved };
}

/** Did the second have an effect of its own? Undefined when nothing shows it. */
function acted({ first, second, moved }: Pair): boolean | undefined {
  if (moved === true) return true;
  if (second.kind === "refused" || second.kind === "absent") return false;
  if (second.kind === "lost")
    return second.answer === "duplicate" || second.answer === "mismatch" || second.answer === "in_flight"
      ? false
      : moved;
  const alike = sameEvidence(first, second);
  return alike === undefined ? moved : !alike;
}

/** The members that both answers carry: equal ones are one effect's. */
function sameEvidence(first: Outcome, second: Outcome): boolean | undefined {
  if (first.kind !== "confirmed" || second.kind !== "confirmed") return undefined;
  const { attempt: _a, status: _s, ...one } = first.evidence.data as JsonObject;
  const two = second.evidence.data as JsonObject;
  const shared = Object.keys(one).filter((name) => Object.hasOwn(two, name));
  if (shared.length === 0) return undefined;
  return shared.every((name) => canonicalJson(one[name] ?? null) === canonicalJson(two[name] ?? null));
}

async function same(bench: Bench, { kind }: Known): Promise<Measured> {
  const row = { claim: "same_identity", claimed: `${kind}: a repeat has no effect of its own` } as const;
  bench.probing.begins?.("the same operation twice");
  const errand = await fresh(bench);
  const sent = await pair(bench, errand, errand);
  if (sent.first.kind !== "confirmed") return unmeasured(row, "the first write was not accepted");
  return judged(row, acted(sent), {
    held: "A repeat was recognized and had no effect of its own.",
    broken: "the same operation, sent twice, had two effects: the provider does not recognize a repeat",
  });
}

async function otherContent(bench: Bench, { kind }: Known): Promise<Measured> {
  const row = {
    claim: "other_content",
    claimed: `${kind}: other content under one identity has no effect`,
  } as const;
  bench.probing.begins?.("other content under one identity");
  const errand = await fresh(bench);
  const sent = await pair(bench, errand, await fresh(bench, errand));
  if (sent.first.kind !== "confirmed") return unmeasured(row, "the first write was not accepted");
  return judged(row, acted(sent), {
    held: "Other content under the same identity had no effect.",
    broken:
      "other content under the same identity was executed too: the provider does not bind its identity to anything",
  });
}

async function inFlight(bench: Bench, { kind }: Known): Promise<Measured> {
  const row = { claim: "in_flight", claimed: `${kind}: two at once are one` } as const;
  bench.probing.begins?.("the same operation twice at once");
  const errand = await fresh(bench);
  const [first, second] = await Promise.all([bench.send(errand), bench.send({ ...errand, attempt: 2 })]);
  const yes = [first, second].filter(({ kind: learned }) => learned === "confirmed").length;
  if (yes === 0) return unmeasured(row, "neither was accepted");
  if (yes === 1) return judged(row, false, { held: "Of two at once one was accepted.", broken: "" });
  const alike = sameEvidence(first, second);
  return judged(row, alike === undefined ? undefined : !alike, {
    held: "Two at once got the answer of one effect.",
    broken: "two requests of one operation at the same time had two effects",
  });
}

async function afterWindow(bench: Bench, { kind, window }: Known): Promise<readonly Measured[]> {
  const { forMs, after } = window;
  if (forMs === null) return [];
  const row = { claim: "window", claimed: `${kind}: remembered for ${forMs} ms, then ${after}` } as const;
  const { waitMaxMs, begins } = bench.probing;
  if (forMs > waitMaxMs) return [unmeasured(row, `the window of ${forMs} ms is longer than a probe waits`)];
  begins?.("the end of the window");
  const errand = await fresh(bench);
  const first = await bench.send(errand);
  if (first.kind !== "confirmed") return [unmeasured(row, "the first write was not accepted")];
  // Just inside it the identity must still be known.
  await bench.ports.clock.sleep(Math.floor(forMs * 0.7));
  const inside = acted({ first, second: await bench.send({ ...errand, attempt: 2 }) });
  return [
    judged(row, inside, {
      held: "Inside the window a repeat was still recognized.",
      broken:
        "a repeat inside the window had an effect of its own: the provider forgets earlier than the contract says",
    }),
  ];
}

function judged(
  row: Pick<Measured, "claim" | "claimed">,
  acts: boolean | undefined,
  says: { readonly held: string; readonly broken: string },
): Measured {
  if (acts === undefined) return unmeasured(row, "neither the answers nor a version show whether it acted");
  return {
    ...row,
    measured: acts ? "two effects" : "one effect",
    verdict: acts ? "broken" : "held",
    says: acts ? says.broken : says.held,
  };
}
