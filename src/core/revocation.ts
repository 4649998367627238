import type { Instant } from "./ids.ts";
import type { Opinion } from "./policy.ts";

/** A person or a client that may not act any more, whatever its tokens say, until somebody lifts it. */
export interface Revocation {
  readonly id: string;
  readonly scope: "principal" | "client";
  readonly name: string;
  readonly reason: string;
  readonly actor: string;
  readonly at: Instant;
}

/** The voice of what stands against somebody through whom the authority runs; silent when nothing does. */
export function revocationOpinions(revocations: readonly Revocation[]): readonly Opinion[] {
  return revocations.map(({ scope, name, reason }) => ({
    of: `revocation of the ${scope} ${name}`,
    effect: "deny",
    reason: "revoked",
    policies: [],
    requirements: [],
    obligations: [],
    why: `the ${scope} ${name} was revoked: ${reason}`,
  }));
}
