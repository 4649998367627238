import { generateKeyPairSync } from "node:crypto";
import { expect, onTestFinished } from "vitest";
import { tenantId } from "../../src/core/ids.ts";
import { buildApp } from "../../src/http/app.ts";
import type { App, Door, DoorParts } from "../../src/http/door.ts";
import { localKeys } from "../../src/identity/key-set.ts";
import { keyOf } from "../../src/identity/keys.ts";
import { type Grant, mintToken } from "../../src/identity/mint.ts";
import { tokenIdentity } from "../../src/identity/tokens.ts";
import { type Answer, type Call, exchange } from "./exchange.ts";
import { documented, type OpenApi } from "./openapi.ts";
import type { Rig } from "./rig.ts";

const KEY = keyOf(generateKeyPairSync("ed25519").privateKey);
const ISSUER = "https://issuer.example";
const AUDIENCE = "https://writ.example";

/** What a door says of itself where a test asks for nothing in particular. */
export const RESOURCE: DoorParts["resource"] = {
  publicUrl: () => AUDIENCE,
  audience: () => AUDIENCE,
  issuers: [ISSUER],
  scoped: false,
  bound: false,
  algorithms: ["EdDSA"],
};

/** No token of these tests is bound to a key. */
const unspent = { spend: async () => Promise.reject(new Error("no proof is expected here")) };

export interface TestDoor {
  readonly app: App;
  readonly url: string;
  readonly port: number;
  /** How many calls wait for an operation to settle. */
  waiting(): number;
  readonly openapi: OpenApi;
  /** One call over a real connection. Its answer is checked against the OpenAPI document. */
  call(method: string, path: string, call?: Call): Promise<Answer>;
  propose(body: object, call?: Omit<Call, "body">): Promise<Answer>;
  token(who?: Partial<Grant>): Promise<string>;
}

const ADA: Grant = {
  issuer: ISSUER,
  audience: AUDIENCE,
  tenant: tenantId("acme"),
  principal: "ada",
  client: "agent-1",
  roles: ["agent"],
  ttlS: 600,
};
export const BOB: Partial<Grant> = { principal: "bob", client: "agent-2" };
export const FOREIGN: Partial<Grant> = { tenant: tenantId("globex") };
export const OPERATOR: Partial<Grant> = { principal: "olga", client: "console", roles: ["operator"] };
export const RESOLVER: Partial<Grant> = { principal: "rosa", client: "console", roles: ["resolver"] };
export const POLICY_ADMIN: Partial<Grant> = { principal: "cleo", client: "console", roles: ["policy-admin"] };
export const AUDITOR: Partial<Grant> = { principal: "aldo", client: "console", roles: ["auditor"] };

/** The real door before a rig: real tokens, a real port. */
export async function door(here: Pick<Rig, "ports">, parts: Partial<DoorParts> = {}): Promise<TestDoor> {
  const identify = tokenIdentity({
    trusted: [
      {
        issuer: {
          issuer: ISSUER,
          audience: AUDIENCE,
          keys: { keys: [KEY.publicKey] },
          tenant: { claim: "writ_tenant", among: [tenantId("acme"), tenantId("globex")] },
        },
        keys: localKeys([KEY.publicKey]),
      },
    ],
    proofs: unspent,
    clock: () => here.ports.clock.wallMs(),
    publicUrl: () => AUDIENCE,
  });
  let inside: Door | undefined;
  const parted: DoorParts = {
    ports: here.ports,
    identify,
    resource: RESOURCE,
    jwks: { keys: [KEY.publicKey] },
    ready: async () => ({ ready: true, checks: [{ name: "database", ok: true }] }),
    ...parts,
  };
  const app = buildApp(parted, (_app, made) => {
    inside = made;
  });
  onTestFinished(() => app.close());
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const port = Number(new URL(url).port);
  const token = (who: Partial<Grant> = {}) => mintToken({ ...ADA, ...who }, KEY, here.ports.clock.wallMs());
  const openapi = app.swagger() as unknown as OpenApi; // Swagger's own type leaves nearly everything open.
  const call: TestDoor["call"] = async (method, path, given = {}) => {
    const headers: Record<string, string | readonly string[]> =
      given.as === null ? {} : { authorization: `Bearer ${await token(given.as)}` };
    const answer = await exchange(port, method, path, {
      ...given,
      headers: { ...headers, ...given.headers },
    });
    expect(documented(openapi, method, path, answer)).toEqual([]);
    return answer;
  };
  return {
    app,
    url,
    port,
    waiting: () => inside?.waiting.count ?? 0,
    openapi,
    call,
    token,
    propose: (body, given = {}) => call("POST", "/v1/operations", { ...given, body }),
  };
}
