import { join } from "node:path";
import type { TenantId } from "../core/ids.ts";
import { loadOrCreateKey, type SigningKey } from "./keys.ts";
import { type Grant, mintToken, TENANT_CLAIM } from "./mint.ts";
import type { IssuerAt } from "./resource-server.ts";

/** An issuer that is nobody but a key in a folder. Whoever composes a Writ that trusts it can say who asks. */
export interface LocalIssuer {
  readonly issuer: IssuerAt;
  readonly key: SigningKey;
  mint(grant: Omit<Grant, "issuer" | "audience">): Promise<string>;
}

export interface LocalIssuerOptions {
  /** The folder in whose `keys/` the key lies; made there when there is none. */
  readonly home: string;
  readonly tenants: readonly TenantId[];
  /** Its address, where it has one. */
  readonly issuer?: string;
  readonly audience?: string;
  /** By what its principals are called. */
  readonly alias?: string;
}

const NOWHERE = "https://writ.localhost";

/**
 * For the story, the benchmark, tests and, with a server before it, for `writ dev`. An installation never trusts one by itself: who reads
 * its folder could be anybody.
 */
export function localIssuer(options: LocalIssuerOptions): LocalIssuer {
  const { home, tenants, issuer = NOWHERE, audience = NOWHERE, alias } = options;
  const key = loadOrCreateKey(join(home, "keys"), "tokens");
  // Without "alg": EdDSA and Ed25519 are two names of what this key does.
  const { alg: _either, ...publicKey } = key.publicKey;
  return {
    key,
    issuer: {
      issuer,
      audience,
      keys: { keys: [publicKey] },
      tenant: { claim: TENANT_CLAIM, among: tenants },
      ...(alias === undefined ? {} : { alias }),
    },
    mint: (grant) => mintToken({ ...grant, issuer, audience }, key, Date.now()),
  };
}
