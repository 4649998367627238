import type { Instant } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Requirement } from "./policy.ts";

/** One person's yes or no to one digest. */
export interface Approval {
  readonly decision: "approve" | "reject";
  /** `issuer#subject`. */
  readonly person: string;
  /** What the person's session showed: asked again when authority changed. */
  readonly roles: readonly string[];
  readonly digest: string;
  readonly at: Instant;
  readonly comment?: string;
  /** How sure it is that it was this person: when and how the session was authenticated, or a signed assertion. */
  readonly assurance?: JsonObject;
  readonly withdrawnAt?: Instant;
}

/** What people must say about an operation before it may execute, and what they have said. Kept as history once it is authorized. */
export interface Review {
  readonly requirements: readonly Requirement[];
  /** The decision that asked, to be given with the authorization when people have answered. */
  readonly policyVersion: string;
  readonly epoch: number;
  readonly policies: readonly string[];
  readonly obligations: readonly JsonObject[];
  /** The roles that the proposing session showed. */
  readonly roles: readonly string[];
  readonly approvals: readonly Approval[];
}
