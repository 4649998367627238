import { Problem } from "../core/problem.ts";
import type { Credentials, Identify, SpentProofs } from "../service/identity-port.ts";
import { type AccessToken, claimedIssuer, refuseUntimely, type Trusted, verified } from "./access-token.ts";
import { refused } from "./claims.ts";
import { provePossession } from "./proof.ts";
import { verifiedTokens } from "./verified-tokens.ts";

const TOKEN_MAX = 8_192;
const SENT = /^(Bearer|DPoP) +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i;

export interface TokenIdentity {
  readonly trusted: readonly Trusted[];
  readonly proofs: SpentProofs;
  readonly clock: () => number | Promise<number>;
  /** Under which the installation is reached, without a slash at the end. */
  readonly publicUrl: () => string;
}

/** Turns the Authorization header of a call into a session, as an OAuth resource server does: access tokens in JWT form, bearer or bound. */
export function tokenIdentity({ trusted, proofs, clock, publicUrl }: TokenIdentity): Identify {
  const known = new Map(trusted.map((each) => [each.issuer.issuer, each]));
  const cache = verifiedTokens();
  return async (credentials, when = "now") => {
    const { scheme, text } = sentBy(credentials);
    const from = known.get(claimedIssuer(text));
    if (from === undefined) throw refused("it comes from an issuer that is not trusted here");
    const token = await tokenOf(text, from);
    if (when === "now") await refuseUnproven(credentials, scheme, text, token);
    if (from.issuer.requireScopes === true) refuseNarrow(credentials, token);
    return token.session;
  };

  async function tokenOf(text: string, from: Trusted): Promise<AccessToken> {
    const nowMs = await clock();
    const generation = from.keys.generation();
    const kept = cache.find(text, generation);
    const token = kept ?? (await verified(text, from, nowMs));
    refuseUntimely(token, nowMs);
    // Keys that changed meanwhile may not be those that it was verified with.
    if (kept === undefined && generation === from.keys.generation()) cache.keep(text, generation, token);
    return token;
  }

  async function refuseUnproven(
    { method, target, proof }: Credentials,
    scheme: "bearer" | "dpop",
    text: string,
    { boundTo, session }: AccessToken,
  ): Promise<void> {
    // RFC 9449 7.2: what is bound to a key is worth nothing to whoever only carries it.
    if ((scheme === "dpop") !== (boundTo !== undefined)) {
      throw refused(
        boundTo === undefined
          ? "it is not bound to a key, and is sent as Bearer"
          : "it is bound to a key of its client: send it as DPoP, with a proof",
      );
    }
    if (boundTo === undefined) return;
    const url = `${publicUrl()}${target}`;
    const { tenantId } = session;
    await provePossession(proofs, { proof, method, url, token: text, boundTo, tenantId });
  }
}

function sentBy({ authorization }: Credentials): {
  readonly scheme: "bearer" | "dpop";
  readonly text: string;
} {
  if (authorization === undefined) {
    throw new Problem("unauthenticated", "this needs a token", {
      next: "Send Authorization: Bearer … with a token of an issuer that this installation trusts.",
    });
  }
  const found = authorization.length > TOKEN_MAX ? null : SENT.exec(authorization);
  const [, scheme = "", text] = found ?? [];
  if (text === undefined) throw refused("it is not a bearer token in JWT form");
  return { scheme: scheme.toLowerCase() === "dpop" ? "dpop" : "bearer", text };
}

function refuseNarrow({ scopes }: Credentials, token: AccessToken): void {
  if (scopes.every((scope) => token.scopes.has(scope))) return;
  throw new Problem("insufficient_scope", `the token lacks a scope: this needs ${scopes.join(" ")}`, {
    scopes,
    next: "Get a token with those scopes.",
  });
}
