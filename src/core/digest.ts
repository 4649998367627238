import { createHmac, hash } from "node:crypto";
import { canonicalJson, type Json } from "./json.ts";

/** `sha-256:` and the base64url of the SHA-256 over `domain`, a zero byte, and the exact text. */
export function digestText(domain: string, text: string): string {
  return `sha-256:${hash("sha256", `${domain}\0${text}`, "base64url")}`;
}

/** The digest of a value's canonical form (RFC 8785). The domain keeps digests of different kinds apart. */
export function digestOf(domain: string, value: Json): string {
  return digestText(domain, canonicalJson(value));
}

/** A keyed digest: equal values look equal only to who holds the tenant's key. Never an identity. */
export function keyedDigest(key: Uint8Array, domain: string, value: Json): string {
  return `hmac-256:${createHmac("sha256", key)
    .update(`${domain}\0${canonicalJson(value)}`)
    .digest("base64url")}`;
}
