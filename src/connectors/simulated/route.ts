import type { IncomingMessage } from "node:http";
import { getItem, getOperation, postOrder, putItem, putTombstone } from "./desk.ts";
import type { Premises } from "./premises.ts";
import { no, type Order, type Shop, type ShopAnswer } from "./shop.ts";

/** The shop's own addresses. */
export function route({ shop, later }: Premises, method: string, path: string, order: Order): ShopAnswer {
  const [, place = "", first = "", second = ""] = path.split("/").map(decodeURIComponent);
  if (place === "items" && first !== "" && second !== "") {
    if (method === "GET") return getItem(shop, `${first}/${second}`);
    if (method === "PUT") return putItem(shop, `${first}/${second}`, order);
  }
  if (place === "orders" && first === "" && method === "POST") {
    const { accepts } = shop.guarantees;
    if (accepts === undefined) return postOrder(shop, order);
    later(accepts.afterMs, () => postOrder(shop, order));
    return { status: 202, body: { operation: order.operation, state: "accepted" } };
  }
  if (place === "operations" && first !== "") {
    if (method === "GET" && second === "") return getOperation(shop, first);
    if (method === "PUT" && second === "tombstone") return putTombstone(shop, first);
  }
  return no(404, "no_such_route", "there is nothing here");
}

/** What a proxy in between makes of a tag. */
export function proxied(shop: Shop, request: IncomingMessage, done: ShopAnswer): ShopAnswer {
  const { proxy } = shop.guarantees;
  const tag = done.headers?.etag;
  if (proxy === undefined || tag === undefined || request.method !== "GET") return done;
  const compresses = /\b(gzip|br|deflate)\b/.test(String(request.headers["accept-encoding"] ?? ""));
  if (proxy.when === "compressed" && !compresses) return done;
  const { etag: _, ...rest } = done.headers ?? {};
  switch (proxy.does) {
    case "strips":
      return { ...done, headers: rest };
    case "weakens":
      return { ...done, headers: { ...rest, etag: `W/${tag}` } };
    case "suffixes":
      return { ...done, headers: { ...rest, etag: tag.replace(/"$/, '--gzip"') } };
  }
}
