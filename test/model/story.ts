import type { ContractClass } from "./contract-class.ts";
import { keyOf } from "./key.ts";
import { INVARIANTS, REAL } from "./rules.ts";
import { type Report, stepsOf, type Taken } from "./search.ts";
import type { Variant } from "./variant.ts";
import { WORDS } from "./words.ts";
import { firstWorld, START, type World } from "./world.ts";

/** The shortest way to a broken invariant, in plain words. */
export function storyOf(variant: Variant, cls: ContractClass, report: Report): string {
  const { broken } = report;
  if (broken === undefined) return `NOT CAUGHT: ${variant.name} (${report.states} states of "${cls.name}")`;
  const { invariant, path } = broken;
  const lines = [
    `Instead: ${variant.name}.`,
    `  breaks ${invariant} (${INVARIANTS[invariant] ?? invariant})`,
    `  with "${cls.name}", in ${path.length} steps; found after ${report.states} states.`,
    ...told(path),
    `  ${harmless(path, cls)}`,
  ];
  return lines.join("\n");
}

function told(path: readonly Taken[]): readonly string[] {
  let before: number = START;
  return path.map((taken, index) => {
    const at = taken.to.clock;
    const when = at === before && index > 0 ? "      " : `t=${at - START}`.padEnd(6);
    before = at;
    return `    ${when}${String(index + 1).padStart(2)}. ${sentence(taken)}`;
  });
}

const PROVIDER_SPEAKS = /[^.]$/;

function sentence({ what, who, n, to }: Taken): string {
  const text = WORDS[what].replace("#", String(n)).replace(/\bW\b/g, who === 0 ? "Worker A" : "Worker B");
  if (PROVIDER_SPEAKS.test(text))
    return `${text}${who < 0 ? "; nobody hears it." : `; Worker ${who === 0 ? "A" : "B"} hears it.`}`;
  return `${text}${state(what, to)}`;
}

/** Where a step writes, the story says what the ledger holds afterwards. */
function state(what: Taken["what"], { ledger }: World): string {
  const writes =
    what.startsWith("record") ||
    what.startsWith("person") ||
    what === "lease_ended" ||
    what === "second_commit" ||
    what === "time_out" ||
    what === "duplicate_succeeds";
  return writes ? ` [${ledger.state}]` : "";
}

/** Walks the same steps under the real rules: one of them cannot be taken, or the end is sound. */
function harmless(path: readonly Taken[], cls: ContractClass): string {
  const { refused, end } = replay(path, cls);
  if (refused !== undefined) return `Under the real rules step ${refused + 1} cannot be taken.`;
  return `Under the real rules the same steps end ${end.ledger.state}, with ${end.truth.effects} effect${end.truth.effects === 1 ? "" : "s"}.`;
}

export interface Replay {
  /** The first step that the real rules do not offer. */
  readonly refused?: number;
  readonly end: World;
}

export function replay(path: readonly Taken[], cls: ContractClass): Replay {
  let end = firstWorld(cls);
  for (const [index, step] of path.entries()) {
    const offered = stepsOf(end, cls, REAL).filter(
      ({ what, who, n }) => what === step.what && who === step.who && n === step.n,
    );
    const same = offered.find(({ to }) => keyOf(to, cls) === keyOf(step.to, cls)) ?? offered[0];
    if (same === undefined) return { refused: index, end };
    end = same.to;
  }
  return { end };
}
