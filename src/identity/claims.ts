import type { JWTPayload } from "jose";
import { type Instant, type TenantId, tenantId } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Authentication, Session } from "../core/session.ts";
import type { Issuer } from "./issuer.ts";

/** What a clock may be wrong by between two machines that keep time. */
export const TOLERANCE_S = 5;
const ROLES_MAX = 64;
const SCOPES_MAX = 64;
const NAME = /^[\x21-\x7e]{1,200}$/;
const ROLE = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$/;
const DELEGATION = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$/;
const ACR = /^[\x20-\x7e]{1,200}$/;

export function refused(why: string): Problem {
  return new Problem("unauthenticated", `the token is not accepted: ${why}`, {
    next: "Get a new token, and send it as Authorization: Bearer … or DPoP ….",
  });
}

/** The session that verified claims of an issuer open. Throws `unauthenticated` for what could mean more than one thing. */
export function sessionOf(issuer: Issuer, claims: JWTPayload, nowS: number): Session {
  const clientId = nameOf(claims.client_id, "client_id");
  const { clients = "any" } = issuer;
  if (clients !== "any" && !clients.includes(clientId)) throw refused("its client may not come here");
  const subject = nameOf(claims.sub, "sub");
  const delegationId = delegationOf(claims.writ_delegation);
  return {
    tenantId: tenantOf(issuer, claims),
    principalId: principalOf(issuer, subject),
    clientId,
    roles: rolesOf(issuer, claims),
    delegation: [],
    ...(delegationId === undefined ? {} : { delegationId }),
    // RFC 9068 2.2: where no person is behind a token its subject is the client.
    ...(subject === clientId ? { itself: true } : {}),
    authentication: { via: "token", ...authenticationOf(claims, nowS) },
  };
}

/** Two issuers may know two people by one subject: only both together are an identity. */
export function principalOf(issuer: Issuer, subject: unknown): string {
  return `${issuer.alias ?? issuer.issuer}#${nameOf(subject, "sub")}`;
}

export function tenantOf({ tenant }: Issuer, claims: JWTPayload): TenantId {
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
export function rolesOf({ rolesClaim = "roles" }: Issuer, claims: JWTPayload): readonly string[] {
  const value = claims[rolesClaim];
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > ROLES_MAX) throw refused("its roles are not a list of names");
  return value.map((role: unknown) => {
    if (typeof role !== "string" || !ROLE.test(role)) throw refused("its roles are not a list of names");
    return role;
  });
}

function delegationOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || !DELEGATION.test(value))
    throw refused('its "writ_delegation" is not the id of a delegation');
  return value;
}

/** When and how the person proved to the issuer who they are, as far as it says so. */
export function authenticationOf(claims: JWTPayload, nowS: number): Pick<Authentication, "at" | "acr"> {
  const { auth_time: seconds, acr } = claims;
  if (seconds !== undefined && !(typeof seconds === "number" && seconds > 0 && seconds <= nowS + TOLERANCE_S))
    throw refused('its "auth_time" is not a time in the past');
  if (acr !== undefined && !(typeof acr === "string" && ACR.test(acr)))
    throw refused('its "acr" is not a text of 1-200 visible ASCII characters');
  const at: Instant | undefined = seconds === undefined ? undefined : Math.floor(seconds) * 1000;
  return { ...(at === undefined ? {} : { at }), ...(acr === undefined ? {} : { acr }) };
}

/** RFC 9068 2.2.3: one text with spaces between. */
export function scopesOf(value: unknown): ReadonlySet<string> {
  if (value === undefined) return new Set();
  const scopes = typeof value === "string" ? value.split(" ").filter((scope) => scope !== "") : undefined;
  if (scopes === undefined || scopes.length > SCOPES_MAX) throw refused("its scope is not a list of names");
  return new Set(scopes);
}
