import type { CedarValueJson, EntityJson } from "@cedar-policy/cedar-wasm/nodejs";
import type { Reads } from "./reads.ts";
import type { CedarRequest } from "./request.ts";
import type { SliceOf, Verdict } from "./slice.ts";

/** Remembers verdicts by everything that the rules asked could read. Made for one version of the rules, and gone with it. */
export interface VerdictCache {
  evaluate(slice: SliceOf, request: CedarRequest): Verdict;
  readonly size: number;
}

/** The `max` latest; 0 remembers nothing. `keyOf` is for tests that break it. */
export function verdictCache(max: number, keyOf: typeof keyFor = keyFor): VerdictCache {
  let slices = new Map<SliceOf, Map<string, Verdict>>();
  let size = 0;
  return {
    evaluate: (slice, request) => {
      const known = slices.get(slice);
      const key = keyOf(slice.reads, request);
      const found = known?.get(key);
      if (found !== undefined) return found;
      const verdict = slice.evaluate(request);
      if (size >= max) {
        slices = new Map();
        size = 0;
      }
      if (max === 0) return verdict;
      const kept = slices.get(slice) ?? new Map<string, Verdict>();
      slices.set(slice, kept.set(key, verdict));
      size += 1;
      return verdict;
    },
    get size() {
      return size;
    },
  };
}

/** Two requests with one key look the same to every rule that reads no more than this. */
export function keyFor(reads: Reads, request: CedarRequest): string {
  const { principal, resource, context, entities } = request;
  return JSON.stringify([
    principal.type,
    resource.type,
    reads.principal.map((path) => partOfEntity(principal, path, entities)),
    reads.resource.map((path) => partOfEntity(resource, path, entities)),
    reads.context.map((path) => part(context, path)),
  ]);
}

/** The whole of an entity is who it is and all that stands in the request beside it: what it leads to is there too. */
function partOfEntity(
  { type, id }: CedarRequest["principal"],
  path: readonly string[],
  entities: readonly EntityJson[],
): unknown {
  if (path.length === 0) return [id, entities];
  const entity = entities.find(({ uid }) => "type" in uid && uid.type === type && uid.id === id);
  return entity === undefined ? [id, entities] : part(entity.attrs, path);
}

/** What is there and is nothing else: a list of one, or an empty list. */
function part(
  value: CedarValueJson | Record<string, CedarValueJson>,
  path: readonly string[],
): readonly unknown[] {
  let held: unknown = value;
  for (const step of path) {
    if (typeof held !== "object" || held === null || !Object.hasOwn(held, step)) return [];
    held = (held as Record<string, unknown>)[step]; // Just seen to have it.
  }
  return [held];
}
