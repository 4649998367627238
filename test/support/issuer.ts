import { generateKeyPairSync } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SignJWT } from "jose";
import { onTestFinished } from "vitest";
import { guardedConnector } from "../../src/connectors/http/egress.ts";
import { type IssuerFetch, issuerFetch } from "../../src/identity/issuer-fetch.ts";
import { keyOf, type SigningKey } from "../../src/identity/keys.ts";

/** How the test's issuer behaves when its keys are asked for. */
export type Mood =
  | "good"
  | "redirecting"
  | "huge"
  | "hanging"
  | "broken"
  | "renamed"
  | "elsewhere"
  | "symmetric"
  | "nonsense"
  | "late";

/** An issuer somewhere on the network, as far as a resource server can tell. */
export interface TestIssuer {
  readonly url: string;
  mood: Mood;
  keys: readonly SigningKey[];
  /** The paths that were asked for, in order. */
  readonly asked: string[];
  token(key: SigningKey, claims?: Readonly<Record<string, unknown>>): Promise<string>;
}

export const AUDIENCE = "https://writ.example";

export function newKey(): SigningKey {
  return keyOf(generateKeyPairSync("ed25519").privateKey);
}

export async function testIssuer(): Promise<TestIssuer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    answer(issuer, request.url ?? "", response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // It listens on TCP.
  const issuer: TestIssuer = {
    url,
    mood: "good",
    keys: [newKey()],
    asked,
    token: (key, claims = {}) => {
      const nowS = Math.floor(Date.now() / 1000);
      return new SignJWT({ client_id: "agent-1", roles: ["agent"], ...claims })
        .setProtectedHeader({ alg: "EdDSA", kid: key.keyId, typ: "at+jwt" })
        .setIssuer(url)
        .setAudience(AUDIENCE)
        .setSubject("ada")
        .setIssuedAt(nowS)
        .setExpirationTime(nowS + 600)
        .setJti(crypto.randomUUID())
        .sign(key.privateKey);
    },
  };
  return issuer;
}

/** What may be spoken with from here, ended with the test. */
export function fetchFor(allowPrivate: boolean | readonly string[], answerWithinMs = 3_000): IssuerFetch {
  const fetch = issuerFetch(guardedConnector({ allowPrivate }, 1_000, undefined), { answerWithinMs });
  onTestFinished(() => fetch.close());
  return fetch;
}

function answer({ url, mood, keys }: TestIssuer, path: string, response: ServerResponse): unknown {
  const json = (value: object): void => {
    response.setHeader("content-type", "application/json");
    if (mood === "late") response.setHeader("date", new Date(Date.now() - 60_000).toUTCString());
    response.end(JSON.stringify(value));
  };
  if (path === "/.well-known/oauth-authorization-server") {
    const address = mood === "elsewhere" ? "http://keys.example/jwks" : `${url}/jwks`;
    return json({ issuer: mood === "renamed" ? `${url}/` : url, jwks_uri: address });
  }
  if (path !== "/jwks") return response.writeHead(404).end();
  switch (mood) {
    case "redirecting":
      return response.writeHead(302, { location: `${url}/elsewhere` }).end();
    case "huge":
      return json({ keys: Array.from({ length: 20_000 }, () => ({ kty: "OKP" })) });
    case "hanging":
      return undefined;
    case "broken":
      return response.writeHead(503).end();
    case "symmetric":
      return json({
        keys: keys.map(({ publicKey }) => ({ kty: "oct", k: publicKey.x, kid: publicKey.kid })),
      });
    case "nonsense":
      return response.end('{"keys": [], "keys": []}');
    default:
      return json({ keys: keys.map(({ publicKey }) => publicKey) });
  }
}
