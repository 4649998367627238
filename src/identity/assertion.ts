import { createHash, createPublicKey, verify } from "node:crypto";
import { challengeOf } from "../core/approval.ts";
import { type JsonObject, parseJson } from "../core/json.ts";
import type { SignedApproval } from "../core/review.ts";

/** Where the signature has to have been given. */
export interface Expected {
  readonly rpId: string;
  readonly origins: readonly string[];
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;

/**
 * Why this is not the named person's passkey signing exactly this statement, in words; undefined when it is. Needs nothing but what is
 * passed in: no network, no ledger and no library, so that anybody can check an approval years later (WebAuthn Level 3, 7.2).
 */
export function assertionFault(signed: SignedApproval, expected: Expected): string | undefined {
  const client = Buffer.from(signed.clientDataJSON, "base64url");
  const data = Buffer.from(signed.authenticatorData, "base64url");
  const told = clientDataOf(client);
  if (told === undefined) return "its client data cannot be read";
  if (told.type !== "webauthn.get") return "it is not the signature of a passkey in use";
  if (told.challenge !== challengeOf(signed.statement)) return "it signs another statement";
  if (!expected.origins.includes(String(told.origin))) return "it was given at another origin";
  if (data.length < 37) return "its authenticator data is too short";
  const rp = createHash("sha256").update(expected.rpId).digest();
  if (!data.subarray(0, 32).equals(rp)) return "it was given for another site";
  const flags = data[32] ?? 0;
  if ((flags & USER_PRESENT) === 0 || (flags & USER_VERIFIED) === 0)
    return "the authenticator did not verify its user";
  return signatureHolds(signed, data, client) ? undefined : "its signature does not hold";
}

function clientDataOf(bytes: Buffer): JsonObject | undefined {
  try {
    const value = parseJson(bytes);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value as JsonObject) // Neither null nor an array.
      : undefined;
  } catch {
    return undefined;
  }
}

function signatureHolds({ publicKey, signature }: SignedApproval, data: Buffer, client: Buffer): boolean {
  try {
    const key = createPublicKey({ key: { ...publicKey }, format: "jwk" });
    const message = Buffer.concat([data, createHash("sha256").update(client).digest()]);
    // Ed25519 hashes by itself; ECDSA on P-256 and RSA are used with SHA-256 (RFC 8152, RFC 8812).
    const algorithm = publicKey.kty === "OKP" ? null : "sha256";
    return verify(algorithm, message, key, Buffer.from(signature, "base64url"));
  } catch {
    return false;
  }
}
