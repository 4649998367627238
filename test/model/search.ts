import { settled } from "../../src/core/operation.ts";
import type { ContractClass } from "./contract-class.ts";
import { keyOf } from "./key.ts";
import { brokenIn, type Rules } from "./rules.ts";
import { steps } from "./steps.ts";
import { calmRank, type What } from "./words.ts";
import { firstWorld, type World } from "./world.ts";

/** One step of a path, with the world that it led to. */
export interface Taken {
  readonly what: What;
  readonly who: number;
  readonly n: number;
  readonly to: World;
}

export interface Report {
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  readonly seconds: number;
  /** How often each kind of step was taken, and each witness seen. */
  readonly seen: ReadonlyMap<string, number>;
  /** The longest way to rest from any state once faults have stopped. */
  readonly calmSteps: number;
  readonly broken?: { readonly invariant: string; readonly path: readonly Taken[] };
  readonly capped: boolean;
  /** Every world that was visited, by its key. */
  readonly keys: ReadonlyMap<string, number>;
}

interface Found {
  readonly keys: Map<string, number>;
  readonly parents: number[];
  readonly ordinals: number[];
  /** The step that happens when faults have stopped: the state it leads to, or -1. */
  readonly calm: number[];
  /** 1: settled, or before a person. */
  readonly rests: number[];
  readonly seen: Map<string, number>;
  transitions: number;
  depth: number;
}

const STATES_MAX = 2_000_000;

/** Visits every world that can be reached, nearest first, and stops at the first that breaks an invariant: any, or the one asked for. */
export function search(cls: ContractClass, rules: Rules, only?: string): Report {
  const started = performance.now();
  const found: Found = {
    keys: new Map(),
    parents: [-1],
    ordinals: [-1],
    calm: [-1],
    rests: [0],
    seen: new Map(),
    transitions: 0,
    depth: 0,
  };
  const verdict = visit(cls, rules, found, only);
  const report = {
    states: found.parents.length,
    transitions: found.transitions,
    depth: found.depth,
    seen: found.seen,
    keys: found.keys,
    seconds: (performance.now() - started) / 1000,
    capped: verdict === "capped",
  };
  if (verdict === "capped") return { ...report, calmSteps: 0 };
  if (verdict !== undefined)
    return {
      ...report,
      calmSteps: 0,
      broken: { invariant: verdict.invariant, path: pathTo(cls, rules, found, verdict.index) },
    };
  const { stuck, longest } = restless(found);
  const seconds = (performance.now() - started) / 1000;
  if (stuck === undefined) return { ...report, seconds, calmSteps: longest };
  return {
    ...report,
    seconds,
    calmSteps: 0,
    broken: { invariant: "I6", path: pathTo(cls, rules, found, stuck) },
  };
}

function visit(
  cls: ContractClass,
  rules: Rules,
  found: Found,
  only?: string,
): { invariant: string; index: number } | "capped" | undefined {
  const first = firstWorld(cls);
  found.keys.set(keyOf(first, cls), 0);
  let layer: World[] = [first];
  let base = 0;
  while (layer.length > 0) {
    const following: World[] = [];
    for (const [offset, world] of layer.entries()) {
      const wrong = expand(world, base + offset, { cls, rules, found, following, only });
      if (wrong !== undefined) return wrong;
      if (found.keys.size > STATES_MAX) return "capped";
    }
    base += layer.length;
    layer = following;
    found.depth++;
  }
  return undefined;
}

interface Expanding {
  readonly cls: ContractClass;
  readonly rules: Rules;
  readonly found: Found;
  readonly following: World[];
  readonly only: string | undefined;
}

function expand(
  world: World,
  index: number,
  { cls, rules, found, following, only }: Expanding,
): { invariant: string; index: number } | undefined {
  let ordinal = 0;
  let rank = Number.POSITIVE_INFINITY;
  let calm = -1;
  let wrong: { invariant: string; index: number } | undefined;
  const plan = steps(world, cls, rules, (to, what, _who, _n, witness) => {
    found.transitions++;
    count(found.seen, what);
    if (witness !== undefined) count(found.seen, witness);
    const key = keyOf(to, cls);
    let place = found.keys.get(key);
    if (place === undefined) {
      place = found.parents.length;
      found.keys.set(key, place);
      found.parents.push(index);
      found.ordinals.push(ordinal);
      const broken = brokenIn(to);
      following.push(broken.length === 0 ? to : unbroken(to));
      const invariant = broken.find((one) => only === undefined || one === only);
      if (invariant !== undefined) wrong ??= { invariant, index: place };
    } else if (to.broken !== undefined && (only === undefined || to.broken === only) && wrong === undefined) {
      wrong = breaks(found, index, ordinal, to.broken);
    }
    const order =
      witness === "early" ? Number.POSITIVE_INFINITY : (calmRank(what) ?? Number.POSITIVE_INFINITY);
    if (order < rank) {
      rank = order;
      calm = place;
    }
    ordinal++;
  });
  found.calm[index] = calm;
  const { state } = world.ledger;
  const person = plan?.do === "person";
  count(found.seen, `is ${state}`);
  if (person) count(found.seen, "is before a person");
  found.rests[index] = person || state === "proposed" || settled(world.ledger) ? 1 : 0;
  return wrong;
}

/** A search for another invariant goes on from here. */
function unbroken({ broken: _told, ...world }: World): World {
  return world;
}

/** The step itself is wrong although its world was known: it gets a place of its own, to be told. */
function breaks(
  found: Found,
  index: number,
  ordinal: number,
  invariant: string,
): { invariant: string; index: number } {
  found.parents.push(index);
  found.ordinals.push(ordinal);
  return { invariant, index: found.parents.length - 1 };
}

function count(seen: Map<string, number>, name: string): void {
  seen.set(name, (seen.get(name) ?? 0) + 1);
}

/** I6: from every state the calm way, which knows no faults, must lead to rest. */
function restless({ calm, rests }: Found): { stuck: number | undefined; longest: number } {
  // Steps to rest, 0 while it is not known, -1 on the way that is being walked.
  const away = new Int32Array(calm.length);
  let longest = 0;
  for (let start = 0; start < calm.length; start++) {
    const way: number[] = [];
    let at = start;
    while (rests[at] !== 1 && away[at] === 0) {
      away[at] = -1;
      way.push(at);
      at = calm[at] ?? -1;
      if (at < 0 || away[at] === -1) return { stuck: start, longest };
    }
    let far = rests[at] === 1 ? 0 : (away[at] ?? 0);
    for (const one of way.reverse()) away[one] = ++far;
    longest = Math.max(longest, far);
  }
  return { stuck: undefined, longest };
}

/** Walks the found path again from the start: only the choice made at each state was kept. */
function pathTo(cls: ContractClass, rules: Rules, found: Found, index: number): readonly Taken[] {
  const choices: number[] = [];
  for (let at = index; at > 0; at = found.parents[at] ?? 0) choices.push(found.ordinals[at] ?? 0);
  const path: Taken[] = [];
  let world = firstWorld(cls);
  for (const choice of choices.reverse()) {
    const taken = stepsOf(world, cls, rules)[choice];
    if (taken === undefined) throw new Error("a path cannot be walked again");
    path.push(taken);
    world = taken.to;
  }
  return path;
}

export function stepsOf(world: World, cls: ContractClass, rules: Rules): readonly Taken[] {
  const taken: Taken[] = [];
  steps(world, cls, rules, (to, what, who, n) => taken.push({ what, who, n, to }));
  return taken;
}
