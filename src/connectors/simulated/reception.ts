import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { JsonObject } from "../../core/json.ts";
import { bodyOf } from "./body.ts";
import { control } from "./control.ts";
import { beforeEffect, deliver, send } from "./delivery.ts";
import { answerOfKey, keepRefusal } from "./desk.ts";
import type { Premises, SeenRequest } from "./premises.ts";
import { proxied, route } from "./route.ts";
import { no, type Order } from "./shop.ts";

/** One request from its first byte to its answer, or to whatever a fault makes of it. */
export async function serve(
  premises: Premises,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.on("error", () => undefined);
  try {
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    if (path.startsWith("/__writ/")) return send(response, await control(premises, request, path));
    const seen = see(premises, request);
    const text = await bodyOf(request);
    const body = text === undefined ? undefined : objectOf(text);
    seen.body = text ?? null;
    seen.operation = operationOf(request, path, body);
    if (body === undefined) return send(response, no(400, "malformed", "the body is not a JSON object"));
    await answer(premises, { request, response, path, seen, body });
  } catch {
    // The client went away while it was speaking; there is nobody to tell.
    response.socket?.destroy();
  }
}

function see({ seen, shop, connections }: Premises, request: IncomingMessage): SeenRequest {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const entry: SeenRequest = {
    n: seen.length + 1,
    at: shop.now(),
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers,
    connection: connections.get(request.socket) ?? 0,
    key: unquoted(headers["idempotency-key"]),
    version: headers["if-match"] ?? null,
    operation: null,
    body: null,
  };
  seen.push(entry);
  return entry;
}

/** The IETF draft quotes the key, most vendors do not: both name the same key. */
function unquoted(key: string | undefined): string | null {
  return key === undefined ? null : (/^"(.*)"$/.exec(key)?.[1] ?? key);
}

function operationOf(request: IncomingMessage, path: string, body: JsonObject | undefined): string | null {
  const marker = body?.writ;
  const named =
    marker !== null && typeof marker === "object" && "operation" in marker ? marker.operation : undefined;
  const header = request.headers["writ-operation"];
  const inPath = /^\/operations\/([^/]+)/.exec(path)?.[1];
  const words: unknown[] = [named, header, inPath, unquoted(request.headers["idempotency-key"]?.toString())];
  return words.filter((word) => typeof word === "string")[0] ?? null;
}

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly seen: SeenRequest;
  readonly body: JsonObject;
}

async function answer(premises: Premises, { request, response, path, seen, body }: Call): Promise<void> {
  const { shop, faults } = premises;
  const asked = request.headers["writ-fault"]?.toString() ?? null;
  const fault = faults.take({ method: seen.method, path, operation: seen.operation, asked });
  const order: Order = {
    request: seen.n,
    body,
    key: seen.key,
    ifMatch: seen.version,
    operation: seen.operation,
  };
  const keyed = seen.method === "POST" ? answerOfKey(shop, order) : undefined;
  const before = beforeEffect(fault);
  if (before === "drop") return void response.socket?.destroy();
  if (typeof before === "object" && "answer" in before) return send(response, before.answer, fault?.text);
  if (keyed !== undefined) return deliver(response, keyed, fault);
  if (order.key !== null) shop.inFlight.add(order.key);
  try {
    if (before === "silence") return await gone(response);
    if (before !== undefined) await wait(before.waitMs);
    const done = route(premises, seen.method, path, order);
    if (seen.method === "POST") keepRefusal(shop, order, done);
    deliver(response, proxied(shop, request, done), fault);
  } finally {
    if (order.key !== null) shop.inFlight.delete(order.key);
  }
}

function gone(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => (response.destroyed ? resolve() : response.once("close", () => resolve())));
}

function objectOf(text: string): JsonObject | undefined {
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined; // JSON.parse gives JSON.
  } catch {
    return undefined;
  }
}
