import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import type { JsonObject } from "../../core/json.ts";
import { Problem } from "../../core/problem.ts";
import { fingerprint } from "../fingerprint.ts";
import type { RenderedRequest } from "../template.ts";

/** Our own key, with which requests are signed (RFC 9421). */
export interface SigningSettings {
  /** The name under which the provider knows the public key. */
  readonly keyId: string;
  /** PKCS #8 in PEM: Ed25519, or ECDSA on P-256. */
  readonly privateKey: string;
}

type Headers = readonly (readonly [name: string, value: string])[];

/** Signs one request: gives the headers that are sent beside its own. */
export type Sign = (request: RenderedRequest) => Promise<Headers>;

/** What an action pins: another key is another caller. Throws `invalid` for a key that cannot sign. */
export function signingPinned({ keyId, privateKey }: SigningSettings): JsonObject {
  const key = keyOf(privateKey);
  if (!/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(keyId)) throw wrong("the key's name is not visible ASCII");
  const known = createPublicKey(key).export({ type: "spki", format: "der" });
  return { keyId, algorithm: algorithmOf(key), key: fingerprint(known.toString("base64")) };
}

/**
 * The signature covers method, whole address, content type and the digest of the body (RFC 9530). It says who sends and when, so it is the
 * one thing that differs between attempts; what it covers does not. The library is loaded by whoever signs.
 */
export async function signer({ keyId, privateKey }: SigningSettings): Promise<Sign> {
  const { createSigner, httpbis } = await import("http-message-signatures");
  const key = createSigner(privateKey, algorithmOf(keyOf(privateKey)), keyId);
  return async ({ method, origin, path, headers, body }) => {
    const digest = body === undefined ? [] : [["content-digest", digestOf(body)] as const];
    const all = Object.fromEntries([...headers, ...digest]);
    const fields = ["@method", "@target-uri", "content-type", "content-digest"].filter(
      (name) => name.startsWith("@") || Object.hasOwn(all, name),
    );
    const params = ["created", "keyid", "alg"];
    const config = { key, name: "writ", fields, params };
    const signed = await httpbis.signMessage(config, { method, url: origin + path, headers: all });
    const ours = Object.entries(signed.headers).flatMap(([name, value]): (readonly [string, string])[] =>
      /^signature(-input)?$/i.test(name) && typeof value === "string" ? [[name.toLowerCase(), value]] : [],
    );
    return [...digest, ...ours];
  };
}

function digestOf(body: string): string {
  return `sha-256=:${createHash("sha256").update(body, "utf8").digest("base64")}:`;
}

function keyOf(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // Node's own words may quote the key.
    throw wrong("the key is not a private key in PEM form");
  }
}

function algorithmOf(key: KeyObject): "ed25519" | "ecdsa-p256-sha256" {
  if (key.asymmetricKeyType === "ed25519") return "ed25519";
  if (key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1")
    return "ecdsa-p256-sha256";
  throw wrong("the key is neither Ed25519 nor ECDSA on P-256");
}

function wrong(says: string): Problem {
  return new Problem("invalid", `the provider's "sign": ${says}`, { at: "/sign" });
}
