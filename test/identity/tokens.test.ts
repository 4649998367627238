import { createHmac, generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { tenantId } from "../../src/core/ids.ts";
import { Problem } from "../../src/core/problem.ts";
import type { Session } from "../../src/core/session.ts";
import type { Issuer } from "../../src/identity/issuer.ts";
import { localKeys } from "../../src/identity/key-set.ts";
import { keyOf } from "../../src/identity/keys.ts";
import { type Grant, mintToken } from "../../src/identity/mint.ts";
import { tokenIdentity } from "../../src/identity/tokens.ts";

const NOW_MS = Date.parse("2026-11-30T12:00:00Z");
const NOW_S = NOW_MS / 1000;
const KEY = keyOf(generateKeyPairSync("ed25519").privateKey);
const OTHER = keyOf(generateKeyPairSync("ed25519").privateKey);
const ACME = tenantId("acme");
const ISSUER: Issuer = {
  issuer: "https://issuer.example",
  audience: "https://writ.example",
  keys: { keys: [KEY.publicKey] },
  tenant: { claim: "writ_tenant", among: [ACME] },
};
const GRANT: Grant = {
  issuer: ISSUER.issuer,
  audience: ISSUER.audience,
  tenant: ACME,
  principal: "ada",
  client: "agent-1",
  roles: ["agent"],
  ttlS: 600,
};
const identify = identity(ISSUER);

/** Who is let in by one issuer with one key; no token here is bound. */
function identity(
  issuer: Issuer,
  { clock = () => NOW_MS, scopes = [] }: { clock?: () => number; scopes?: readonly string[] } = {},
): (authorization: string | undefined) => Promise<Session> {
  const byToken = tokenIdentity({
    trusted: [{ issuer, keys: localKeys([KEY.publicKey]) }],
    proofs: { spend: async () => Promise.reject(new Error("no proof is expected here")) },
    clock,
    publicUrl: () => "https://writ.example",
  });
  return (authorization) => byToken({ method: "GET", target: "/v1/me", authorization, scopes });
}

/** A token with anything about it changed. `undefined` leaves a claim out. */
async function forged(
  claims: Readonly<Record<string, unknown>> = {},
  header: Readonly<Record<string, unknown>> = {},
  key = KEY,
): Promise<string> {
  const body = {
    iss: ISSUER.issuer,
    aud: ISSUER.audience,
    sub: "ada",
    client_id: "agent-1",
    writ_tenant: "acme",
    iat: NOW_S,
    nbf: NOW_S,
    exp: NOW_S + 600,
    jti: "t-1",
    ...claims,
  };
  const kept = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  return new SignJWT(kept)
    .setProtectedHeader({ alg: "EdDSA", kid: KEY.keyId, typ: "at+jwt", ...header })
    .sign(key.privateKey);
}

async function refusal(authorization: string | undefined): Promise<string> {
  const error = await identify(authorization).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Problem)) throw new Error(`the token was taken: ${authorization}`);
  expect(error.code).toBe("unauthenticated");
  return error.message;
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

test("a minted token opens the session that it grants", async () => {
  const token = await mintToken(GRANT, KEY, NOW_MS);

  expect(await identify(`Bearer ${token}`)).toEqual({
    tenantId: "acme",
    principalId: "https://issuer.example#ada",
    clientId: "agent-1",
    roles: ["agent"],
    delegation: [],
    authentication: { via: "token" },
  });
});

test("the tenant of an issuer that speaks for one is its configuration's, whatever a claim says", async () => {
  const fixed = identity({ ...ISSUER, tenant: tenantId("globex") });

  expect((await fixed(`Bearer ${await forged()}`)).tenantId).toBe("globex");
});

test("roles come from the claim that the configuration names", async () => {
  const groups = identity({ ...ISSUER, rolesClaim: "groups" });

  expect(
    (await groups(`Bearer ${await forged({ groups: ["resolver"], roles: ["operator"] })}`)).roles,
  ).toEqual(["resolver"]);
  expect((await groups(`Bearer ${await forged({ roles: ["operator"] })}`)).roles).toEqual([]);
});

test("A32: a clock may be wrong by five seconds and no more", async () => {
  const past = { iat: NOW_S - 600, nbf: NOW_S - 600 };
  const late = await forged({ ...past, exp: NOW_S - 4 });
  const early = await forged({ nbf: NOW_S + 4, iat: NOW_S + 4 });

  expect((await identify(`Bearer ${late}`)).clientId).toBe("agent-1");
  expect((await identify(`Bearer ${early}`)).clientId).toBe("agent-1");
  expect(await refusal(`Bearer ${await forged({ ...past, exp: NOW_S - 6 })}`)).toContain("it has expired");
  expect(await refusal(`Bearer ${await forged({ nbf: NOW_S + 6, exp: NOW_S + 600 })}`)).toContain('"nbf"');
  expect(await refusal(`Bearer ${await forged({ iat: NOW_S + 6 })}`)).toContain("from the future");
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  ["another issuer", { iss: "https://issuer.example/" }],
  ["no issuer", { iss: undefined }],
  ["another audience", { aud: "https://writ.example/" }],
  ["one more audience", { aud: ["https://writ.example", "https://else.example"] }],
  ["no audience", { aud: undefined }],
  ["no end", { exp: undefined }],
  ["no name of its own", { jti: undefined }],
  ["a delegation that is no id", { writ_delegation: { id: "d" } }],
  ["a proof of identity in the future", { auth_time: NOW_S + 60 }],
  ["a way of proof that is no text", { acr: 2 }],
  ["a binding to a certificate", { cnf: { "x5t#S256": "x" } }],
  ["a binding to nothing that is known", { cnf: {} }],
  ["scopes that are no text", { scope: ["writ:read"] }],
  ["no moment of issue", { iat: undefined }],
  ["a life of a year", { exp: NOW_S + 365 * 86_400 }],
  ["an end before its beginning", { iat: NOW_S, exp: NOW_S }],
  ["no subject", { sub: undefined }],
  ["an empty subject", { sub: "" }],
  ["a subject with a line end", { sub: "ada\nroot" }],
  ["no client", { client_id: undefined }],
  ["a client that is no text", { client_id: 7 }],
  ["a tenant of somebody else", { writ_tenant: "globex" }],
  ["no tenant", { writ_tenant: undefined }],
  ["roles that are no list", { roles: "operator" }],
  ["a role that is no name", { roles: ["operator", { name: "x" }] }],
])("A02: a token with %s is refused", async (_what, claims) => {
  expect(await refusal(`Bearer ${await forged(claims)}`)).toMatch(/^the token is not accepted: /);
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  ["the type of an ID token", { typ: "JWT" }],
  ["no type", { typ: undefined }],
  ["an unknown critical extension", { crit: ["exp2"], exp2: true }],
  ["an unknown key", { kid: "nobody" }],
  ["an embedded key", { jwk: OTHER.publicKey }],
  ["the address of a key", { jku: "https://evil.example/keys" }],
  ["a certificate", { x5c: ["AA"] }],
])("A03, A04: a token with %s in its header is refused", async (_what, header) => {
  const input = `${part({ alg: "EdDSA", kid: KEY.keyId, typ: "at+jwt", ...header })}.${(await forged()).split(".")[1]}`;
  const { sign } = await import("node:crypto");
  const token = `${input}.${sign(null, Buffer.from(input), KEY.privateKey).toString("base64url")}`;

  await refusal(`Bearer ${token}`);
});

test("a client that its issuer does not allow is refused, and one that it allows is let in", async () => {
  const named = (clients: Issuer["clients"]) =>
    identity({ ...ISSUER, ...(clients === undefined ? {} : { clients }) });
  const token = `Bearer ${await forged()}`;

  expect((await named(["agent-1"])(token)).clientId).toBe("agent-1");
  await expect(named(["agent-2"])(token)).rejects.toThrow("its client may not come here");
  await expect(named([])(token)).rejects.toThrow("its client may not come here");
});

test("a token names a delegation, a service that acts for itself, and how its person was known", async () => {
  const at = { auth_time: NOW_S - 30, acr: "urn:acme:strong" };
  const session = await identify(`Bearer ${await forged({ writ_delegation: "dlg_1", ...at })}`);
  const service = await identify(`Bearer ${await forged({ sub: "agent-1" })}`);

  expect(session).toMatchObject({ delegationId: "dlg_1", delegation: [] });
  expect(session.authentication).toEqual({ via: "token", at: NOW_MS - 30_000, acr: "urn:acme:strong" });
  expect(session.itself).toBeUndefined();
  expect(service).toMatchObject({ itself: true, principalId: "https://issuer.example#agent-1" });
});

test("A03: an issuer signs with the algorithms that it was given and with no other", async () => {
  const only = identity({ ...ISSUER, algorithms: ["ES256"] });

  await expect(only(`Bearer ${await forged()}`)).rejects.toThrow(
    "its algorithm is not one that its issuer may use",
  );
});

test("where an issuer limits its tokens by scopes, each call needs all of its own", async () => {
  const limited = identity({ ...ISSUER, requireScopes: true }, { scopes: ["writ:read", "writ:propose"] });

  expect((await limited(`Bearer ${await forged({ scope: "a writ:propose writ:read" })}`)).clientId).toBe(
    "agent-1",
  );
  for (const scope of [undefined, "", "writ:read", "writ:read writ:propose2"]) {
    const refused = await limited(`Bearer ${await forged({ scope })}`).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "insufficient_scope",
      details: { scopes: ["writ:read", "writ:propose"] },
    });
  }
});

test("a token that was found good before is still asked for its time, and is not taken for another one", async () => {
  let nowMs = NOW_MS;
  const cached = identity(ISSUER, { clock: () => nowMs });
  const token = await forged();
  const [head, , signature] = token.split(".");
  const [, other] = (await forged({ sub: "mallory" })).split(".");

  expect((await cached(`Bearer ${token}`)).principalId).toContain("#ada");
  expect((await cached(`Bearer ${token}`)).principalId).toContain("#ada");
  await expect(cached(`Bearer ${head}.${other}.${signature}`)).rejects.toThrow("its signature does not hold");
  nowMs = NOW_MS + 604_000;
  expect((await cached(`Bearer ${token}`)).principalId).toContain("#ada");
  nowMs = NOW_MS + 605_000;
  await expect(cached(`Bearer ${token}`)).rejects.toThrow("it has expired");
  nowMs = NOW_MS - 6_000;
  await expect(cached(`Bearer ${token}`)).rejects.toThrow('its "nbf" lies ahead');
});

test("A03: a signature by another key, by none, or by the public key as a secret is refused", async () => {
  const claims = (await forged()).split(".")[1];
  const unsigned = `${part({ alg: "none", typ: "at+jwt" })}.${claims}.`;
  const input = `${part({ alg: "HS256", kid: KEY.keyId, typ: "at+jwt" })}.${claims}`;
  const confused = `${input}.${createHmac("sha256", Buffer.from(KEY.publicKey.x, "base64url")).update(input).digest("base64url")}`;
  const embedded = await forged({}, { kid: "theirs", jwk: OTHER.publicKey }, OTHER);

  await refusal(`Bearer ${await forged({}, {}, OTHER)}`);
  await refusal(`Bearer ${unsigned}`);
  await refusal(`Bearer ${confused}`);
  await refusal(`Bearer ${embedded}`);
});

test("no token, another scheme and a token that is too large are refused, and none is repeated in what is said", async () => {
  const token = await forged({ roles: Array.from({ length: 60 }, () => "r".repeat(99)) });

  expect(await refusal(undefined)).toBe("this needs a token");
  await refusal("");
  await refusal("Basic YTpi");
  await refusal("Bearer not-a-token");
  await refusal(`Bearer ${token} ${token}`);
  expect(await refusal(`Bearer ${token}${"x".repeat(9000)}`)).not.toContain(token.slice(0, 40));
});
