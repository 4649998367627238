import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../core/problem.ts";
import type { DoorSettings } from "./door.ts";

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/;
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
/** Headers of which two would leave open which one counts. */
const SINGLE = [
  "authorization",
  "content-encoding",
  "content-type",
  "dpop",
  "host",
  "idempotency-key",
  "last-event-id",
  "origin",
];
const METHODS = "GET, HEAD, POST";
const HEADERS = "authorization, content-type, dpop, idempotency-key, if-none-match, last-event-id, prefer";
const EXPOSED = "etag, idempotency-replayed, location, preference-applied, retry-after, www-authenticate";

/** What no request may get past, whatever it asks for. */
export function guard(
  settings: DoorSettings,
  request: FastifyRequest,
  reply: FastifyReply,
): "answered" | "go on" {
  refuseDoubles(request);
  refuseHost(settings, request);
  const origin = foreignOrigin(request);
  if (origin === undefined) return "go on";
  if (!(settings.origins ?? []).includes(origin)) {
    throw new Problem("forbidden", "pages of another origin may not call this", {
      at: "Origin",
      next: "Name the origin under `origins` in the configuration if its pages may.",
    });
  }
  void reply.headers({
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED,
    vary: "origin",
  });
  if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined)
    return "go on";
  void reply
    .headers({
      "access-control-allow-methods": METHODS,
      "access-control-allow-headers": HEADERS,
      "access-control-max-age": "600",
    })
    .code(204)
    .send();
  return "answered";
}

function refuseDoubles(request: FastifyRequest): void {
  const raw = request.raw.rawHeaders;
  const seen = new Set<string>();
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? "").toLowerCase();
    if (SINGLE.includes(name) && seen.has(name))
      throw new Problem("invalid_request", `the header ${name} was sent twice`, { at: name });
    seen.add(name);
  }
}

/**
 * A page whose own name was made to point at this machine (DNS rebinding) looks like our own page to the browser; only the Host header
 * still tells its name. So what arrives over loopback must name this machine, or a name that the operator gave.
 */
function refuseHost(settings: DoorSettings, request: FastifyRequest): void {
  const { localAddress, localPort } = request.raw.socket;
  if (localAddress === undefined || !LOOPBACK.test(localAddress)) return;
  const host = request.headers.host?.toLowerCase();
  const local = LOOPBACK_NAMES.some(
    (name) => host === `${name}:${localPort}` || (localPort === 80 && host === name),
  );
  if (local || (host !== undefined && (settings.hosts ?? []).includes(host))) return;
  throw new Problem("misdirected", "this is not the host that was asked for", {
    at: "Host",
    next: "Name the host under `hosts` in the configuration if this installation is reached by it.",
  });
}

/** The origin of the page that sends this, unless it is our own or no page does. */
function foreignOrigin(request: FastifyRequest): string | undefined {
  const { origin, host } = request.headers;
  if (origin === undefined) return undefined;
  // Behind a proxy that ends TLS we see http where the page saw https: the host decides.
  const same =
    URL.canParse(origin) &&
    /^https?:$/.test(new URL(origin).protocol) &&
    new URL(origin).host === host?.toLowerCase();
  return same ? undefined : origin;
}
