import type { ClaimId, Instant } from "./ids.ts";
import type { JsonObject } from "./json.ts";

/** What attributes an effect, or its absence, to one operation. */
export interface Evidence {
  /** `answer`: the provider answered our own request. `row`: our own commit. `lookup`: found by identity. `ruling`: a person. */
  readonly kind: "answer" | "row" | "lookup" | "duplicate_answer" | "ruling";
  readonly data: JsonObject;
}

type RefusalReason = "precondition_failed" | "not_found" | "provider_refused" | "expired" | "invalid";

/** Something the provider said that is neither yes nor no. */
type Answer = "duplicate" | "in_flight" | "mismatch" | "accepted";

/** What an attempt learned by acting. Nothing ever becomes `lost`; `lost` may become anything. */
export type Outcome =
  | { readonly kind: "confirmed"; readonly evidence: Evidence }
  /** It did not, and will not. */
  | {
      readonly kind: "refused";
      readonly reason: RefusalReason;
      readonly detail: string;
      readonly currentVersion?: string;
    }
  /** Provably nothing was sent or accepted. */
  | { readonly kind: "absent"; readonly why: string; readonly retryAfterMs?: number }
  /** Anything else. */
  | {
      readonly kind: "lost";
      readonly cause: string;
      readonly answer?: Answer;
      readonly retryAfterMs?: number;
      readonly seen?: JsonObject;
    };

/** One try of an operation. Every attempt uses the same provider identity. */
export interface Attempt {
  readonly n: number;
  readonly claimId: ClaimId;
  readonly worker: string;
  readonly claimedAt: Instant;
  readonly leaseUntil: Instant;
  /** It was counted against limits: what it reserved is given back, or counts, when the operation settles. */
  readonly limited?: true;
  readonly outcome?: Outcome;
  readonly learnedAt?: Instant;
}

/** Keeps the first definite thing learned: a repeated or a late report never replaces knowledge with less. */
export function learn(attempt: Attempt, outcome: Outcome, at: Instant): Attempt {
  const known = attempt.outcome;
  // An effect that appeared outweighs any word that there was none.
  const appeared = outcome.kind === "confirmed" && known?.kind !== "confirmed";
  if (known !== undefined && !appeared && (known.kind !== "lost" || outcome.kind === "lost")) return attempt;
  const { outcome: _known, learnedAt: _then, ...claim } = attempt;
  return { ...claim, outcome, learnedAt: at };
}
