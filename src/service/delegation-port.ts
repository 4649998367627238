import type { Delegation } from "../core/delegation.ts";
import type { Instant, TenantId } from "../core/ids.ts";
import type { Revocation } from "../core/revocation.ts";

/** Whose authority is asked for. */
export interface Claimant {
  readonly principalId: string;
  readonly clientId: string;
  /** The record that the client says it acts under. */
  readonly delegationId?: string;
}

/** What the ledger knows of a claimant, all read at one moment. */
export interface Backing {
  /** The chain of the named record, root first; empty when none is named. Absent: there is no such record in this tenant. */
  readonly links: readonly Delegation[] | undefined;
  /** What stands against the principal, or against a client of the chain. */
  readonly revocations: readonly Revocation[];
  /** The database's clock at the moment of reading. */
  readonly clock: Instant;
}

export type NewDelegation = Omit<Delegation, "createdAt" | "revoked" | "notBefore" | "expiresAt"> & {
  /** Default: now. */
  readonly notBefore?: Instant;
  /** Never later than the end of the one above, which is what a longer one is cut to. */
  readonly lasts: { readonly forMs: number } | { readonly until: Instant };
};

export type GrantAnswer =
  | { readonly kind: "granted"; readonly delegation: Delegation }
  /** The one above ended or was revoked meanwhile, or this would end before it begins. */
  | { readonly kind: "ended" };

export interface DelegationQuery {
  /** Only those of this principal's authority; with a client, only what that client gave or holds of it. */
  readonly of?: { readonly principalId: string; readonly clientId?: string };
  readonly holder?: string;
  readonly standing?: boolean;
  readonly before?: string;
  readonly max: number;
}

/** Delegations and revocations in the ledger. Granting only widens and leaves the epoch alone; everything else raises it in its own commit. */
export interface Delegations {
  backing(tenantId: TenantId, claimant: Claimant): Promise<Backing>;
  grant(asked: NewDelegation): Promise<GrantAnswer>;
  /** Itself and all above it, root first; empty when there is no such record. */
  chain(tenantId: TenantId, id: string): Promise<readonly Delegation[]>;
  list(tenantId: TenantId, query: DelegationQuery): Promise<readonly Delegation[]>;
  /** Twice is once: the first reason stays. Undefined when there is no such record. */
  end(
    tenantId: TenantId,
    id: string,
    why: { readonly by: string; readonly reason: string },
  ): Promise<Delegation | undefined>;
  /** Twice is once: what stands against this name already is the answer. */
  revoke(tenantId: TenantId, asked: Omit<Revocation, "at">): Promise<Revocation>;
  restore(tenantId: TenantId, id: string, actor: string): Promise<boolean>;
  /** Newest first. */
  revocations(
    tenantId: TenantId,
    query: { readonly before?: string; readonly max: number },
  ): Promise<readonly Revocation[]>;
}
