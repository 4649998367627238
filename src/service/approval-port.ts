import type { Instant, TenantId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { ApprovalStatement, SignedApproval } from "../core/review.ts";

/** How this installation asks people. */
export interface Approvals {
  /** Proposals of one client that may wait for people at once; the next is refused, and nothing of it is stored. */
  readonly openMax: number;
  /** Whom a tool asks that has not earned its autonomy. */
  readonly role: string;
  /** A person must have authenticated at most so long ago to say yes, whatever policy asks. */
  readonly maxAgeMs?: number;
  /** Absent: this installation knows no passkeys, and what asks for one is denied. */
  readonly passkeys?: Passkeys | undefined;
  readonly notifier?: Notifier | undefined;
}

/** An authenticator that a person enrolled: what it signs can be verified by anybody who has its public key. */
export interface Passkey {
  readonly id: string;
  readonly person: string;
  readonly name: string;
  /** COSE key (RFC 9052), base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAt: Instant;
  readonly usedAt?: Instant;
  /** Set when its counter went backwards: somebody may have copied it, and it signs nothing here any more. */
  readonly suspectAt?: Instant;
}

/** The passkeys of a tenant's people, as the ledger keeps them. */
export interface PasskeyStore {
  list(tenantId: TenantId, person: string): Promise<readonly Passkey[]>;
  /** False, and nothing changed, when the credential is known already or the person has as many as one may have. */
  add(tenantId: TenantId, passkey: Omit<Passkey, "createdAt" | "usedAt" | "suspectAt">): Promise<boolean>;
  remove(tenantId: TenantId, person: string, id: string): Promise<boolean>;
  /** Moves the counter forward. False when it would not move: then the passkey is suspect from now on. */
  count(tenantId: TenantId, id: string, counter: number): Promise<boolean>;
}

/** A person of a tenant, as their session names them. */
export interface Holder {
  readonly tenantId: TenantId;
  readonly person: string;
}

/** WebAuthn (Level 3): enrolment, and signatures over one statement. */
export interface Passkeys {
  readonly store: PasskeyStore;
  readonly rpId: string;
  /** What a browser needs to enrol one (PublicKeyCredentialCreationOptions, JSON). `ticket` goes back with the answer. */
  enrolment(holder: Holder): Promise<{ readonly options: JsonObject; readonly ticket: string }>;
  /** Throws `invalid` for what is no fresh answer to that ticket. */
  enrol(
    holder: Holder,
    answer: { readonly ticket: string; readonly response: JsonObject; readonly name: string },
  ): Promise<Passkey>;
  /** Throws `decision_refused` when the assertion does not sign exactly this statement with a passkey of this person. */
  verify(holder: Holder, statement: ApprovalStatement, assertion: JsonObject): Promise<SignedApproval>;
}

/** Tells somebody outside that people are asked. Best effort: it is never waited for and never throws. */
export interface Notifier {
  /** `id` is the same for the same question, so that whoever hears it twice knows. */
  waiting(question: { readonly tenantId: TenantId; readonly id: string; readonly operationId: string }): void;
}
