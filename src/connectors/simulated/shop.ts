import type { JsonObject } from "../../core/json.ts";
import type { Guarantees } from "./guarantees.ts";
import type { Effect, Entry, Journal, StoredAnswer } from "./journal.ts";

/** A request as the shop sees it: parsed, and no longer of any protocol. */
export interface Order {
  readonly request: number;
  readonly body: JsonObject;
  readonly key: string | null;
  readonly ifMatch: string | null;
  readonly operation: string | null;
}

export interface ShopAnswer {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Item {
  readonly available: number;
  readonly version: number;
  readonly writ?: JsonObject;
}

/** What a shop knows. All of it follows from its journal, so a killed process comes back with the same knowledge. */
export interface Shop {
  readonly guarantees: Guarantees;
  readonly journal: Journal;
  readonly now: () => number;
  readonly effects: Effect[];
  readonly items: Map<string, Item>;
  readonly orders: Map<string, JsonObject>;
  readonly keys: Map<string, StoredAnswer & { readonly at: number }>;
  readonly inFlight: Set<string>;
  readonly tombstones: Set<string>;
}

export function openShop(guarantees: Guarantees, journal: Journal, now: () => number): Shop {
  const shop: Shop = {
    guarantees,
    journal,
    now,
    effects: [],
    items: new Map(),
    orders: new Map(),
    keys: new Map(),
    inFlight: new Set(),
    tombstones: new Set(),
  };
  for (const entry of journal.entries) remember(shop, entry);
  return shop;
}

export function remember(shop: Shop, entry: Entry): void {
  switch (entry.type) {
    case "effect": {
      const { effect, answer } = entry;
      shop.effects.push(effect);
      if (answer !== undefined) shop.keys.set(answer.key, { ...answer, at: effect.at });
      if (effect.kind === "item")
        shop.items.set(effect.resource, effect.value as unknown as Item); // Written by `putItem` and `setItem` below.
      else takeOrder(shop, effect);
      return;
    }
    case "answer":
      shop.keys.set(entry.answer.key, { ...entry.answer, at: entry.at });
      return;
    case "tombstone":
      shop.tombstones.add(entry.operation);
      return;
  }
}

function takeOrder(shop: Shop, { resource, value }: Effect): void {
  shop.orders.set(resource, value);
  const item = shop.items.get(String(value.item));
  if (item === undefined) return;
  shop.items.set(String(value.item), {
    ...item,
    available: item.available - Number(value.quantity),
    version: item.version + 1,
  });
}

/** The journal first: what is not written down did not happen. */
export function happen(shop: Shop, draft: Omit<Effect, "n" | "at">, answer?: StoredAnswer): void {
  const n = shop.effects.length + 1;
  const entry: Entry = {
    type: "effect",
    effect: { n, at: shop.now(), ...draft },
    ...(answer === undefined ? {} : { answer }),
  };
  shop.journal.append(entry);
  remember(shop, entry);
}

/** Sets an item from outside any request. */
export function setItem(
  shop: Shop,
  resource: string,
  available: number,
  by: "setup" | "somebody else",
): Item {
  const value: Item = { available, version: (shop.items.get(resource)?.version ?? 0) + 1 };
  happen(shop, {
    kind: "item",
    resource,
    operation: null,
    key: null,
    digest: null,
    version: value.version,
    value: { ...value },
    by,
    request: null,
  });
  return value;
}

export function effectsOf(shop: Shop, operation: string): readonly Effect[] {
  return shop.effects.filter((effect) => effect.operation === operation || effect.key === operation);
}

/** The tag of a version: a counter, so that it never returns. */
export function tagOf(shop: Shop, item: Item | undefined): string {
  const tag = `"v${item?.version ?? 0}"`;
  return shop.guarantees.etag === "weak" ? `W/${tag}` : tag;
}

export function tagHeader(shop: Shop, item: Item | undefined): Record<string, string> {
  return shop.guarantees.etag === undefined || item === undefined ? {} : { etag: tagOf(shop, item) };
}

export function no(status: number, error: string, message: string): ShopAnswer {
  return { status, body: { error, message } };
}
