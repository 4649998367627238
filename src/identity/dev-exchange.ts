import { createPublicKey } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import type { errors as Errors, KoaContextWithOIDC } from "oidc-provider";
import type { LocalIssuer } from "./local-issuer.ts";

/** RFC 8693: a client that was handed a person's token gets one of its own for that person, and never a wider or a longer one. */
export const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
export const EXCHANGE_PARAMETERS = [
  "audience",
  "resource",
  "scope",
  "requested_token_type",
  "subject_token",
  "subject_token_type",
  "writ_delegation",
] as const;

const ACTORS_MAX = 8;

export async function exchanged(
  own: LocalIssuer,
  errors: typeof Errors,
  ctx: KoaContextWithOIDC,
): Promise<object> {
  const { issuer, audience } = own.issuer;
  const client = ctx.oidc.client?.clientId;
  const parameters = ctx.oidc.params ?? {};
  const given = (name: (typeof EXCHANGE_PARAMETERS)[number]): string | undefined => {
    const value = parameters[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  if (client === undefined) throw new errors.InvalidClient("unknown client");
  if (given("subject_token_type") !== ACCESS_TOKEN)
    throw new errors.InvalidRequest("subject_token_type is not an access token");
  for (const name of ["resource", "audience"] as const)
    if ((given(name) ?? audience) !== audience) throw new errors.InvalidTarget();
  const subject = await verified(own, errors, given("subject_token") ?? "");
  const nowS = Math.floor(Date.now() / 1000);
  const { exp = nowS, sub = "", scope, act, cnf, writ_delegation: delegation, ...claims } = subject;
  // What is bound to another client's key would become worth something to whoever copied it.
  if (cnf !== undefined) throw new errors.InvalidGrant("the subject token is bound to a key");
  const scopes = narrowed(scope, given("scope"));
  if (scopes === undefined) throw new errors.InvalidScope("exceeds the subject token", given("scope") ?? "");
  const acting = { sub: client, ...(act === undefined ? {} : { act }) };
  if (depthOf(acting) > ACTORS_MAX) throw new errors.InvalidGrant("too many have acted already");
  const named = given("writ_delegation") ?? delegation;
  const { roles, writ_tenant, auth_time } = claims;
  const token = await new SignJWT({
    roles,
    writ_tenant,
    client_id: client,
    act: acting,
    ...(auth_time === undefined ? {} : { auth_time }),
    ...(scopes === "" ? {} : { scope: scopes }),
    ...(named === undefined ? {} : { writ_delegation: named }),
  })
    .setProtectedHeader({ alg: "EdDSA", kid: own.key.keyId, typ: "at+jwt" })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(sub)
    .setIssuedAt(nowS)
    .setExpirationTime(exp)
    .setJti(crypto.randomUUID())
    .sign(own.key.privateKey);
  return {
    access_token: token,
    issued_token_type: ACCESS_TOKEN,
    token_type: "Bearer",
    expires_in: exp - nowS,
    ...(scopes === "" ? {} : { scope: scopes }),
  };
}

async function verified({ issuer, key }: LocalIssuer, errors: typeof Errors, token: string) {
  try {
    const { payload } = await jwtVerify(token, createPublicKey(key.privateKey), {
      issuer: issuer.issuer,
      audience: issuer.audience,
      typ: "at+jwt",
      algorithms: ["EdDSA", "Ed25519"],
      requiredClaims: ["sub", "exp", "client_id"],
    });
    return payload;
  } catch {
    throw new errors.InvalidGrant("the subject token does not hold");
  }
}

/** The scopes asked for, where the subject has them all; undefined otherwise. */
function narrowed(had: unknown, asked: string | undefined): string | undefined {
  const all = typeof had === "string" ? had.split(" ").filter((scope) => scope !== "") : [];
  const wanted = asked?.split(" ").filter((scope) => scope !== "") ?? all;
  return wanted.every((scope) => all.includes(scope)) ? wanted.join(" ") : undefined;
}

function depthOf(actor: unknown): number {
  const { act } = (actor ?? {}) as { readonly act?: unknown }; // Asked only whether it is there.
  return act === undefined ? 1 : 1 + depthOf(act);
}
