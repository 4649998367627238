import type { Json, JsonObject } from "./json.ts";
import type { Message } from "./message.ts";

/** How long a sent request may still act at the provider. */
export type Settle = { readonly kind: "bounded"; readonly forMs: number } | { readonly kind: "unbounded" };

/** The condition the provider itself checks before it applies a write. */
export type Precondition =
  | { readonly kind: "none" }
  | {
      readonly kind: "etag" | "version" | "cas" | "sequence" | "git_ref";
      /** `claimed` is somebody's word; `probed` was measured. */
      readonly atomic: "claimed" | "probed";
      readonly versions: "never_return" | "may_return";
      /**
       * Which of the two the provider asks first when a request that took effect comes again: its condition (then our own effect makes it
       * "precondition failed"), its memory of us, or neither, but it shows our marker beside the failed condition. It changes no step: a no
       * to a repeat is never evidence about an earlier attempt. It says whether a repeat can clear a lost answer.
       */
      readonly replay: "precondition_first" | "dedup_first" | "marker_visible";
    };

/** How long the provider remembers our identity, and what it does with it afterwards. */
export interface Window {
  readonly opens: "first_send" | "first_effect";
  /** Milliseconds; `null` means for ever. */
  readonly forMs: number | null;
  readonly marginMs: number;
  readonly after: "executes" | "refuses";
}

/** What makes a second request of one operation recognizable as the same. */
export type Identity =
  | { readonly kind: "none" }
  | {
      readonly kind: "key" | "marker" | "create_once" | "same_version";
      readonly window: Window;
      /** What the provider's "I have seen this" proves. */
      readonly duplicateMeans: "effect" | "effect_or_in_flight" | "marker_only";
      /** A repeat sooner than this after the last attempt is not recognized, or refused. */
      readonly minRetryDelayMs?: number;
    };

/** A question to the provider that names our operation. `authoritative`: not finding proves absence once everything sent has settled. */
export interface Lookup {
  readonly name: string;
  readonly strength: "positive" | "authoritative";
  /** How long an effect may stay invisible to this lookup. */
  readonly lagMs: number;
  /** After the last send plus this, asking again teaches nothing more. */
  readonly horizonMs: number;
  readonly request: Message;
  /**
   * Where the answer holds a list to look through. Then `found`, `digestAt` and `receipt` are about one item, the first that matches, and
   * nothing is absent unless the list is there.
   */
  readonly each?: string;
  /** An answer that matches says "found". */
  readonly found: Match;
  /** An answer that matches says "nothing under this identity". Anything else is unclear. */
  readonly absent: Match;
  /** Found, but with another digest than ours: an identity conflict. Absent when the provider shows no digest. */
  readonly digestAt?: string;
  /** What our digest looks like there, such as "{{b64 op.digest}}". By default as it is. */
  readonly digestIs?: string;
  /** Found, but it is our own barrier. Asked first: a barrier may look like a find. */
  readonly barrier?: Match;
  /** What to keep as evidence of what was found. */
  readonly receipt?: Picks;
}

/** A write that can only prevent: it makes a late attempt fail for ever. */
export type Barrier =
  | { readonly kind: "none" }
  | {
      readonly kind: "tombstone" | "cancel_by_key" | "fence";
      readonly request: Message;
      readonly raised: Match;
    };

/** What one answer of the provider means. Unmatched is `unknown`. */
export const OUTCOME_MEANINGS = [
  "effect",
  "duplicate",
  "final_no",
  "not_found",
  "transient_no",
  "not_sent",
  "precondition_failed",
  "in_flight",
  "mismatch",
  "accepted",
  "unknown",
] as const;
export type OutcomeMeaning = (typeof OUTCOME_MEANINGS)[number];

/**
 * What to keep as evidence: name → JSON Pointer into the body, or `header:Name`. What is named must be there, or the answer proves
 * nothing; a name that ends in "?" may be missing.
 */
export type Picks = Readonly<Record<string, string>>;

/** All given members must hold; texts may hold `{{…}}` variables. `phase` stands alone: it is about a silence, everything else about an answer. Statuses are exact numbers or classes such as `5xx`. Body keys are JSON Pointers; `{"present": true}` asks only for presence; null counts as absent. */
export interface Match {
  readonly status?: readonly (number | string)[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, Json>>;
  /** Texts that the body holds somewhere, as it came: for what is not JSON. */
  readonly contains?: readonly string[];
  readonly phase?: readonly string[];
}

export interface OutcomeRule {
  readonly when: Match;
  readonly is: OutcomeMeaning;
  readonly receipt?: Picks;
}

/** How to fetch the resource and its version. */
export interface ReadRule {
  readonly request: Message;
  readonly version: { readonly header: string } | { readonly body: string };
  readonly require: "strong" | "opaque";
}

/** For an operation that the provider accepts now and finishes later. */
export interface Completion {
  readonly request: Message;
  readonly everyMs: number;
  readonly done: Match;
  readonly refused: Match;
  readonly receipt?: Picks;
}

/** What one operation of one provider guarantees. Versioned by content and pinned in the action. */
export interface Contract {
  /** Name and version, for example `shop.set_available/v1`. */
  readonly contract: string;
  /** The kind of connector that speaks to the provider; its name in TRANSPORTS, or one that was registered. */
  readonly transport: string;
  /** A request is aborted at this age. */
  readonly requestLifeMs: number;
  /** The longest time between starting a claim and the first byte leaving. */
  readonly maxPauseMs: number;
  readonly leaseMs: number;
  readonly attemptsMax: number;
  readonly backoff: { readonly firstMs: number; readonly maxMs: number };
  readonly settle: Settle;
  readonly precondition: Precondition;
  readonly identity: Identity;
  readonly lookup: readonly Lookup[];
  readonly barrier: Barrier;
  readonly outcomes: readonly OutcomeRule[];
  readonly completion?: Completion;
  readonly read?: ReadRule;
  readonly request?: Message;
  readonly vars?: Readonly<Record<string, string>>;
  /** Unclear lookups in a row after which a person is asked. */
  readonly unclearMax: number;
}

/** The text a contract is digested over. */
export function contractValue(contract: Contract): JsonObject {
  return contract as unknown as JsonObject; // A contract is plain JSON by construction; the type only names its members.
}

/** The first authoritative lookup, if the contract has one. */
export function authoritativeLookup(contract: Contract): Lookup | undefined {
  return contract.lookup.find((lookup) => lookup.strength === "authoritative");
}
