import { createHash } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { tenantId } from "../../src/core/ids.ts";
import { connect } from "../../src/database/pool.ts";
import { localKeys } from "../../src/identity/key-set.ts";
import { mintToken } from "../../src/identity/mint.ts";
import { tokenIdentity } from "../../src/identity/tokens.ts";
import { identityStore } from "../../src/ledger/identity-store.ts";
import type { Identify, SpentProofs } from "../../src/service/identity-port.ts";
import { movableClock } from "../support/clock.ts";
import { AUDIENCE, newKey } from "../support/issuer.ts";
import { type Rig, rig } from "../support/rig.ts";

const KEY = newKey();
const ISSUER = "https://issuer.example";
const WRIT = "https://writ.example";

interface Holder {
  readonly token: string;
  readonly publicKey: JWK;
  proof(
    changes?: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
  ): Promise<string>;
}

/** A client with a key and a token that is bound to it. */
async function holder(): Promise<Holder> {
  const pair = await generateKeyPair("ES256", { extractable: true });
  const publicKey = await exportJWK(pair.publicKey);
  const grant = {
    issuer: ISSUER,
    audience: AUDIENCE,
    tenant: tenantId("acme"),
    principal: "ada",
    client: "agent-1",
    roles: [],
  };
  const boundTo = await calculateJwkThumbprint(publicKey);
  const token = await mintToken({ ...grant, ttlS: 600, boundTo }, KEY, Date.now());
  return {
    token,
    publicKey,
    proof: (changes = {}, header = {}) => {
      const claims = {
        htm: "POST",
        htu: `${WRIT}/v1/operations`,
        ath: createHash("sha256").update(token).digest("base64url"),
        jti: crypto.randomUUID(),
        iat: Math.floor(Date.now() / 1000),
        ...changes,
      };
      const kept = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
      return new SignJWT(kept)
        .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: publicKey, ...header })
        .sign(pair.privateKey);
    },
  };
}

/** One process of Writ, as far as proofs can tell. */
async function instance(here: Pick<Rig, "url">, proofs?: SpentProofs): Promise<Identify> {
  const database = await connect({ url: here.url });
  onTestFinished(() => database.close());
  return tokenIdentity({
    trusted: [
      {
        issuer: {
          issuer: ISSUER,
          audience: AUDIENCE,
          keys: { keys: [] },
          tenant: { claim: "writ_tenant", among: [tenantId("acme")] },
        },
        keys: localKeys([KEY.publicKey]),
      },
    ],
    proofs: proofs ?? identityStore(database).proofs,
    clock: () => Date.now(),
    publicUrl: () => WRIT,
  });
}

function asked(
  identify: Identify,
  token: string,
  proof: string | undefined,
  scheme = "DPoP",
): Promise<string> {
  const target = "/v1/operations?wait=2";
  const call = { method: "POST", target, authorization: `${scheme} ${token}`, proof, scopes: [] };
  return identify(call).then(
    () => "let in",
    (error: Error) => error.message.replace(/^the (?:token|proof of possession) is not accepted: /, ""),
  );
}

test("A06: the same proof is taken once, whichever of two processes is asked, also at the same moment", async () => {
  const here = await rig();
  const [one, other] = [await instance(here), await instance(here)];
  const { token, proof } = await holder();
  const first = await proof();
  const second = await proof();

  expect(await asked(one, token, first)).toBe("let in");
  expect(await asked(other, token, first)).toBe("it was used before");
  expect(await asked(one, token, first)).toBe("it was used before");
  const race = await Promise.all([one, other, one, other].map((each) => asked(each, token, second)));
  expect(race.filter((word) => word === "let in")).toHaveLength(1);
});

test("A06, broken: with a memory of its own in each process the same proof is taken twice", async () => {
  const here = await rig();
  const own = (): SpentProofs => {
    const seen = new Set<string>();
    return {
      spend: async (_tenantId, name) => {
        const fresh = !seen.has(name);
        seen.add(name);
        return { fresh, clock: Date.now() };
      },
    };
  };
  const [one, other] = [await instance(here, own()), await instance(here, own())];
  const { token, proof } = await holder();
  const first = await proof();

  expect([await asked(one, token, first), await asked(other, token, first)]).toEqual(["let in", "let in"]);
});

test("A06: a bound token is worth nothing without its key, and a token that is not bound is not sent as if it were", async () => {
  const here = await rig();
  const one = await instance(here);
  const { token, proof } = await holder();
  const thief = await holder();
  const plain = await mintToken(
    {
      issuer: ISSUER,
      audience: AUDIENCE,
      tenant: tenantId("acme"),
      principal: "ada",
      client: "c",
      roles: [],
      ttlS: 60,
    },
    KEY,
    Date.now(),
  );

  expect(await asked(one, token, undefined, "Bearer")).toBe(
    "it is bound to a key of its client: send it as DPoP, with a proof",
  );
  expect(await asked(one, token, await proof(), "Bearer")).toContain("it is bound to a key of its client");
  expect(await asked(one, token, undefined)).toBe("there is none");
  expect(
    await asked(
      one,
      token,
      await thief.proof({ ath: createHash("sha256").update(token).digest("base64url") }),
    ),
  ).toBe("it is by another key than the token is bound to");
  expect(await asked(one, plain, await proof())).toBe("it is not bound to a key, and is sent as Bearer");
});

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  ["another method", { htm: "GET" }, 'its "htm" is another method'],
  ["another address", { htu: `${WRIT}/v1/halts` }, 'its "htu" is another address'],
  ["another host", { htu: "https://evil.example/v1/operations" }, 'its "htu" is another address'],
  ["no token", { ath: undefined }, 'its "ath" is not the token\'s'],
  ["another token", { ath: "x" }, 'its "ath" is not the token\'s'],
  ["no name", { jti: undefined }, 'its "jti" is missing'],
  ["no time", { iat: undefined }, 'its "iat" is missing'],
  ["a time long ago", { iat: Math.floor(Date.now() / 1000) - 600 }, "it is too old"],
  ["a time to come", { iat: Math.floor(Date.now() / 1000) + 600 }, "it comes from the future"],
])("a proof about %s is refused", async (_what, changes, why) => {
  const here = await rig();
  const one = await instance(here);
  const { token, proof } = await holder();

  expect(await asked(one, token, await proof(changes))).toBe(why);
});

test("a proof of another type, with a private key inside, or that is no proof at all is refused", async () => {
  const here = await rig();
  const one = await instance(here);
  const { token, proof, publicKey } = await holder();

  expect(await asked(one, token, await proof({}, { typ: "JWT" }))).toBe("it is not one that holds");
  expect(await asked(one, token, await proof({}, { jwk: { ...publicKey, d: "AA" } }))).toBe(
    "it is not one that holds",
  );
  expect(await asked(one, token, await proof({}, { jwk: { kty: "oct", k: "AA" } }))).toBe(
    "it is not one that holds",
  );
  expect(await asked(one, token, "a.b.c")).toBe("it is not one that holds");
  expect(await asked(one, token, "x".repeat(5_000))).toBe("it is too large");
});

test("A32: a proof's age is told by the database's clock, and what can no longer be young leaves the table", async () => {
  const here = await rig();
  const clock = await movableClock(here);
  const one = await instance(here);
  const { token, proof } = await holder();
  const rows = async () => Number((await here.run("select count(*)::int as n from spent_proofs"))[0]?.n);
  for (let made = 0; made < 6; made++) expect(await asked(one, token, await proof())).toBe("let in");

  await clock.ahead(120_000);
  expect(await asked(one, token, await proof())).toBe("it is too old");
  await clock.ahead(120_000);
  expect(await rows()).toBe(7);
  for (let made = 0; made < 3; made++) {
    const late = await proof({ iat: Math.floor(Date.now() / 1000) + 240 });
    expect(await asked(one, token, late)).toBe("let in");
  }
  // The one that was too old is remembered for as long as any other.
  expect(await rows()).toBe(4);
});
