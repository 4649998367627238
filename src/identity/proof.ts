import { createHash } from "node:crypto";
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, type JWTPayload, jwtVerify } from "jose";
import type { Instant, TenantId } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { SpentProofs } from "../service/identity-port.ts";
import { TOLERANCE_S } from "./claims.ts";
import { ALGORITHMS } from "./issuer.ts";
import { isPublicKey } from "./key-set.ts";

/** What a proof of possession (RFC 9449) has to be about. */
export interface Proving {
  readonly proof: string | undefined;
  readonly method: string;
  /** The address of the call, under the installation's public name: never from what a Host header says. */
  readonly url: string;
  readonly token: string;
  /** The thumbprint of the key to which the token is bound. */
  readonly boundTo: string;
  readonly tenantId: TenantId;
}

const PROOF_MAX = 4_096;
const ID = /^[\x21-\x7e]{1,256}$/;
const AGE_MAX_S = 60;
/** Longer than any process would take it for young. */
const KEPT_MS = 2 * (AGE_MAX_S + TOLERANCE_S) * 1000;

/** Only the holder of the key, only for this call, and only once, whichever process is asked. Throws `unauthenticated`. */
export async function provePossession(spent: SpentProofs, proving: Proving): Promise<void> {
  const { proof } = proving;
  if (proof === undefined) throw refused("there is none");
  if (proof.length > PROOF_MAX) throw refused("it is too large");
  const { claims, thumbprint } = await signed(proof);
  if (thumbprint !== proving.boundTo) throw refused("it is by another key than the token is bound to");
  const { jti, iat, htm, htu, ath } = claims;
  if (htm !== proving.method) throw refused('its "htm" is another method');
  if (typeof htu !== "string" || !sameAddress(htu, proving.url))
    throw refused('its "htu" is another address');
  if (ath !== createHash("sha256").update(proving.token).digest("base64url"))
    throw refused('its "ath" is not the token\'s');
  if (typeof jti !== "string" || !ID.test(jti)) throw refused('its "jti" is missing');
  if (typeof iat !== "number") throw refused('its "iat" is missing');
  const name = createHash("sha256").update(`${thumbprint}\0${jti}`).digest("base64url");
  const { fresh, clock } = await spent.spend(proving.tenantId, name, KEPT_MS);
  if (!fresh) throw refused("it was used before");
  refuseUntimely(iat, clock);
}

function refused(why: string): Problem {
  return new Problem("unauthenticated", `the proof of possession is not accepted: ${why}`, {
    at: "DPoP",
    next: "Make a new proof for this very call, with the key that the token is bound to (RFC 9449).",
  });
}

async function signed(proof: string): Promise<{ readonly claims: JWTPayload; readonly thumbprint: string }> {
  try {
    const { jwk } = decodeProtectedHeader(proof);
    if (!isPublicKey(jwk)) throw new Error("no public key");
    const { payload } = await jwtVerify(proof, EmbeddedJWK, {
      typ: "dpop+jwt",
      algorithms: [...ALGORITHMS],
      // Its time is judged by the database's clock, below.
      clockTolerance: Number.MAX_SAFE_INTEGER,
    });
    return { claims: payload, thumbprint: await calculateJwkThumbprint(jwk) };
  } catch {
    throw refused("it is not one that holds");
  }
}

/** RFC 9449 4.3: without query and fragment, normalized. */
function sameAddress(said: string, url: string): boolean {
  if (!URL.canParse(said) || !URL.canParse(url)) return false;
  const [one, other] = [new URL(said), new URL(url)];
  return one.origin === other.origin && one.pathname === other.pathname;
}

function refuseUntimely(iat: number, clock: Instant): void {
  const nowS = clock / 1000;
  if (iat > nowS + TOLERANCE_S) throw refused("it comes from the future");
  if (iat < nowS - AGE_MAX_S) throw refused("it is too old");
}
