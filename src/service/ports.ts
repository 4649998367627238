import type { Action } from "../core/action.ts";
import type { TenantId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { Operation } from "../core/operation.ts";
import type { Opinion, Requirement } from "../core/policy.ts";
import type { Session } from "../core/session.ts";
import type { Tool } from "../core/tool.ts";
import type { Approvals } from "./approval-port.ts";
import type { Capacity } from "./capacity.ts";
import type { Connector } from "./connector.ts";
import type { Backing, Claimant } from "./delegation-port.ts";
import type { Authority, Ledger } from "./ledger-port.ts";
import type { Policies } from "./policy-port.ts";

export type {
  Connector,
  ConnectorFinding,
  CurrentQuestion,
  Errand,
  ReadQuestion,
  ResourceRead,
} from "./connector.ts";

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
