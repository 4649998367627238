import type { IncomingMessage } from "node:http";
import type { Json, JsonObject } from "../../core/json.ts";
import { Problem } from "../../core/problem.ts";
import { bodyOf } from "./body.ts";
import { type FaultSetting, faultKind } from "./faults.ts";
import type { Premises } from "./premises.ts";
import { effectsOf, no, type ShopAnswer, setItem } from "./shop.ts";

/** The same switches as the programmatic face, for who drives the simulator from another process. Never counted as requests. */
export async function control(
  premises: Premises,
  request: IncomingMessage,
  path: string,
): Promise<ShopAnswer> {
  const { shop, faults, seen, clock } = premises;
  const given = async (): Promise<JsonObject> => JSON.parse((await bodyOf(request)) ?? "{}") as JsonObject; // Whoever drives the simulator sends objects.
  try {
    switch (`${request.method} ${path}`) {
      case "GET /__writ/journal":
        return ok({ effects: shop.effects });
      case "GET /__writ/requests":
        return ok({ requests: seen });
      case "GET /__writ/faults":
        return ok({ faults: faults.waiting });
      case "POST /__writ/faults": {
        const { kind, ...setting } = await given();
        faults.set(faultKind(kind), setting as FaultSetting); // Checked by name only: a wrong value spoils the driver's own experiment.
        return ok({});
      }
      case "DELETE /__writ/faults":
        faults.clear();
        return ok({});
      case "POST /__writ/items": {
        const { resource, available, by } = await given();
        return ok(setItem(shop, String(resource), Number(available), by === "somebody else" ? by : "setup"));
      }
      case "POST /__writ/clock":
        clock.aheadMs += Number((await given()).advanceMs);
        return ok({ now: shop.now() });
    }
  } catch (error) {
    if (error instanceof Problem || error instanceof SyntaxError) return no(400, "invalid", error.message);
    throw error;
  }
  const operation = /^\/__writ\/effects\/([^/]+)$/.exec(path)?.[1];
  if (request.method === "GET" && operation !== undefined)
    return ok({ effects: effectsOf(shop, decodeURIComponent(operation)) });
  return no(
    404,
    "no_such_route",
    "the controls are journal, effects/{operation}, requests, faults, items and clock",
  );
}

function ok(body: object): ShopAnswer {
  return { status: 200, body: JSON.parse(JSON.stringify(body)) as { readonly [name: string]: Json } }; // What was parsed from JSON text is JSON.
}
