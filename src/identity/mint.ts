import type { KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import type { TenantId } from "../core/ids.ts";
import type { SigningKey } from "./keys.ts";

/** What a token says about who asks. */
export interface Grant {
  readonly issuer: string;
  readonly audience: string;
  readonly tenant: TenantId;
  readonly principal: string;
  readonly client: string;
  readonly roles: readonly string[];
  readonly ttlS: number;
  readonly delegation?: string;
  readonly scope?: string;
  /** When the person proved who they are, in seconds since 1970. */
  readonly authenticatedAtS?: number;
  /** The thumbprint of the key to which the token is bound. */
  readonly boundTo?: string;
}

/** The claim in which our own tokens name their tenant. */
export const TENANT_CLAIM = "writ_tenant";

/** An access token (RFC 9068) for who is named. For the development issuer, stories and tests: an installation has its own issuer. */
export async function mintToken(
  grant: Grant,
  key: Pick<SigningKey, "keyId" | "privateKey">,
  nowMs: number,
): Promise<string> {
  const nowS = Math.floor(nowMs / 1000);
  const { delegation, scope, authenticatedAtS, boundTo } = grant;
  return new SignJWT({
    client_id: grant.client,
    roles: [...grant.roles],
    [TENANT_CLAIM]: grant.tenant,
    ...(delegation === undefined ? {} : { writ_delegation: delegation }),
    ...(scope === undefined ? {} : { scope }),
    ...(authenticatedAtS === undefined ? {} : { auth_time: authenticatedAtS }),
    ...(boundTo === undefined ? {} : { cnf: { jkt: boundTo } }),
  })
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
