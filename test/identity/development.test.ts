import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair, SignJWT } from "jose";
import { expect, test } from "vitest";
import { developmentIssuer } from "../../src/compose.ts";
import { type Development, development, type Granted, pkce, visitor } from "../support/development.ts";
import { exchange } from "../support/exchange.ts";

const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const REDIRECT = "http://127.0.0.1:4711/callback";

async function proving() {
  const pair = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(pair.publicKey);
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    proof: (htm: string, htu: string, token?: string) =>
      new SignJWT({
        htm,
        htu,
        jti: crypto.randomUUID(),
        ...(token === undefined ? {} : { ath: createHash("sha256").update(token).digest("base64url") }),
      })
        .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk })
        .setIssuedAt()
        .sign(pair.privateKey),
  };
}

/** The code flow of people's command line, by hand. */
async function codeFlow(here: Development, person: string, proof?: string): Promise<Granted> {
  const { verifier, challenge } = pkce();
  const query = new URLSearchParams({
    client_id: "writ-cli",
    response_type: "code",
    scope: "openid writ:read writ:propose",
    redirect_uri: REDIRECT,
    code_challenge: challenge,
    code_challenge_method: "S256",
    state: "s",
    resource: here.url,
  });
  const { at } = await visitor().signIn(`${here.issuer.url}/auth?${query}`, person, (url) =>
    url.startsWith(REDIRECT),
  );
  const answer = new URL(at).searchParams;
  expect(answer.get("iss")).toBe(here.issuer.url);
  return here.grant(
    {
      grant_type: "authorization_code",
      client_id: "writ-cli",
      code: answer.get("code") ?? "",
      redirect_uri: REDIRECT,
      code_verifier: verifier,
      resource: here.url,
    },
    proof === undefined ? {} : { proof },
  );
}

async function me(here: Development, headers: Readonly<Record<string, string>>) {
  const reply = await fetch(`${here.url}/v1/me`, { headers });
  return {
    status: reply.status,
    challenge: reply.headers.get("www-authenticate"),
    body: (await reply.json()) as Record<string, unknown>,
  };
}

test("A04: a person by code flow and PKCE, an agent for them by token exchange, a service for itself: each is who they are", async () => {
  const here = await development();

  const person = await codeFlow(here, "ben");
  const asked = {
    grant_type: EXCHANGE,
    subject_token: person.access_token,
    subject_token_type: ACCESS_TOKEN,
  };
  const agent = await here.grant(
    { ...asked, writ_delegation: "dlg_1", scope: "writ:propose" },
    { client: "agent-1" },
  );
  const again = { ...asked, subject_token: agent.access_token };
  const second = await here.grant(again, { client: "agent-2" });
  const service = await here.grant(
    { grant_type: "client_credentials", resource: here.url },
    { client: "stock-service" },
  );

  expect([person, agent, second, service].map(({ status, error }) => [status, error])).toEqual(
    [person, agent, second, service].map(() => [200, undefined]),
  );
  const known = await Promise.all(
    [person, agent, second, service].map(({ access_token }) =>
      me(here, { authorization: `Bearer ${access_token}` }),
    ),
  );
  expect(known.map(({ body }) => body)).toMatchObject([
    { principal: "development#ben", client: "writ-cli", roles: ["stock-manager", "approver"], via: "token" },
    { principal: "development#ben", client: "agent-1", delegation: "dlg_1" },
    { principal: "development#ben", client: "agent-2", delegation: "dlg_1" },
    {
      principal: "development#stock-service",
      client: "stock-service",
      itself: true,
      roles: ["stock-service"],
    },
  ]);
  expect(known[0]?.body.authenticatedAt).toMatch(/^20\d\d-/);
  expect(decodeJwt(second.access_token).act).toEqual({ sub: "agent-2", act: { sub: "agent-1" } });

  const wider = await here.grant({ ...again, scope: "writ:approve" }, { client: "agent-2" });
  const elsewhere = await here.grant({ ...asked, resource: "https://evil.example" }, { client: "agent-1" });
  const stranger = await here.grant(
    { ...asked, subject_token: `${person.access_token}x` },
    { client: "agent-1" },
  );
  expect([wider, elsewhere, stranger].map(({ error }) => error)).toEqual([
    "invalid_scope",
    "invalid_target",
    "invalid_grant",
  ]);
  expect(decodeJwt(second.access_token).exp).toBe(decodeJwt(person.access_token).exp);
  // An ID token says who somebody is, and opens nothing.
  expect((await me(here, { authorization: `Bearer ${person.id_token}` })).status).toBe(401);
});

test("A06: a token that is bound to a key by DPoP is taken with a proof for this very call, and with nothing else", async () => {
  const here = await development();
  const { proof, thumbprint } = await proving();
  const bound = await codeFlow(here, "ada", await proof("POST", `${here.issuer.url}/token`));
  const call = `${here.url}/v1/me`;
  const good = await proof("GET", call, bound.access_token);

  expect(decodeJwt(bound.access_token).cnf).toEqual({ jkt: thumbprint });
  expect(bound.token_type).toBe("DPoP");
  const taken = await me(here, { authorization: `DPoP ${bound.access_token}`, dpop: good });
  expect([taken.status, taken.body.principal]).toEqual([200, "development#ada"]);
  const replayed = await me(here, { authorization: `DPoP ${bound.access_token}`, dpop: good });
  expect([replayed.status, replayed.challenge]).toEqual([
    401,
    expect.stringMatching(/^DPoP .*error="invalid_dpop_proof"/),
  ]);
  expect((await me(here, { authorization: `Bearer ${bound.access_token}` })).status).toBe(401);
  const other = await proof("GET", "https://evil.example/v1/me", bound.access_token);
  expect(
    (
      await me(here, {
        authorization: `DPoP ${bound.access_token}`,
        dpop: other,
        host: new URL(here.url).host,
      })
    ).status,
  ).toBe(401);
  // Handed on it would lose its binding.
  const asked = { grant_type: EXCHANGE, subject_token: bound.access_token, subject_token_type: ACCESS_TOKEN };
  expect(await here.grant(asked, { client: "agent-1" })).toMatchObject({ error: "invalid_grant" });
});

test("metadata says where tokens come from, and whoever has none is told where it stands", async () => {
  const here = await development();
  const metadata = await (await fetch(`${here.url}/.well-known/oauth-protected-resource`)).json();
  const ready = (await (await fetch(`${here.url}/readyz`)).json()) as { readonly checks: readonly object[] };
  const none = await me(here, {});

  expect(metadata).toMatchObject({
    resource: here.url,
    authorization_servers: [here.issuer.url],
    bearer_methods_supported: ["header"],
  });
  expect(ready.checks).toContainEqual({ name: `issuer ${here.issuer.url} (development only)`, ok: true });
  expect(none.status).toBe(401);
  expect(none.challenge).toBe(
    `Bearer realm="writ", resource_metadata="${here.url}/.well-known/oauth-protected-resource", DPoP algs="EdDSA Ed25519 ES256 ES384 ES512 PS256 RS256"`,
  );
});

test("there is no development issuer in production, beside another issuer, or for an address that others reach", async () => {
  const options = {
    home: "/nowhere",
    tenants: [],
    roles: [],
    port: 0,
    writUrl: "http://127.0.0.1:7070",
    others: [],
    environment: {},
  };

  await expect(developmentIssuer({ ...options, environment: { NODE_ENV: "production" } })).rejects.toThrow(
    "NODE_ENV is production",
  );
  await expect(developmentIssuer({ ...options, others: [{}] })).rejects.toThrow(
    "beside them there is no development issuer",
  );
  for (const writUrl of [
    "http://0.0.0.0:7070",
    "https://writ.acme.example",
    "http://127.0.0.1.evil.example",
    "http://10.0.0.1",
  ])
    await expect(developmentIssuer({ ...options, writUrl })).rejects.toThrow(
      "for this machine's loopback only",
    );
});

test("its keys and secrets are readable by their owner only, and it gives a token only to who can read them", async () => {
  const here = await development();
  const keys = join(here.home, "keys");
  const body = JSON.stringify({
    tenant: "main",
    principal: "ada",
    client: "agent-1",
    roles: ["operator"],
    ttlS: 60,
  });
  const ask = async (secret: string, host?: string) =>
    (
      await fetch(`${here.issuer.url}/writ/token`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${secret}`,
          ...(host === undefined ? {} : { "x-forwarded-host": host }),
        },
        body,
      })
    ).status;

  expect(readdirSync(keys).sort()).toEqual([
    "development-secrets.json",
    "receipts.jwk.json",
    "tokens.jwk.json",
  ]);
  for (const name of readdirSync(keys)) expect(statSync(join(keys, name)).mode & 0o777).toBe(0o600);
  expect(await ask(here.issuer.secrets.issuer ?? "")).toBe(200);
  expect(await ask("")).toBe(401);
  expect(await ask(here.issuer.secrets["agent-1"] ?? "")).toBe(401);
});

test("A42: a page whose own name was made to point at this machine gets nothing from the development issuer", async () => {
  const here = await development();
  const port = Number(new URL(here.issuer.url).port);
  const ask = (method: string, path: string, headers: Readonly<Record<string, string>>) =>
    exchange(port, method, path, { headers });

  expect(
    (await ask("GET", "/.well-known/openid-configuration", { host: `evil.example:${port}` })).status,
  ).toBe(421);
  expect(
    (await ask("POST", "/login/x", { host: new URL(here.issuer.url).host, origin: "https://evil.example" }))
      .status,
  ).toBe(421);
  const good = await ask("GET", "/.well-known/openid-configuration", { host: new URL(here.issuer.url).host });
  expect([good.status, good.body.issuer]).toEqual([200, here.issuer.url]);
});
