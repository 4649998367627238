import { createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { canonicalJson, type JsonObject, parseJson } from "../core/json.ts";
import type { Signer } from "../service/ports.ts";
import type { PublicKeys, SigningKey } from "./keys.ts";

const TYPE = "writ-receipt+json";

/** Signs at once, without waiting: the receipt is made while the transaction that settles the operation is being written. */
export function receiptSigner({ keyId, privateKey }: SigningKey): Signer {
  const header = base64url(canonicalJson({ alg: "EdDSA", kid: keyId, typ: TYPE }));
  return {
    keyId,
    sign: (claims) => {
      const input = `${header}.${base64url(canonicalJson(claims))}`;
      return `${input}.${sign(null, Buffer.from(input), privateKey).toString("base64url")}`;
    },
  };
}

export type Verdict =
  | { readonly ok: true; readonly claims: JsonObject; readonly keyId: string }
  | { readonly ok: false; readonly why: string };

/** Is this compact JWS (RFC 7515) a receipt that one of these keys signed? Only EdDSA, only by a key that is in the set. */
export function verifyReceipt(jws: string, { keys }: PublicKeys): Verdict {
  const [head, payload, signature, ...more] = jws.split(".");
  if (head === undefined || payload === undefined || signature === undefined || more.length > 0)
    return no("it is not a compact JWS");
  const header = objectOf(head);
  if (header === undefined) return no("its header cannot be read");
  // RFC 7515 4.1.11: an extension that the header calls critical and nobody here knows makes it invalid.
  if (header.alg !== "EdDSA" || header.typ !== TYPE || header.crit !== undefined)
    return no("it is not a receipt signed with EdDSA");
  const key = keys.find(({ kid }) => kid === header.kid);
  if (key === undefined) return no("its key is not among the known ones");
  // Spread: node wants a JWK with an index signature.
  const publicKey: KeyObject = createPublicKey({ key: { ...key }, format: "jwk" });
  if (!verify(null, Buffer.from(`${head}.${payload}`), publicKey, Buffer.from(signature, "base64url")))
    return no("its signature does not hold");
  const claims = objectOf(payload);
  return claims === undefined ? no("what it signs is not an object") : { ok: true, claims, keyId: key.kid };
}

function no(why: string): Verdict {
  return { ok: false, why };
}

function objectOf(part: string): JsonObject | undefined {
  const bytes = Buffer.from(part, "base64url");
  // One text for one receipt: what decodes to the same bytes but is written otherwise is not it.
  if (bytes.toString("base64url") !== part) return undefined;
  try {
    const value = parseJson(bytes);
    return value === null || typeof value !== "object" || Array.isArray(value)
      ? undefined
      : (value as JsonObject); // Neither null nor an array.
  } catch {
    return undefined;
  }
}

function base64url(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}
