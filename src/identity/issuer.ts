import type { JWK } from "jose";
import type { TenantId } from "../core/ids.ts";

/** One issuer whose tokens open a session here, and what its tokens mean. */
export interface Issuer {
  readonly issuer: string;
  /** The token must be for exactly this audience and no other. */
  readonly audience: string;
  /** Its public keys, or `discovered`: read from the addresses that its metadata names. */
  readonly keys: { readonly keys: readonly JWK[] } | "discovered";
  /** With which its tokens may be signed. Default: every one that is safe. */
  readonly algorithms?: readonly Algorithm[];
  /** One tenant for all its tokens, or the claim that names one of the tenants it may speak for. */
  readonly tenant: TenantId | { readonly claim: string; readonly among: readonly TenantId[] };
  /** Default `roles`. */
  readonly rolesClaim?: string;
  /** The clients whose tokens are taken. Default: any that the issuer knows. */
  readonly clients?: readonly string[] | "any";
  /** Only tokens that are bound to a key of their client (RFC 9449). */
  readonly requireDpop?: boolean;
  /** Its tokens are limited by scopes. */
  readonly requireScopes?: boolean;
  /** What its principals are called by in place of its address, which changes from start to start. Only the development issuer's. */
  readonly alias?: string;
}

/** Asymmetric, all of them: whoever can check a token must not be able to make one. */
export const ALGORITHMS = ["EdDSA", "Ed25519", "ES256", "ES384", "ES512", "PS256", "RS256"] as const;
type Algorithm = (typeof ALGORITHMS)[number];
