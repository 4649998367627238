import { expect, test } from "vitest";
import { Problem } from "../../src/core/problem.ts";
import { door, RESOURCE } from "../support/door.ts";
import { rig } from "../support/rig.ts";

const METADATA = 'resource_metadata="https://writ.example/.well-known/oauth-protected-resource"';

/** What a caller is told whom the identity refuses so. */
async function toldFor(
  problem: Problem,
  authorization?: string,
): Promise<readonly [number, string | undefined]> {
  const there = await door(await rig(), {
    identify: async () => Promise.reject(problem),
    resource: { ...RESOURCE, scoped: true },
  });
  const headers = authorization === undefined ? {} : { authorization };
  const answer = await there.call("GET", "/v1/me", { as: null, headers });
  return [answer.status, answer.headers["www-authenticate"]];
}

test("whoever sends no token is told which scopes the call needs and where to get one, and of no error", async () => {
  expect(await toldFor(new Problem("unauthenticated", "this needs a token"))).toEqual([
    401,
    `Bearer realm="writ", scope="writ:read", ${METADATA}, DPoP algs="EdDSA"`,
  ]);
});

test("a token that lacks a scope is told all scopes of the call", async () => {
  const scopes = ["writ:read", "writ:propose"];

  expect(await toldFor(new Problem("insufficient_scope", "it lacks one", { scopes }), "Bearer x")).toEqual([
    403,
    `Bearer realm="writ", error="insufficient_scope", error_description="it lacks one", scope="writ:read writ:propose", ${METADATA}, DPoP algs="EdDSA"`,
  ]);
});

test("who has to prove themselves anew is told how recently and in which way (RFC 9470)", async () => {
  const stepUp = { maxAgeS: 300, acrValues: ["urn:acme:strong", "urn:acme:stronger"] };
  const problem = new Problem("insufficient_user_authentication", 'say "who" you are', { stepUp });

  expect(await toldFor(problem, "DPoP x")).toEqual([
    401,
    `DPoP realm="writ", algs="EdDSA", error="insufficient_user_authentication", error_description="say 'who' you are", scope="writ:read", acr_values="urn:acme:strong urn:acme:stronger", max_age="300", ${METADATA}`,
  ]);
});
