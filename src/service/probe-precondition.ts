import type { Outcome } from "../core/attempt.ts";
import type { Precondition } from "../core/contract.ts";
import type { Measured } from "../core/probe.ts";
import type { Bench } from "./probe-bench.ts";

const WRITERS = 8;
const PAUSE_MS = 700;
const BETWEEN_MS = 150;

type Condition = Exclude<Precondition, { readonly kind: "none" }>;

/** Is the precondition honoured, is it atomic, and do versions come back? */
export async function probePrecondition(bench: Bench): Promise<readonly Measured[]> {
  const { precondition } = bench.probing.offered.tool.contract;
  if (precondition.kind === "none") return [];
  const first = await honoured(bench, precondition);
  const versions = precondition.versions === "never_return" ? [await returning(bench)] : [];
  // A condition that is ignored is not worth eight writers at a time.
  if (first.verdict !== "held") return [first, ...versions];
  return [first, await atomic(bench, precondition), ...versions];
}

function won(outcome: Outcome): boolean {
  return outcome.kind === "confirmed";
}

function inWords(outcome: Outcome): string {
  switch (outcome.kind) {
    case "confirmed":
      return "accepted";
    case "refused":
      return `refused (${outcome.reason})`;
    case "absent":
      return `not sent (${outcome.why})`;
    case "lost":
      return `no clear answer (${outcome.cause})`;
  }
}

async function honoured(bench: Bench, { kind }: Condition): Promise<Measured> {
  const row = { claim: "honoured", claimed: `${kind}: a write with an old version is refused` } as const;
  const before = await bench.version();
  if ("why" in before) return unmeasured(row, before.why);
  const current = await bench.send(bench.errand(before));
  if (!won(current)) return unmeasured(row, `a write with the current version was ${inWords(current)}`);
  const old = await bench.send(bench.errand(before));
  if (won(old))
    return {
      ...row,
      measured: "accepted",
      verdict: "broken",
      says: "a write with an old version was accepted: the provider ignores the precondition",
    };
  if (old.kind !== "refused") return unmeasured(row, `a write with an old version got ${inWords(old)}`);
  return {
    ...row,
    measured: inWords(old),
    verdict: "held",
    says: "A write with the current version was accepted, and one with an old version was refused.",
  };
}

async function atomic(bench: Bench, { atomic: word }: Condition): Promise<Measured> {
  const row = { claim: "atomic", claimed: `${word}: of many writers with one version one wins` } as const;
  const { rounds, begins } = bench.probing;
  let twice = 0;
  let clear = 0;
  let most = 0;
  for (let round = 1; round <= rounds; round++) {
    begins?.(`${WRITERS} writers with one version, round ${round} of ${rounds}`);
    const before = await bench.version();
    if ("why" in before) return unmeasured(row, before.why);
    const writers = Array.from({ length: WRITERS }, () => bench.errand(before));
    const outcomes = await Promise.all(writers.map((each) => bench.send(each)));
    const winners = outcomes.filter(won).length;
    most = Math.max(most, winners);
    if (winners > 1) twice += 1;
    if (winners === 1 && outcomes.every(({ kind }) => kind === "confirmed" || kind === "refused")) clear += 1;
  }
  const slow = await slowBody(bench);
  const figures = `${twice} of ${rounds} rounds had more than one winner (at most ${most} of ${WRITERS})`;
  const body = slow === undefined ? "" : `; a slow body with an old version was ${inWords(slow)}`;
  if (twice > 0 || (slow !== undefined && won(slow)))
    return { ...row, measured: figures + body, verdict: "broken", says: whyBroken(twice, rounds, slow) };
  if (clear === 0) return unmeasured(row, `in none of ${rounds} rounds every writer got a clear answer`);
  return {
    ...row,
    measured: figures + body,
    verdict: "held",
    says: `Of ${WRITERS} writers with one version never more than one won, in ${rounds} rounds${slow === undefined ? "" : ", and a slow body did not overtake a newer version"}.`,
  };
}

function whyBroken(twice: number, rounds: number, slow: Outcome | undefined): string {
  const parts = [
    ...(twice > 0
      ? [`in ${twice} of ${rounds} rounds more than one of ${WRITERS} writers with one version won`]
      : []),
    ...(slow !== undefined && won(slow) ? ["a slow request with an old version overwrote a newer one"] : []),
  ];
  return `${parts.join(", and ")}: the provider checks the precondition, and writes later`;
}

/** Starts earlier and ends later than a write that takes its version. Only where the connector can send slowly. */
async function slowBody(bench: Bench): Promise<Outcome | undefined> {
  const { connector } = bench.probing.offered;
  if (connector.kind !== "http") return undefined;
  const before = await bench.version();
  if ("why" in before) return undefined;
  bench.probing.begins?.("a slow body with a version that another takes");
  const slow = bench.send(bench.errand(before), { pauseMs: PAUSE_MS });
  // Long enough for its head to be read, and much shorter than its pause.
  await bench.ports.clock.sleep(BETWEEN_MS);
  const quick = await bench.send(bench.errand(before));
  const outcome = await slow;
  // When the slow one had its version to itself there was nothing to overtake.
  return won(quick) ? outcome : undefined;
}

async function returning(bench: Bench): Promise<Measured> {
  const row = { claim: "versions", claimed: "never_return: a version names one content for ever" } as const;
  bench.probing.begins?.("the same content again: does its version come back");
  const seen: string[] = [];
  // A, B, A.
  for (const content of [1, 2, 1]) {
    const before = await bench.version();
    if ("why" in before) return unmeasured(row, before.why);
    const written = await bench.send(bench.errand({ ...before, content }));
    if (!won(written)) return unmeasured(row, `a write with the current version was ${inWords(written)}`);
    const after = await bench.version();
    if ("why" in after) return unmeasured(row, after.why);
    seen.push(after.version);
  }
  const back = seen[0] === seen[2];
  return {
    ...row,
    measured: back ? "the first version came back" : "three writes, three versions",
    verdict: back ? "broken" : "held",
    says: back
      ? "the same content brought its old version back: a version that was read long ago may fit again"
      : "Writing the same content again gave a new version.",
  };
}

type Row = Pick<Measured, "claim" | "claimed" | "of">;

export function unmeasured(row: Row, why: string): Measured {
  return { ...row, measured: "not measured", verdict: "unmeasured", says: `Not measured: ${why}.` };
}
