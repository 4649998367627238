// Callers that ask again as soon as they are answered, and what that took.
import { randomUUID } from "node:crypto";
import { ITEMS, PROPOSALS } from "./offer.mjs";

/**
 * `once(proposal)` resolves when the operation succeeded and throws otherwise. `kind` is local or external.
 * Remembers each item's version between runs, so there must be one caller of `load` for one database.
 */
export function loader(once) {
  const versions = new Int32Array(ITEMS).fill(1);
  const name = randomUUID().slice(0, 8);
  let n = 0;
  let turn = 0;
  const one = async (kind, item) => {
    const key = `${name}-${(n++).toString(36)}`;
    await once(PROPOSALS[kind]({ item, version: versions[item], n, key }));
    if (kind === "local") versions[item]++;
  };
  return async ({ kind, callers, ms, ops = Number.POSITIVE_INFINITY }) => {
    const latencies = [];
    const failures = [];
    const endsAt = performance.now() + ms;
    // Other items than in the last run: a caller's own items are spread over the whole table.
    turn++;
    const own = Math.floor(ITEMS / callers);
    const caller = async (slot) => {
      for (let k = 0; latencies.length < ops && performance.now() < endsAt; k++) {
        const beganAt = performance.now();
        try {
          await one(kind, slot + callers * ((k * 7 + turn) % own));
          latencies.push(performance.now() - beganAt);
        } catch (error) {
          failures.push(String(error));
          if (failures.length > 100) return;
        }
      }
    };
    const beganAt = performance.now();
    await Promise.all(Array.from({ length: callers }, (_, slot) => caller(slot)));
    const seconds = (performance.now() - beganAt) / 1000;
    return { ...summary(latencies, seconds), failed: failures.length, failure: failures[0] };
  };
}

export function summary(latencies, seconds) {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { n: sorted.length, seconds, perSecond: sorted.length / seconds, p50: at(0.5), p99: at(0.99) };
}
