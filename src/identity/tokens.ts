import type { KeyObject } from "node:crypto";
import {
  createLocalJWKSet,
  decodeJwt,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
  SignJWT,
} from "jose";
import { type TenantId, tenantId } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import type { PublicKeys, SigningKey } from "./keys.ts";

/** One issuer whose tokens open a session here, and what its tokens mean. */
export interface Issuer {
  readonly issuer: string;
  /** The token must be for exactly this audience and no other. */
  readonly audience: string;
  readonly keys: PublicKeys;
  /** One tenant for all its tokens, or the claim that names one of the tenants it may speak for. */
  readonly tenant: TenantId | { readonly claim: string; readonly among: readonly TenantId[] };
  /** Default `roles`. */
  readonly rolesClaim?: string;
}

/** What a token says about who asks. */
export interface Grant {
  readonly issuer: string;
  readonly audience: string;
  readonly tenant: TenantId;
  readonly principal: string;
  readonly client: string;
  readonly roles: readonly string[];
  readonly ttlS: number;
}

/** The claim in which our own tokens name their tenant. */
export const TENANT_CLAIM = "writ_tenant";
/** What a clock may be wrong by between two machines that keep time. */
const TOLERANCE_S = 5;
/** A token that lives longer is a password. */
const LIFETIME_MAX_S = 24 * 3600;
const TOKEN_MAX = 8_192;
const ROLES_MAX = 64;
const NAME = /^[\x21-\x7e]{1,200}$/;
const ROLE = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$/;
const BEARER = /^Bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i;

/** An access token (RFC 9068) for who is named. For the development issuer and for tests: an installation has its own issuer. */
export async function mintToken(
  grant: Grant,
  key: Pick<SigningKey, "keyId" | "privateKey">,
  nowMs: number,
): Promise<string> {
  const nowS = Math.floor(nowMs / 1000);
  return new SignJWT({ client_id: grant.client, roles: [...grant.roles], [TENANT_CLAIM]: grant.tenant })
    .setProtectedHeader({ alg: "EdDSA", kid: key.keyId, typ: "at+jwt" })
    .setIssuer(grant.issuer)
    .setAudience(grant.audience)
    .setSubject(grant.principal)
    .setIssuedAt(nowS)
    .setNotBefore(nowS)
    .setExpirationTime(nowS + grant.ttlS)
    .setJti(crypto.randomUUID())
    .sign(key.privateKey satisfies KeyObject);
}

/** Turns the Authorization header of a call into a session. Throws `unauthenticated`; never says or logs a token. */
export type Identify = (authorization: string | undefined) => Promise<Session>;

export function tokenIdentity({
  issuers,
  clock,
}: {
  readonly issuers: readonly Issuer[];
  readonly clock: () => number;
}): Identify {
  const known = new Map(
    issuers.map((issuer) => [
      issuer.issuer,
      { issuer, keyOf: createLocalJWKSet({ keys: [...issuer.keys.keys] }) },
    ]),
  );
  return async (authorization) => {
    const token = tokenOf(authorization);
    const trusted = known.get(claimedIssuer(token));
    if (trusted === undefined) throw refused("it comes from an issuer that is not trusted here");
    const nowMs = clock();
    return sessionOf(trusted.issuer, await verified(token, trusted.issuer, trusted.keyOf, nowMs), nowMs);
  };
}

function refused(why: string): Problem {
  return new Problem("unauthenticated", `the token is not accepted: ${why}`, {
    next: "Get a new token, and send it as Authorization: Bearer …",
  });
}

function tokenOf(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new Problem("unauthenticated", "this needs a token", {
      next: "Send Authorization: Bearer … with a token of an issuer that this installation trusts.",
    });
  }
  const token = authorization.length > TOKEN_MAX ? undefined : BEARER.exec(authorization)?.[1];
  if (token === undefined) throw refused("it is not a bearer token in JWT form");
  return token;
}

/** Read before anything is verified, only to choose the keys to verify with. */
function claimedIssuer(token: string): string {
  try {
    return decodeJwt(token).iss ?? "";
  } catch {
    throw refused("it cannot be read");
  }
}

async function verified(
  token: string,
  issuer: Issuer,
  keyOf: JWTVerifyGetKey,
  nowMs: number,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keyOf, {
      // RFC 8725 3.1: the verifier names the algorithm. An embedded key or an address of one is never looked at.
      algorithms: ["EdDSA"],
      typ: "at+jwt",
      issuer: issuer.issuer,
      audience: issuer.audience,
      requiredClaims: ["iss", "aud", "sub", "client_id", "exp", "nbf", "iat"],
      clockTolerance: TOLERANCE_S,
      currentDate: new Date(nowMs),
    });
    return payload;
  } catch (error) {
    throw refused(reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "it has expired";
  if (error instanceof errors.JWTClaimValidationFailed)
    return `its "${error.claim}" is missing or not what it must be here`;
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    return "its signature does not hold";
  return "it is not an access token of the kind that is trusted here";
}

function sessionOf(issuer: Issuer, claims: JWTPayload, nowMs: number): Session {
  // One token for several audiences could be carried from one of them to us.
  if (claims.aud !== issuer.audience && !(Array.isArray(claims.aud) && claims.aud.length === 1))
    throw refused("it is for more than this audience");
  const { iat = 0, exp = 0 } = claims;
  if (iat > nowMs / 1000 + TOLERANCE_S) throw refused("it comes from the future");
  if (exp <= iat || exp - iat > LIFETIME_MAX_S)
    throw refused(`it must live longer than no time and at most ${LIFETIME_MAX_S / 3600} hours`);
  return {
    tenantId: tenantOf(issuer, claims),
    principalId: `${issuer.issuer}#${nameOf(claims.sub, "sub")}`,
    clientId: nameOf(claims.client_id, "client_id"),
    roles: rolesOf(claims[issuer.rolesClaim ?? "roles"]),
    delegation: [],
  };
}

function tenantOf({ tenant }: Issuer, claims: JWTPayload): TenantId {
  if (typeof tenant === "string") return tenant;
  const named = claims[tenant.claim];
  const found = tenant.among.find((candidate) => candidate === named);
  if (found === undefined) throw refused("it names no tenant that its issuer may speak for");
  return tenantId(found);
}

function nameOf(value: unknown, claim: string): string {
  if (typeof value !== "string" || !NAME.test(value))
    throw refused(`its "${claim}" is not a name of 1-200 visible ASCII characters`);
  return value;
}

/** No roles are no roles; what is not a list of names is refused, because it might have meant some. */
function rolesOf(value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > ROLES_MAX) throw refused("its roles are not a list of names");
  return value.map((role: unknown) => {
    if (typeof role !== "string" || !ROLE.test(role)) throw refused("its roles are not a list of names");
    return role;
  });
}
