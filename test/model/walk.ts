import type { ContractClass } from "./contract-class.ts";
import { exactKeyOf, keyOf } from "./key.ts";
import { REAL } from "./rules.ts";
import { stepsOf, type Taken } from "./search.ts";
import { firstWorld, type World } from "./world.ts";

const STRANGERS_MAX = 3;

/**
 * The search visits one world for each key and takes it for all that share the key. If a key left out something that matters, an exact
 * walk would some time meet a world that the search does not know: here are those that it meets, with the way to the first.
 */
export function strangers(
  cls: ContractClass,
  keys: ReadonlyMap<string, number>,
  { walks, steps }: { walks: number; steps: number },
): readonly string[] {
  const strange: string[] = [];
  const random = randomness(walks * 7919 + steps);
  for (let walk = 0; walk < walks && strange.length < STRANGERS_MAX; walk++) {
    const way: string[] = [];
    let world = firstWorld(cls);
    for (let step = 0; step < steps; step++) {
      const offered = stepsOf(world, cls, REAL);
      for (const taken of offered)
        if (!keys.has(keyOf(taken.to, cls))) strange.push([...way, name(taken)].join(" > "));
      const taken = offered[Math.floor(random() * offered.length)];
      if (taken === undefined || strange.length > 0) break;
      way.push(name(taken));
      world = taken.to;
    }
  }
  return strange.slice(0, STRANGERS_MAX);
}

/** The same, for every world that exact clocks tell apart up to a moment, and up to so many. */
export function strangersUntil(
  cls: ContractClass,
  keys: ReadonlyMap<string, number>,
  { ticks, max }: { ticks: number; max: number },
): { readonly worlds: number; readonly strange: number } {
  const first = firstWorld(cls);
  const known = new Set([exactKeyOf(first)]);
  let layer: World[] = [first];
  let strange = 0;
  while (layer.length > 0 && known.size < max) {
    const following: World[] = [];
    for (const world of layer) {
      for (const { to } of stepsOf(world, cls, REAL)) {
        const exact = exactKeyOf(to);
        if (to.clock > first.clock + ticks || known.has(exact)) continue;
        known.add(exact);
        following.push(to);
        if (!keys.has(keyOf(to, cls))) strange++;
      }
    }
    layer = following;
  }
  return { worlds: known.size, strange };
}

function name({ what, who, n }: Taken): string {
  return who < 0 ? what : `${what}(${who === 0 ? "A" : "B"}${n})`;
}

/** Mulberry32: the same walks every time. */
function randomness(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
