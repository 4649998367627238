import { authoritativeLookup, type Contract } from "./contract.ts";
import { LEDGER } from "./transport.ts";

/** What a contract can and cannot promise, in sentences for the people who decide under it. */
export function promise(contract: Contract): readonly string[] {
  if (contract.transport === LEDGER) {
    return [
      "The effect, the claim and the receipt are one commit: there is an effect exactly when there is a receipt.",
      conditionPromise(contract),
      "A lost answer of the database is cleared by reading our own row again.",
    ];
  }
  return [
    conditionPromise(contract),
    ...lossPromise(contract),
    ...barrierPromise(contract),
    triesPromise(contract),
  ];
}

/** What is left of doubt after a lost answer, in one word. */
export type ContractStrength = "atomic" | "settled" | "repeatable" | "visible" | "blind";

/**
 * How a lost answer ends under this contract. `atomic`: it cannot be lost from us. `settled`: asking always ends in yes or no. `repeatable`:
 * sending it again is safe, at least for a time. `visible`: asking may find it, and proves nothing when it does not. `blind`: a person.
 */
export function contractStrength(contract: Contract): ContractStrength {
  if (contract.transport === "postgres-ledger") return "atomic";
  const repeats = contract.identity.kind !== "none";
  const forEver =
    contract.identity.kind !== "none" &&
    (contract.identity.window.forMs === null || contract.identity.window.after === "refuses");
  const sure = authoritativeLookup(contract) !== undefined && contract.settle.kind === "bounded";
  if (sure || forEver) return "settled";
  if (repeats) return "repeatable";
  return contract.lookup.length > 0 ? "visible" : "blind";
}

/** An identity that is a version stands on how the version is compared. */
function measured({ identity, precondition }: Contract): boolean {
  return (
    identity.kind !== "same_version" || (precondition.kind !== "none" && precondition.atomic === "probed")
  );
}

function conditionPromise({ precondition }: Contract): string {
  if (precondition.kind === "none")
    return "Nothing is checked at the provider: a change that somebody else made after the decision is overwritten.";
  if (precondition.atomic === "probed")
    return "The write happens only at the expected version; measured: of many writers with one version, at most one wins.";
  return "The provider says that it writes only at the expected version; nobody has measured that it does (run `writ probe`).";
}

/** The heart of it: how "we do not know" ends. */
function lossPromise(contract: Contract): readonly string[] {
  const looking = lookingPromise(contract);
  const repeating = repeatPromise(contract);
  const sentences = [looking, repeating].filter((sentence) => sentence !== undefined);
  if (sentences.length === 0)
    return [
      "A lost answer stays unknown until a person finds out: the provider offers nothing to ask, and a repeat could apply the change twice.",
    ];
  const ends =
    looking !== undefined &&
    authoritativeLookup(contract) !== undefined &&
    contract.settle.kind === "bounded";
  const person = ends
    ? `If looking stays unclear ${contract.unclearMax} times in a row, a person decides.`
    : "What that does not clear, a person decides.";
  return [...sentences, person];
}

function lookingPromise(contract: Contract): string | undefined {
  const [first] = contract.lookup;
  if (first === undefined) return undefined;
  const sure = authoritativeLookup(contract);
  if (sure === undefined)
    return `A lost answer is looked up ("${first.name}"): finding our operation proves the effect; finding nothing proves nothing, and looking ends after ${timeWords(first.horizonMs)}.`;
  if (contract.settle.kind === "unbounded")
    return `A lost answer is looked up ("${sure.name}"): finding our operation proves the effect; finding nothing never settles it, because a sent request may act at any later time.`;
  const after = timeWords(contract.settle.forMs + sure.lagMs);
  return `A lost answer is cleared by looking up ("${sure.name}"): found is applied; nothing there ${after} after the last send is not applied.`;
}

function repeatPromise(contract: Contract): string | undefined {
  const { identity, maxPauseMs, requestLifeMs } = contract;
  if (identity.kind === "none") return undefined;
  const by = {
    key: "by its key",
    marker: "by the marker written with the effect",
    create_once: "because it can be created only once",
    same_version: "because the version it names never returns",
  }[identity.kind];
  const { forMs, marginMs, after } = identity.window;
  if (!measured(contract))
    return "A repeat is not sent until `writ probe` has measured that of many writers with one version at most one wins.";
  const recognized = `the provider recognizes it ${by}`;
  const more = waitPromise(identity.minRetryDelayMs) + conflictPromise(contract);
  if (forMs === null) return `A repeat is safe at any time: ${recognized}, for ever.${more}`;
  if (after === "refuses") {
    return `A repeat is safe at any time: ${recognized} for ${timeWords(forMs)}, and refuses it afterwards.${more}`;
  }
  const safeMs = forMs - marginMs - maxPauseMs - requestLifeMs;
  return `A repeat is safe for ${timeWords(safeMs)} after the first send: ${recognized}; afterwards it would be executed again, and none is sent.${more}`;
}

function waitPromise(minRetryDelayMs: number | undefined): string {
  return minRetryDelayMs === undefined
    ? ""
    : ` It is sent ${timeWords(minRetryDelayMs)} after the last attempt at the earliest.`;
}

/** Where our own success makes the condition fail, the repeat's answer does not tell ours from somebody else's. */
function conflictPromise({ precondition }: Contract): string {
  if (precondition.kind === "none") return "";
  switch (precondition.replay) {
    case "precondition_first":
      return " If the first one took effect, the repeat is answered like a conflict, so that answer alone settles nothing.";
    case "dedup_first":
      return " If the first one took effect, the repeat says so, whatever the version is by then.";
    case "marker_visible":
      return " If the first one took effect, the repeat's refusal shows our marker.";
  }
}

function barrierPromise({ barrier }: Contract): readonly string[] {
  if (barrier.kind === "none") return [];
  return [
    "When no repeat is allowed any more, a barrier is raised that makes a late first request fail for ever; then looking once is enough.",
  ];
}

function triesPromise({ attemptsMax, requestLifeMs, maxPauseMs }: Contract): string {
  return `A request ends after ${timeWords(requestLifeMs)} and is never sent later than ${timeWords(maxPauseMs)} after its claim; there are at most ${attemptsMax} attempts.`;
}

const STEPS: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
  ["ms", 1],
];

/** The two largest units of a time: "23 h 58 min". */
export function timeWords(ms: number): string {
  let rest = ms;
  const words: string[] = [];
  for (const [unit, size] of STEPS) {
    const count = Math.floor(rest / size);
    if (count > 0 && words.length < 2) words.push(`${count} ${unit}`);
    rest -= count * size;
  }
  return words.length === 0 ? "0 s" : words.join(" ");
}
