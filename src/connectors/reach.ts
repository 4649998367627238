import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import type { CommonSettings } from "./define.ts";
import { fingerprint } from "./fingerprint.ts";
import { type EgressRule, egressGuard } from "./http/egress.ts";

/** How a broker proves who we are. */
type Login =
  | { readonly basic: { readonly user: string; readonly password: string } }
  | { readonly bearer: string };

/** What the operator says about one broker, whatever its kind. */
export interface BrokerSettings extends EgressRule, CommonSettings {
  /** Where it listens, without a credential. Several are tried in order until one lets us in; no message is ever sent to a second. */
  readonly url: string | readonly string[];
  readonly auth?: Login;
  /** Trusted instead of the system's roots, in PEM. */
  readonly ca?: string;
  readonly connectMs?: number;
}

/** One place from the settings. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** The url's path without its slash, decoded. */
  readonly path: string;
}

/** The schemes of one kind of broker: plain, and inside of TLS. */
export interface Schemes {
  readonly plain: string;
  readonly tls: string;
  readonly port: { readonly plain: number; readonly tls: number };
}

const PLACES_MAX = 16;
const CONNECT_MS = 5_000;

export function connectMsOf({ connectMs }: Pick<BrokerSettings, "connectMs">): number {
  return connectMs ?? CONNECT_MS;
}

/** Waits for a handshake, and ends it when it takes longer than a connection may: nobody else would. */
export async function timely<Value>(
  handshake: Promise<Value>,
  settings: Pick<BrokerSettings, "connectMs">,
  end: () => void,
): Promise<Value> {
  const timer = setTimeout(end, connectMsOf(settings));
  try {
    return await handshake;
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the addresses. Throws `invalid` for one that could be read as something else. */
export function placesOf({ url }: Pick<BrokerSettings, "url">, schemes: Schemes): readonly Place[] {
  const urls = typeof url === "string" ? [url] : url;
  if (urls.length === 0 || urls.length > PLACES_MAX) throw wrong("url", `names 1 to ${PLACES_MAX} places`);
  return urls.map((text) => placeOf(text, schemes));
}

function placeOf(text: string, { plain, tls, port }: Schemes): Place {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = url?.protocol.slice(0, -1);
  if (url === undefined || (scheme !== plain && scheme !== tls) || url.hostname === "")
    throw wrong("url", `begins with ${plain}:// or ${tls}:// and names a host`);
  if (url.username !== "" || url.password !== "")
    throw wrong("url", "holds a credential; it belongs into auth");
  if (url.search !== "" || url.hash !== "") throw wrong("url", "ends with its path; leave ?… and #… out");
  const standard = scheme === tls ? port.tls : port.plain;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? standard : Number(url.port),
    tls: scheme === tls,
    path: decodeURIComponent(url.pathname.replace(/^\//, "")),
  };
}

export function wrong(member: string, says: string): Problem {
  return new Problem("invalid", `the provider's "${member}" ${says}`, { at: `/${member}` });
}

/**
 * The addresses of a place that the guard has seen, to be connected to as they are: a second answer of the name server changes nothing.
 * Rejects with the reason where there are none. One refused address refuses the name.
 */
export async function addressesOf({ host }: Place, rule: EgressRule): Promise<readonly string[]> {
  const guard = egressGuard(rule);
  const resolve = rule.resolve ?? ((name) => lookup(name, { all: true }));
  const found = isIP(host) === 0 ? await resolve(host) : [{ address: host }];
  if (found.length === 0) throw new Error(`${host} has no address`);
  for (const { address } of found) {
    const why = guard(host, address);
    if (why !== undefined) throw new Error(why);
  }
  return found.map(({ address }) => address);
}

/**
 * How a certificate is checked: against the name in the settings, although the connection goes to an address. Said here, so that
 * NODE_TLS_REJECT_UNAUTHORIZED=0 in somebody's environment cannot unsay it.
 */
export function tlsOf({ host }: Place, { ca }: Pick<BrokerSettings, "ca">) {
  return {
    rejectUnauthorized: true,
    minVersion: "TLSv1.2" as const,
    // RFC 6066 3: an address is no server name.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
  };
}

/** Every text that must never be shown. */
export function secretsOf({ auth, secrets }: BrokerSettings): readonly string[] {
  const named = Object.values(secrets ?? {});
  if (auth === undefined) return named;
  return [...named, "bearer" in auth ? auth.bearer : auth.basic.password];
}

/** What the action pins of a broker's settings. */
export function pinnedBroker(kind: string, settings: BrokerSettings, schemes: Schemes): JsonObject {
  const { url, auth, ca, allowPrivate, writ, secrets } = settings;
  placesOf(settings, schemes);
  egressGuard(settings);
  const credential = auth === undefined ? null : canonicalJson(auth);
  const named = Object.entries(secrets ?? {}).map(([name, secret]) => [name, fingerprint(secret)]);
  return {
    kind,
    url: typeof url === "string" ? [url] : [...url],
    auth: auth === undefined ? "none" : "bearer" in auth ? "bearer" : `basic ${auth.basic.user}`,
    credential: credential === null ? null : fingerprint(credential),
    ca: ca === undefined ? null : fingerprint(ca),
    allowPrivate: typeof allowPrivate === "object" ? [...allowPrivate] : allowPrivate === true,
    secrets: Object.fromEntries(named),
    writ: { ...writ },
  };
}
