import type { Attempt, Outcome } from "../../src/core/attempt.ts";
import type { Contract, Identity, Lookup, Window } from "../../src/core/contract.ts";
import type { ClaimId } from "../../src/core/ids.ts";
import { type Inquiry, NO_INQUIRY } from "../../src/core/inquiry.ts";
import type { Progress } from "../../src/core/operation.ts";

export const NOTHING: Contract = {
  contract: "test/v1",
  transport: "http",
  requestLifeMs: 30,
  maxPauseMs: 5,
  leaseMs: 40,
  attemptsMax: 3,
  backoff: { firstMs: 10, maxMs: 80 },
  settle: { kind: "bounded", forMs: 50 },
  precondition: { kind: "none" },
  identity: { kind: "none" },
  lookup: [],
  barrier: { kind: "none" },
  outcomes: [],
  unclearMax: 3,
};
const FOR_EVER: Window = { opens: "first_effect", forMs: null, marginMs: 0, after: "refuses" };
export const KEY = { kind: "key", window: FOR_EVER, duplicateMeans: "effect" } as const satisfies Identity;
export const request = { method: "GET", url: "{{base}}" } as const;
export const authoritative: Lookup = {
  name: "proves",
  strength: "authoritative",
  lagMs: 7,
  horizonMs: 500,
  request,
  found: {},
  absent: {},
};
export const positive: Lookup = { ...authoritative, name: "finds", strength: "positive", lagMs: 0 };
export const tombstone = { kind: "tombstone", request, raised: {} } as const;
export const SILENCE: Outcome = { kind: "lost", cause: "no answer" };
export const LIVE = { live: true } as const;
export const LAPSED = { live: false, why: "revoked" } as const;
export const CLAIMED_AT = 1000;

export function doubt(outcomes: readonly (Outcome | undefined)[], inquiry: Partial<Inquiry> = {}): Progress {
  const attempts = outcomes.map((outcome, index): Attempt => {
    const claimedAt = CLAIMED_AT + index * 100;
    const known = outcome === undefined ? {} : { outcome, learnedAt: claimedAt + 20 };
    // The brand only says what it names.
    return {
      n: index + 1,
      claimId: `claim-${index + 1}` as ClaimId,
      worker: "w",
      claimedAt,
      leaseUntil: claimedAt + 40,
      ...known,
    };
  });
  return { state: "unknown", attempts, inquiry: { ...NO_INQUIRY, ...inquiry } };
}

export function answering(answer: "duplicate" | "in_flight" | "mismatch" | "accepted"): Outcome {
  return { kind: "lost", cause: answer, answer };
}

export const NO: Outcome = { kind: "refused", reason: "provider_refused", detail: "403" };
export const ABSENT: Outcome = { kind: "absent", why: "429", retryAfterMs: 400 };
