import type { Instant } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Requirement } from "./policy.ts";
import type { Authentication } from "./session.ts";

/** One person's yes or no to one digest. */
export interface Approval {
  readonly decision: "approve" | "reject";
  /** `issuer#subject`. */
  readonly person: string;
  /** The client through which the person answered. */
  readonly client: string;
  /** What the person's session showed: asked again when authority changed. */
  readonly roles: readonly string[];
  readonly digest: string;
  readonly at: Instant;
  /** Names the view that was answered: it answers once. */
  readonly nonce: string;
  readonly comment?: string;
  /** When and how the person's session was authenticated. */
  readonly authentication?: Authentication;
  /** What the person's own authenticator signed; it can be verified without us. */
  readonly signed?: SignedApproval;
  readonly withdrawnAt?: Instant;
}

/** Exactly what a person's authenticator signs: its digest is the challenge. */
export interface ApprovalStatement {
  readonly actionDigest: string;
  readonly operationId: string;
  readonly decision: "approve" | "reject";
  readonly approver: string;
  /** The rules that this answers, by id. */
  readonly requirement: readonly string[];
  readonly nonce: string;
  /** RFC 3339: the view, and with it this challenge, ends then. */
  readonly expiresAt: string;
}

/** A signature with all that verifying it takes. */
export interface SignedApproval {
  readonly statement: ApprovalStatement;
  readonly credentialId: string;
  /** JSON Web Key. */
  readonly publicKey: JsonObject;
  readonly rpId: string;
  readonly origin: string;
  /** Each base64url, as the authenticator gave it. */
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
  readonly signature: string;
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
  /** What the decision rests on ends then, whatever people say. */
  readonly endsAt?: Instant;
  /** The revision from which this was asked: an older view shows something else. */
  readonly since: number;
  /** When waiting ends, where it began again; otherwise the operation says so. */
  readonly until?: Instant;
  /** Everything that was ever said, the withdrawn and the outdated too. */
  readonly approvals: readonly Approval[];
}

/** Whose yes or no stands: the last word of each person that was not taken back. */
export function standingApprovals(review: Pick<Review, "approvals"> | undefined): readonly Approval[] {
  const last = new Map<string, Approval>();
  for (const approval of review?.approvals ?? [])
    if (approval.withdrawnAt === undefined) last.set(approval.person, approval);
  return [...last.values()];
}

/** The review after this person took back what they said. */
export function withdrawn(review: Review, person: string, at: Instant): Review {
  return {
    ...review,
    approvals: review.approvals.map((approval) =>
      approval.person === person && approval.withdrawnAt === undefined
        ? { ...approval, withdrawnAt: at }
        : approval,
    ),
  };
}
