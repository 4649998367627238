import type { JsonObject } from "../core/json.ts";
import { parseJson } from "../core/json.ts";
import type { IssuerFetch } from "./issuer-fetch.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** https, or this machine itself where the issuer lives on it. */
export function isSafeAddress(url: string, issuer: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (isLocal(url) && isLocal(issuer));
}

function isLocal(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && LOOPBACK.test(hostname);
}

/**
 * The metadata that an issuer publishes about itself: RFC 8414, else OpenID Connect Discovery. Rejects with an Error that says why there
 * is none that can be trusted: what calls itself by another name is somebody else's.
 */
export async function discovered(issuer: string, fetch: IssuerFetch): Promise<JsonObject> {
  let why = "it publishes no metadata";
  for (const address of metadataAddresses(issuer)) {
    const reply = await fetch(address);
    if (reply.status >= 300 && reply.status < 400) throw new Error("its metadata redirects elsewhere");
    if (reply.status >= 500) throw new Error(`its metadata answers ${reply.status}`);
    if (reply.status !== 200) continue;
    const metadata = objectIn(await reply.text());
    if (metadata === undefined) why = "its metadata is not a JSON object";
    else if (metadata.issuer === issuer) return metadata;
    else why = "its metadata is that of another issuer";
  }
  throw new Error(why);
}

function metadataAddresses(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  return [
    // RFC 8414 3.1: between host and path.
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

/** What a JSON text holds when that is an object. */
export function objectIn(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return value === null || typeof value !== "object" || Array.isArray(value)
      ? undefined
      : (value as JsonObject); // Neither null nor an array.
  } catch {
    return undefined;
  }
}
