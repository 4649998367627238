import type { Action } from "../core/action.ts";
import type { Outcome } from "../core/attempt.ts";
import type { EventDraft, StoredEvent } from "../core/event.ts";
import type { Halt } from "../core/halt.ts";
import type { ClaimId, Instant, OperationId, TenantId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { NewOperation, Operation, Progress, State } from "../core/operation.ts";
import type { Decision, Opinion } from "../core/policy.ts";
import type { Probe } from "../core/probe.ts";
import type { Session } from "../core/session.ts";
import type { Tool } from "../core/tool.ts";
import type { Connector, LocalEffect } from "./connector.ts";

export type {
  Answered,
  Connector,
  ConnectorFinding,
  Errand,
  LocalEffect,
  ReadQuestion,
  ResourceRead,
  Statement,
} from "./connector.ts";

/** All that the service asks of the world. Only compose.ts builds one. */
export interface Ports {
  readonly ledger: Ledger;
  readonly catalog: Catalog;
  readonly policy: PolicyEngine;
  readonly authority: AuthorityView;
  readonly clock: ProcessClock;
  readonly entropy: Entropy;
  readonly signer: Signer;
  readonly log: Log;
  /** Names this process in claims. */
  readonly worker: string;
}

/** What the tenant's authority is now: the epoch, and everything that was decided under it. */
export interface Authority {
  readonly epoch: number;
  readonly halts: readonly Halt[];
  /** The last probe of each tool definition under each provider's settings. */
  readonly probes: readonly Probe[];
}

/** The last known authority of each tenant. May be old: the claim compares the epoch, and `refresh` reads it again. */
export interface AuthorityView {
  known(tenantId: TenantId): Promise<Authority>;
  refresh(tenantId: TenantId): Promise<Authority>;
}

/** A value with the database's clock at the moment it was read. */
export interface Read<T> {
  readonly value: T;
  readonly clock: Instant;
}

/** The new head of an operation with the events that led there. The ledger writes it only over the expected revision. */
export interface Recording {
  readonly operation: Operation;
  readonly progress: Progress;
  readonly events: readonly EventDraft[];
  /** The signed statement, when this settles the operation. */
  readonly receipt?: string;
  /** `null`: nothing is due any more, or only a person can move it. */
  readonly dueAt: Instant | null;
}

export interface ClaimTicket {
  readonly claimId: ClaimId;
  readonly worker: string;
  readonly leaseMs: number;
}

/** Present when the claim, the effect and the receipt are one commit. `settle` must be pure. */
export interface LocalWork {
  readonly effect: LocalEffect;
  readonly settle: (claimed: Operation, outcome: Outcome, clock: Instant) => Recording;
}

/** One new operation, decided, and claimed in the same commit when it runs now. */
export interface Opening {
  readonly operation: NewOperation;
  readonly decision: Decision;
  readonly roles: readonly string[];
  readonly permissionForMs: number;
  readonly reviewForMs: number;
  readonly proposalDigest: string;
  readonly contentDigest: string;
  readonly effectDigest: string;
  readonly lookalikes: "principal" | "tenant" | "off";
  readonly claim?: ClaimTicket;
  readonly local?: LocalWork;
  /** Cancels the operation that this one supersedes, in the same commit. Pure; undefined when it cannot be cancelled any more. */
  readonly supersede?: (old: Operation, clock: Instant) => Recording | undefined;
  readonly events: readonly EventDraft[];
  /** The signed statement of a proposal that was denied at once. */
  readonly receipt?: string;
}

export type OpenAnswer =
  | { readonly kind: "opened"; readonly operation: Operation; readonly clock: Instant }
  | { readonly kind: "replayed" | "joined"; readonly operation: Operation }
  | { readonly kind: "key_reused" | "key_spent" }
  /** `other` is absent when it belongs to somebody else. */
  | { readonly kind: "looks_the_same" | "equal_effect_in_doubt"; readonly other?: OperationId }
  | { readonly kind: "not_cancellable"; readonly state: State | undefined }
  | { readonly kind: "not_settled" | "already_compensated" }
  | { readonly kind: "stale_authority"; readonly epoch: number };

export interface Claiming {
  readonly operation: Operation;
  /** The epoch the permission was decided (again) under. */
  readonly epoch: number;
  readonly ticket: ClaimTicket;
  readonly events: readonly EventDraft[];
  readonly local?: LocalWork;
}
export type ClaimAnswer =
  | { readonly kind: "claimed"; readonly operation: Operation; readonly clock: Instant }
  /** Somebody moved it first, or it is not there. */
  | { readonly kind: "changed" }
  | { readonly kind: "expired"; readonly clock: Instant }
  | { readonly kind: "stale_authority"; readonly epoch: number };

export type RecordAnswer =
  | { readonly kind: "recorded"; readonly operation: Operation }
  | { readonly kind: "changed" };

export interface DueQuery {
  readonly max: number;
  /** Others leave what was picked alone for this long. Not a lock: correctness comes from the revision. */
  readonly reserveMs: number;
  readonly exceptProviders: readonly string[];
  readonly exceptTenants: readonly string[];
}

export interface ListQuery {
  readonly state?: State | undefined;
  readonly tool?: string | undefined;
  readonly resource?: string | undefined;
  readonly principalId?: string | undefined;
  readonly attention?: boolean | undefined;
  readonly since?: Instant | undefined;
  readonly before?: OperationId | undefined;
  readonly max: number;
}

/** One change, for those who watch: ids and versions only. */
export interface Change {
  readonly seq: number;
  readonly operationId: OperationId;
  readonly type: string;
  readonly n: number;
  readonly at: Instant;
}

/** The ledger. Every verb, called twice with the same ids, gives the first answer. Throws `ledger_unavailable` or `overloaded`. */
export interface Ledger {
  open(opening: Opening): Promise<OpenAnswer>;
  claim(claiming: Claiming): Promise<ClaimAnswer>;
  record(recording: Recording): Promise<RecordAnswer>;
  /** Moves only the due time, while the operation is still at that revision. */
  postpone(operation: Operation, dueAt: Instant): Promise<void>;
  due(query: DueQuery): Promise<Read<readonly Operation[]>>;
  read(tenantId: TenantId, id: OperationId): Promise<Read<Operation> | undefined>;
  list(tenantId: TenantId, query: ListQuery): Promise<readonly Operation[]>;
  events(tenantId: TenantId, id: OperationId): Promise<readonly StoredEvent[]>;
  receipt(tenantId: TenantId, id: OperationId): Promise<string | undefined>;
  /** Changes after `seq`, in an order that never shows a later one before an earlier one was visible. */
  changes(
    tenantId: TenantId,
    afterSeq: number | "now",
    max: number,
  ): Promise<{ readonly seq: number; readonly changes: readonly Change[] }>;
  authority(tenantId: TenantId): Promise<Authority>;
  halt(tenantId: TenantId, halt: Omit<Halt, "at">): Promise<Halt>;
  lift(tenantId: TenantId, haltId: string, actor: string): Promise<boolean>;
  /** Keeps what a probe measured, and raises the epoch in the same commit. */
  keepProbe(tenantId: TenantId, probe: Probe, actor: string): Promise<void>;
  raiseEpoch(tenantId: TenantId, why: string, actor: string): Promise<number>;
  /** Makes the tenant known and keeps the definitions that its operations pin. Raises the epoch when they differ from the last. */
  enroll(tenantId: TenantId, definitions: readonly Definition[], more?: Enrolment): Promise<Uint8Array>;
  definition(tenantId: TenantId, digest: string): Promise<Definition | undefined>;
}

/** What else a tenant's permissions were decided under: a change of it raises the epoch. */
export interface Enrolment {
  /** Names the policy and the providers' settings by content. */
  readonly rules: string;
  /** For a tenant without one: keys its look-alike digests from now on. At least 128 random bits. */
  readonly lookalikeKey: Uint8Array;
}

/** A tool with its contract, kept by content: an operation is executed and reconciled under the one it pins. */
export interface Definition {
  readonly digest: string;
  readonly tool: Tool;
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

/** Evaluates policy for one principal at a time. An error is a deny; it never throws. */
export interface PolicyEngine {
  readonly version: string;
  opinions(question: PolicyQuestion): readonly Opinion[];
}
interface PolicyQuestion {
  readonly session: Session;
  readonly tool: Tool;
  readonly resource: Action["resource"];
  readonly arguments: JsonObject;
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
