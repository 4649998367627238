import { expect, test } from "vitest";
import { tenantId } from "../../src/core/ids.ts";
import type { Issuer } from "../../src/identity/issuer.ts";
import { KEY_BOUNDS, type KeySet, localKeys, remoteKeys } from "../../src/identity/key-set.ts";
import { tokenIdentity } from "../../src/identity/tokens.ts";
import { AUDIENCE, fetchFor, type Mood, newKey, type TestIssuer, testIssuer } from "../support/issuer.ts";

const { cooldownMs, maxAgeMs, graceMs } = KEY_BOUNDS;

interface Caller {
  readonly keys: KeySet;
  call(token: string): Promise<string>;
  later(ms: number): void;
}

/** A resource server that trusts one issuer, with a clock that moves when told. */
function caller(
  at: TestIssuer,
  options: { readonly answerWithinMs?: number; readonly allow?: boolean } = {},
): Caller {
  let nowMs = 1_000;
  const fetch = fetchFor(options.allow === false ? false : ["127.0.0.1"], options.answerWithinMs);
  const keys = remoteKeys({ issuer: at.url, fetch, monotonicMs: () => nowMs });
  const issuer: Issuer = { issuer: at.url, audience: AUDIENCE, keys: "discovered", tenant: tenantId("acme") };
  const identify = tokenIdentity({
    trusted: [{ issuer, keys }],
    proofs: { spend: async () => ({ fresh: false, clock: 0 }) },
    clock: () => Date.now(),
    publicUrl: () => AUDIENCE,
  });
  return {
    keys,
    call: (token) =>
      identify({ method: "GET", target: "/", authorization: `Bearer ${token}`, scopes: [] }).then(
        () => "let in",
        (error: { readonly code: string }) => error.code,
      ),
    later: (ms) => {
      nowMs += ms;
    },
  };
}

test("keys are read where the issuer's metadata says, once for many callers, and a second time only when they are old", async () => {
  const at = await testIssuer();
  const [key = newKey()] = at.keys;
  const { call, later, keys } = caller(at);
  const tokens = await Promise.all(Array.from({ length: 20 }, () => at.token(key)));

  expect(keys.state()).toEqual({ kind: "unread", count: 0 });
  expect(await Promise.all(tokens.map(call))).toEqual(tokens.map(() => "let in"));
  later(maxAgeMs - 1);
  expect(await call(await at.token(key))).toBe("let in");
  expect(at.asked).toEqual(["/.well-known/oauth-authorization-server", "/jwks"]);
  later(1);
  expect(await call(tokens[0] ?? "")).toBe("let in");
  expect(at.asked.filter((path) => path === "/jwks")).toHaveLength(2);
  expect(keys.state()).toEqual({ kind: "good", count: 1 });
});

test.each<[Mood, string]>([
  ["redirecting", "the address of its keys answers 302"],
  ["huge", "its answer is larger than 65536 bytes"],
  ["hanging", "it does not answer in time"],
  ["broken", "the address of its keys answers 503"],
  ["renamed", "its metadata is that of another issuer"],
  ["elsewhere", "its metadata names no https address of its keys"],
  ["symmetric", "it publishes no public key for signatures"],
  ["nonsense", "what it publishes is not a JWK Set"],
])("A05: an issuer that is %s lets nobody in and says so", async (mood, why) => {
  const at = await testIssuer();
  const [key = newKey()] = at.keys;
  at.mood = mood;
  const { call, keys } = caller(at, { answerWithinMs: mood === "hanging" ? 200 : 3_000 });

  expect(await call(await at.token(key))).toBe("issuer_unavailable");
  expect(keys.state()).toEqual({ kind: "lost", count: 0, why });
  expect(at.asked).not.toContain("/elsewhere");
});

test.each<Mood>(["redirecting", "huge", "hanging", "broken", "nonsense"])(
  "A05, C134: the last good keys count while the issuer is %s, for an hour and no longer, and it is seen",
  async (mood) => {
    const at = await testIssuer();
    const [key = newKey()] = at.keys;
    const { call, later, keys } = caller(at, { answerWithinMs: mood === "hanging" ? 200 : 3_000 });
    const known = await at.token(key);
    expect(await call(known)).toBe("let in");
    at.mood = mood;

    later(maxAgeMs);
    expect(await call(await at.token(key))).toBe("let in");
    expect(await call(known)).toBe("let in");
    expect(keys.state()).toMatchObject({ kind: "degraded", count: 1 });
    later(graceMs);
    expect(await call(await at.token(key))).toBe("issuer_unavailable");
    expect(await call(known)).toBe("issuer_unavailable");
    expect(keys.state()).toMatchObject({ kind: "lost" });
    at.mood = "good";
    later(cooldownMs);
    expect(await call(known)).toBe("let in");
    expect(keys.state()).toEqual({ kind: "good", count: 1 });
  },
);

test("A05: a rotated key counts after the cooldown, a withdrawn one no longer than ten minutes, also for a token that was let in before", async () => {
  const at = await testIssuer();
  const [old = newKey()] = at.keys;
  const { call, later } = caller(at);
  const before = await at.token(old);
  expect([await call(before), await call(before)]).toEqual(["let in", "let in"]);
  const next = newKey();
  at.keys = [next];

  expect(await call(await at.token(next))).toBe("unauthenticated");
  later(cooldownMs);
  expect(await call(await at.token(next))).toBe("let in");
  expect(await call(before)).toBe("unauthenticated");
});

test("A05: however many unknown keys are named, the issuer is asked once in ten seconds", async () => {
  const at = await testIssuer();
  const [key = newKey()] = at.keys;
  const { call, later } = caller(at);
  await call(await at.token(key));
  later(cooldownMs);

  const strangers = await Promise.all(Array.from({ length: 50 }, () => at.token(newKey())));
  expect(new Set(await Promise.all(strangers.map(call)))).toEqual(new Set(["unauthenticated"]));
  expect(at.asked.filter((path) => path === "/jwks")).toHaveLength(2);
});

test("A23: an issuer at an address that the operator did not allow is never spoken with", async () => {
  const at = await testIssuer();
  const [key = newKey()] = at.keys;
  const { call, keys } = caller(at, { allow: false });

  expect(await call(await at.token(key))).toBe("issuer_unavailable");
  expect(keys.state().why).toContain("127.0.0.1 is not public");
  expect(at.asked).toEqual([]);
});

test("A07: two issuers know two people by one subject: neither is the other, and neither's key speaks for the other", async () => {
  const [acme, globex] = [await testIssuer(), await testIssuer()];
  const trusted = [acme, globex].map((at, index) => ({
    issuer: {
      issuer: at.url,
      audience: AUDIENCE,
      keys: "discovered" as const,
      tenant: tenantId(index === 0 ? "acme" : "globex"),
    },
    keys: localKeys(at.keys.map(({ publicKey }) => publicKey)),
  }));
  const identify = tokenIdentity({
    trusted,
    proofs: { spend: async () => ({ fresh: false, clock: 0 }) },
    clock: () => Date.now(),
    publicUrl: () => AUDIENCE,
  });
  const session = async (token: string) =>
    identify({ method: "GET", target: "/", authorization: `Bearer ${token}`, scopes: [] });
  const [mine = newKey()] = acme.keys;
  const [theirs = newKey()] = globex.keys;

  const one = await session(await acme.token(mine));
  const other = await session(await globex.token(theirs));
  expect([one.tenantId, other.tenantId]).toEqual(["acme", "globex"]);
  expect(one.principalId).not.toBe(other.principalId);
  await expect(session(await acme.token(theirs))).rejects.toMatchObject({ code: "unauthenticated" });
});
