import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from "jose";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import { refused, scopesOf, sessionOf, TOLERANCE_S } from "./claims.ts";
import { ALGORITHMS, type Issuer } from "./issuer.ts";
import type { KeySet } from "./key-set.ts";

/** An issuer with its keys. */
export interface Trusted {
  readonly issuer: Issuer;
  readonly keys: KeySet;
}

/** What is known of a token whose signature and claims were found good. When it counts, and for whose key, is asked each time. */
export interface AccessToken {
  readonly session: Session;
  readonly startsAtS: number;
  readonly endsAtS: number;
  readonly scopes: ReadonlySet<string>;
  /** The thumbprint of the key to whose holder it is bound (RFC 9449 6.1). */
  readonly boundTo?: string;
}

/** A token that lives longer is a password. */
const LIFETIME_MAX_S = 24 * 3600;
/** What would bring its own key, the address of one, or a rule that nobody here knows. */
const HEADERS_REFUSED = ["crit", "jwk", "jku", "x5c", "x5u", "b64"] as const;

/** Read before anything is verified, only to choose the keys to verify with. */
export function claimedIssuer(token: string): string {
  try {
    const header = decodeProtectedHeader(token);
    const odd = HEADERS_REFUSED.find((name) => header[name] !== undefined);
    if (odd !== undefined) throw refused(`its header holds "${odd}"`);
    return decodeJwt(token).iss ?? "";
  } catch (error) {
    throw error instanceof Problem ? error : refused("it cannot be read");
  }
}

/** Verifies an access token (RFC 9068) of this issuer, whole. Throws `unauthenticated` or `issuer_unavailable`. */
export async function verified(
  token: string,
  { issuer, keys }: Trusted,
  nowMs: number,
): Promise<AccessToken> {
  const claims = await claimsOf(token, { issuer, keys }, nowMs);
  // One token for several audiences could be carried from one of them to us.
  if (claims.aud !== issuer.audience && !(Array.isArray(claims.aud) && claims.aud.length === 1))
    throw refused("it is for more than this audience");
  const { iat = 0, exp = 0, nbf = iat } = claims;
  const nowS = nowMs / 1000;
  if (iat > nowS + TOLERANCE_S) throw refused("it comes from the future");
  if (exp <= iat || exp - iat > LIFETIME_MAX_S)
    throw refused(`it must live longer than no time and at most ${LIFETIME_MAX_S / 3600} hours`);
  const boundTo = boundKey(claims.cnf);
  if (issuer.requireDpop === true && boundTo === undefined)
    throw refused("its issuer's tokens must be bound to a key of their client (DPoP)");
  return {
    session: sessionOf(issuer, claims, nowS),
    startsAtS: nbf,
    endsAtS: exp,
    scopes: scopesOf(claims.scope),
    ...(boundTo === undefined ? {} : { boundTo }),
  };
}

/** Asked at every use. */
export function refuseUntimely({ startsAtS, endsAtS }: AccessToken, nowMs: number): void {
  const nowS = nowMs / 1000;
  if (nowS >= endsAtS + TOLERANCE_S) throw refused("it has expired");
  if (nowS < startsAtS - TOLERANCE_S) throw refused('its "nbf" lies ahead');
}

async function claimsOf(token: string, { issuer, keys }: Trusted, nowMs: number): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keys.find, {
      // RFC 8725 3.1: the verifier names the algorithms.
      algorithms: [...(issuer.algorithms ?? ALGORITHMS)],
      typ: "at+jwt",
      issuer: issuer.issuer,
      audience: issuer.audience,
      requiredClaims: ["iss", "aud", "sub", "client_id", "exp", "iat", "jti"],
      clockTolerance: TOLERANCE_S,
      currentDate: new Date(nowMs),
    });
    return payload;
  } catch (error) {
    throw error instanceof Problem ? error : refused(reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "it has expired";
  if (error instanceof errors.JWTClaimValidationFailed)
    return `its "${error.claim}" is missing or not what it must be here`;
  if (error instanceof errors.JOSEAlgNotAllowed) return "its algorithm is not one that its issuer may use";
  if (
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  )
    return "its signature does not hold";
  return "it is not an access token of the kind that is trusted here";
}

/** A binding that we cannot check is not one that we may ignore. */
function boundKey(confirmation: unknown): string | undefined {
  if (confirmation === undefined) return undefined;
  const { jkt, ...others } = (confirmation ?? {}) as Readonly<Record<string, unknown>>; // Asked member by member.
  if (typeof jkt !== "string" || Object.keys(others).length > 0)
    throw refused("it is bound in a way that cannot be checked here");
  return jkt;
}
