import { createHmac, generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { tenantId } from "../../src/core/ids.ts";
import { Problem } from "../../src/core/problem.ts";
import { keyOf } from "../../src/identity/keys.ts";
import { type Grant, type Issuer, mintToken, tokenIdentity } from "../../src/identity/tokens.ts";

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
const identify = tokenIdentity({ issuers: [ISSUER], clock: () => NOW_MS });

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
  });
});

test("the tenant of an issuer that speaks for one is its configuration's, whatever a claim says", async () => {
  const fixed = tokenIdentity({ issuers: [{ ...ISSUER, tenant: tenantId("globex") }], clock: () => NOW_MS });

  expect((await fixed(`Bearer ${await forged()}`)).tenantId).toBe("globex");
});

test("roles come from the claim that the configuration names", async () => {
  const groups = tokenIdentity({ issuers: [{ ...ISSUER, rolesClaim: "groups" }], clock: () => NOW_MS });

  expect(
    (await groups(`Bearer ${await forged({ groups: ["resolver"], roles: ["operator"] })}`)).roles,
  ).toEqual(["resolver"]);
  expect((await groups(`Bearer ${await forged({ roles: ["operator"] })}`)).roles).toEqual([]);
});

test("a clock may be wrong by five seconds and no more", async () => {
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
  ["no beginning", { nbf: undefined }],
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
])("a token with %s is refused", async (_what, claims) => {
  expect(await refusal(`Bearer ${await forged(claims)}`)).toMatch(/^the token is not accepted: /);
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  ["the type of an ID token", { typ: "JWT" }],
  ["no type", { typ: undefined }],
  ["an unknown critical extension", { crit: ["exp2"], exp2: true }],
  ["an unknown key", { kid: "nobody" }],
])("a token with %s in its header is refused", async (_what, header) => {
  const input = `${part({ alg: "EdDSA", kid: KEY.keyId, typ: "at+jwt", ...header })}.${(await forged()).split(".")[1]}`;
  const { sign } = await import("node:crypto");
  const token = `${input}.${sign(null, Buffer.from(input), KEY.privateKey).toString("base64url")}`;

  await refusal(`Bearer ${token}`);
});

test("a signature by another key, by none, or by the public key as a secret is refused", async () => {
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
