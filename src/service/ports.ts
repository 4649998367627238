import type { Action } from "../core/action.ts";
import type { Evidence, Outcome } from "../core/attempt.ts";
import type { Contract } from "../core/contract.ts";
import type { Instant, TenantId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { Operation } from "../core/operation.ts";
import type { Current, Opinion, Requirement } from "../core/policy.ts";
import type { Session } from "../core/session.ts";
import type { Tool } from "../core/tool.ts";
import type { Approvals } from "./approval-port.ts";
import type { Capacity } from "./capacity.ts";
import type { Backing, Claimant } from "./delegation-port.ts";
import type { Authority, Ledger, LocalEffect } from "./ledger-port.ts";
import type { Policies } from "./policy-port.ts";

/** All that the service asks of the world. Only compose.ts builds one. */
export interface Ports {
  readonly ledger: Ledger;
  readonly catalog: Catalog;
  readonly policy: PolicyEngine;
  /** Absent where policy has no versions. */
  readonly policies?: Policies;
  readonly authority: AuthorityView;
  readonly approvals: Approvals;
  readonly clock: ProcessClock;
  readonly entropy: Entropy;
  readonly signer: Signer;
  readonly log: Log;
  /** Executions under way that this process's callers wait for. */
  readonly capacity: Capacity;
  /** Names this process in claims. */
  readonly worker: string;
}

/** The last known authority of each tenant. May be old: the claim compares the epoch, and `refresh` reads it again. */
export interface AuthorityView {
  known(tenantId: TenantId): Promise<Authority>;
  /** Throws `not_ready` where another configuration is in force than this process's own. */
  refresh(tenantId: TenantId): Promise<Authority>;
  /** What the ledger knows of a claimant under this authority; read once for each epoch. What is not there is read each time. */
  backing(tenantId: TenantId, claimant: Claimant, authority: Authority): Promise<Backing>;
  /** The tenants for which this process knew the wrong configuration when it last asked. */
  outdated(): readonly TenantId[];
}

/** What is offered now, and what was pinned earlier. */
export interface Catalog {
  tool(tenantId: TenantId, name: string): OfferedTool | undefined;
  offered(tenantId: TenantId): readonly OfferedTool[];
  /** The tool and contract that an operation pinned, offered today or not. */
  pinned(tenantId: TenantId, toolDigest: string): Promise<OfferedTool | undefined>;
  /** Keys the tenant's look-alike digests. */
  tenantKey(tenantId: TenantId): Uint8Array;
}
export interface OfferedTool {
  readonly tool: Tool;
  readonly digest: string;
  readonly settingsDigest: string;
  readonly connector: Connector;
  /** Throws `invalid` naming the place. Never edits. */
  readonly validate: (args: JsonObject) => void;
}

/** One attempt as a connector sees it. The action is a copy; the connector sees credentials that the agent never sees. */
export interface Errand {
  readonly action: Action;
  readonly digest: string;
  readonly contract: Contract;
  readonly tool: Tool;
  readonly attempt: number;
  readonly authorizedAt: Instant;
  readonly firstSentAt: Instant;
  /** Aborted at requestLife; nothing may leave afterwards. */
  readonly signal: AbortSignal;
  /** Asked immediately before the first byte leaves. False: nothing may be sent, and the outcome is `absent`. */
  readonly gate: () => boolean;
}

/** One kind of provider. Never throws for what a provider did: every answer, and every silence, is an Outcome or a Finding. */
export interface Connector {
  readonly kind: string;
  /** Present on connectors whose effect lives in the ledger's own database; then `perform` is never called. */
  localEffect?(action: Action, tool: Tool): LocalEffect;
  perform(errand: Errand): Promise<Outcome>;
  lookUp(errand: Errand, lookup: string): Promise<ConnectorFinding>;
  /** Raises the barrier. `raised` only on a clear answer that it stands. */
  bar(errand: Errand): Promise<{ readonly raised: boolean; readonly why: string }>;
  /** Ends what is kept open. */
  close?(): Promise<void>;
  /** The resource as it stands now, for policy to look at. Undefined where that cannot be read: a hint, never evidence. */
  current?(question: CurrentQuestion): Promise<Current | undefined>;
  /** Asks whether an accepted request has finished: a definite outcome, or undefined while it has not. */
  poll?(errand: Errand): Promise<Outcome | undefined>;
}
export interface CurrentQuestion {
  readonly tenantId: string;
  readonly resource: Action["resource"];
  readonly arguments: JsonObject;
  readonly tool: Tool;
  readonly signal: AbortSignal;
}
/** A Finding without its time, which is the service's to say. */
export type ConnectorFinding =
  | { readonly kind: "confirmed"; readonly evidence: Evidence }
  | { readonly kind: "absent"; readonly sawBarrier?: boolean }
  | { readonly kind: "unclear"; readonly why: string }
  | { readonly kind: "conflict"; readonly evidence: Evidence };

/** Evaluates policy, one voice for each principal: the user, and every client in the chain. An error is a deny; it never throws. */
export interface PolicyEngine {
  /** The version that stands for a tenant under this authority. */
  version(authority: Authority): string;
  opinions(question: PolicyQuestion): Promise<readonly Opinion[]>;
  /** May this person answer for this requirement? Policy's own action `approve`. An error is a no; it never throws. */
  approves(question: ApprovalQuestion): Promise<boolean>;
}
export interface ApprovalQuestion {
  /** The person's: live at the vote, and at the claim what was kept of it. */
  readonly session: Session;
  readonly operation: Operation;
  readonly requirement: Requirement;
  readonly authority: Authority;
}
export interface PolicyQuestion {
  readonly session: Session;
  readonly tool: Tool;
  readonly resource: Action["resource"];
  readonly arguments: JsonObject;
  readonly expectedVersion?: string;
  readonly authority: Authority;
}

export interface ProcessClock {
  /** Milliseconds since the process began; never goes back, may stand still during suspend. */
  monotonicMs(): number;
  /** Milliseconds since 1970; may jump. */
  wallMs(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
export interface Entropy {
  /** A UUIDv7 (RFC 9562), 36 characters. */
  uuid7(): string;
  uuid4(): string;
  /** 128 random bits, base64url. */
  salt(): string;
  /** In [0, 1). */
  fraction(): number;
}
export interface Signer {
  readonly keyId: string;
  /** A compact JWS (RFC 7515, EdDSA) over exactly these claims. */
  sign(claims: JsonObject): string;
}
export interface Log {
  info(event: string, fields: JsonObject): void;
  warn(event: string, fields: JsonObject): void;
  error(event: string, fields: JsonObject): void;
}
