import { createHash } from "node:crypto";
import type { JsonObject } from "../../core/json.ts";
import type { Effect, Entry, StoredAnswer } from "./journal.ts";
import {
  effectsOf,
  happen,
  type Item,
  no,
  type Order,
  remember,
  type Shop,
  type ShopAnswer,
  tagHeader,
  tagOf,
} from "./shop.ts";

/** An absolute write of one item under a version, if the shop keeps versions. */
export function putItem(shop: Shop, resource: string, order: Order): ShopAnswer {
  const { body, operation } = order;
  const available = body.available;
  if (typeof available !== "number" || !Number.isInteger(available) || available < 0)
    return no(422, "invalid", '"available" is a count');
  if (barred(shop, operation)) return no(409, "barred", "this operation was barred");
  const item = shop.items.get(resource);
  const { etag } = shop.guarantees;
  const checks = etag === "strong" || etag === "weak" || etag === "applies_then_412";
  if (checks && order.ifMatch === null) return no(428, "precondition_required", "send If-Match");
  if (item === undefined && checks) return no(404, "no_such_item", "there is no such item");
  const holds = !checks || order.ifMatch === tagOf(shop, item);
  if (!holds)
    return {
      ...no(412, "precondition_failed", "the item is at another version"),
      headers: tagHeader(shop, item),
    };
  const marker = shop.guarantees.marker === true && isObject(body.writ) ? { writ: body.writ } : {};
  const value: Item = { available, version: (item?.version ?? 0) + 1, ...marker };
  happen(shop, {
    ...signature(order),
    kind: "item",
    resource,
    version: value.version,
    value: { ...value },
    by: "request",
  });
  const written = {
    status: item === undefined ? 201 : 200,
    body: itemBody(resource, value),
    headers: tagHeader(shop, value),
  };
  return etag === "applies_then_412"
    ? no(412, "precondition_failed", "the item is at another version")
    : written;
}

/** A relative effect: done twice it is there twice. */
export function postOrder(shop: Shop, order: Order): ShopAnswer {
  const { item, quantity } = order.body;
  if (typeof item !== "string" || typeof quantity !== "number" || !Number.isInteger(quantity) || quantity < 1)
    return no(422, "invalid", '"item" and a "quantity" are needed');
  if (barred(shop, order.operation)) return no(409, "barred", "this operation was barred");
  const stock = shop.items.get(item);
  if (stock === undefined) return no(404, "no_such_item", "there is no such item");
  if (stock.available < quantity) return no(409, "out_of_stock", "there are not that many");
  const id = `ord_${shop.orders.size + 1}`;
  const body = { ...order.body, id, item, quantity, status: "placed" };
  const answer = { status: 201, body };
  happen(
    shop,
    { ...signature(order), kind: "order", resource: id, version: 1, value: body, by: "request" },
    stored(shop, order, answer),
  );
  return answer;
}

function signature(order: Order): Pick<Effect, "operation" | "key" | "digest" | "request"> {
  const marker = isObject(order.body.writ) ? order.body.writ : {};
  return {
    operation: order.operation,
    key: order.key,
    digest: typeof marker.digest === "string" ? marker.digest : null,
    request: order.request,
  };
}

function barred(shop: Shop, operation: string | null): boolean {
  return operation !== null && shop.tombstones.has(operation);
}

function stored(shop: Shop, order: Order, { status, body }: ShopAnswer): StoredAnswer | undefined {
  if (shop.guarantees.key === undefined || order.key === null) return undefined;
  return { key: order.key, fingerprint: fingerprintOf(order), status, body };
}

function fingerprintOf(order: Order): string {
  return createHash("sha256").update(JSON.stringify(order.body)).digest("hex");
}

/** What a key decides before any work is done: a stored answer, a refusal, or (undefined) go on. */
export function answerOfKey(shop: Shop, order: Order): ShopAnswer | undefined {
  const { key: guarantee } = shop.guarantees;
  const { key } = order;
  if (guarantee === undefined || key === null) return undefined;
  if (shop.inFlight.has(key))
    return {
      ...no(409, "in_flight", "a request with this key is being processed"),
      headers: { "retry-after": "1" },
    };
  const known = shop.keys.get(key);
  if (known === undefined) return undefined;
  if (guarantee.retentionMs !== null && shop.now() - known.at >= guarantee.retentionMs) {
    return guarantee.after === "executes"
      ? undefined
      : no(410, "key_expired", "this key is too old to be used again");
  }
  const same = known.fingerprint === fingerprintOf(order);
  const { mismatch = "refuses" } = guarantee;
  if (!same && mismatch === "refuses") return no(422, "key_reused", "this key was used for another content");
  if (!same && mismatch === "executes") return undefined;
  return { status: known.status, body: known.body, headers: { "idempotency-replayed": "true" } };
}

/** Keeps a refusal for its key too: the draft standard replays errors as it replays successes. */
export function keepRefusal(shop: Shop, order: Order, answer: ShopAnswer): void {
  const refusal = stored(shop, order, answer);
  if (refusal === undefined || answer.status < 400) return;
  const entry: Entry = { type: "answer", at: shop.now(), answer: refusal };
  shop.journal.append(entry);
  remember(shop, entry);
}

export function getItem(shop: Shop, resource: string): ShopAnswer {
  const item = shop.items.get(resource);
  if (item === undefined) return no(404, "no_such_item", "there is no such item");
  return { status: 200, body: itemBody(resource, item), headers: tagHeader(shop, item) };
}

/** What the shop shows of one operation, as late as its lag says. A tombstone is visible at once. */
export function getOperation(shop: Shop, operation: string): ShopAnswer {
  const { lookup, tombstone } = shop.guarantees;
  if (lookup === undefined) return no(404, "no_such_route", "there is nothing here");
  const effect = effectsOf(shop, operation).find(({ at }) => at + lookup.lagMs <= shop.now());
  if (effect !== undefined)
    return {
      status: 200,
      body: { operation, state: "applied", resource: effect.resource, digest: effect.digest, n: effect.n },
    };
  if (tombstone === true && shop.tombstones.has(operation))
    return { status: 200, body: { operation, state: "barred" } };
  return no(404, "no_such_operation", "no operation of this id has had an effect");
}

/** Makes a later effect of the operation fail for ever; refused when there is one already, visible or not. */
export function putTombstone(shop: Shop, operation: string): ShopAnswer {
  if (shop.guarantees.tombstone !== true) return no(404, "no_such_route", "there is nothing here");
  const [effect] = effectsOf(shop, operation);
  if (effect !== undefined)
    return { status: 409, body: { operation, state: "applied", digest: effect.digest } };
  if (!shop.tombstones.has(operation)) {
    const entry: Entry = { type: "tombstone", at: shop.now(), operation };
    shop.journal.append(entry);
    remember(shop, entry);
  }
  return { status: 201, body: { operation, state: "barred" } };
}

function itemBody(resource: string, item: Item): JsonObject {
  return {
    resource,
    available: item.available,
    version: item.version,
    ...(item.writ === undefined ? {} : { writ: item.writ }),
  };
}

function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
