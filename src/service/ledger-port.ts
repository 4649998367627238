import type { Outcome } from "../core/attempt.ts";
import type { EventDraft, StoredEvent } from "../core/event.ts";
import type { Halt } from "../core/halt.ts";
import type { ClaimId, Instant, OperationId, TenantId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { Draw } from "../core/limits.ts";
import type { NewOperation, Operation, Progress, State } from "../core/operation.ts";
import type { Decision } from "../core/policy.ts";
import type { Probe } from "../core/probe.ts";
import type { Tool } from "../core/tool.ts";
import type { Delegations } from "./delegation-port.ts";

/** What the tenant's authority is now: the epoch, and everything that was decided under it. */
export interface Authority {
  readonly epoch: number;
  /** Names the configuration in force by content: tools, contracts, rules. */
  readonly offered: string;
  readonly halts: readonly Halt[];
  /** The last probe of each tool definition under each provider's settings. */
  readonly probes: readonly Probe[];
  /** The policy that stands: the number of its activation and its content's digest; "" where none does. */
  readonly policyVersion: string;
}

/** A value with the database's clock at the moment it was read. */
export interface Read<T> {
  readonly value: T;
  readonly clock: Instant;
}

/** An effect that lives in the ledger's own database: it commits together with the claim and the receipt. */
export interface LocalEffect {
  /** A named statement; values are parameters, never text. */
  readonly perform: Statement;
  /** Asked inside the same transaction when `perform` touched nothing. */
  readonly read?: Statement;
  /** More touched rows than this is a mistake in the tool: the transaction ends without an effect. */
  readonly rowsMax: number;
  /** What the answer means. */
  readonly judge: (performed: Answered, found: Answered | undefined) => Outcome;
  /** What a database error means: it was rolled back, so it is definite. */
  readonly judgeError: (sqlState: string | undefined, message: string) => Outcome;
}
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}
export interface Answered {
  readonly rowCount: number;
  readonly rows: readonly JsonObject[];
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
  /** Reserved in the same commit, all or nothing: without room there is no claim. Absent where nothing limits it. */
  readonly draws?: readonly Draw[];
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
  /** Present when it waits for people: more of this client do not wait at once. */
  readonly askingMax?: number;
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
  | { readonly kind: "not_settled" | "already_compensated" | "too_many_waiting" }
  | LimitReached
  | { readonly kind: "stale_authority"; readonly epoch: number };

/** `retryAt`: when there is room again; absent when time alone makes none. */
export interface LimitReached {
  readonly kind: "limit_reached";
  readonly limit: string;
  readonly clock: Instant;
  readonly retryAt?: Instant;
}

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
  | LimitReached
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

export interface Intent {
  readonly proposalDigest: string;
  readonly operation?: Operation;
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
  readonly delegations: Delegations;
  open(opening: Opening): Promise<OpenAnswer>;
  claim(claiming: Claiming): Promise<ClaimAnswer>;
  record(recording: Recording): Promise<RecordAnswer>;
  /** Moves only the due time, while the operation is still at that revision. */
  postpone(operation: Operation, dueAt: Instant): Promise<void>;
  due(query: DueQuery): Promise<Read<readonly Operation[]>>;
  read(tenantId: TenantId, id: OperationId): Promise<Read<Operation> | undefined>;
  /** What an intent key was sent with; without an operation when its details were pruned. */
  intent(tenantId: TenantId, principalId: string, key: string): Promise<Intent | undefined>;
  list(tenantId: TenantId, query: ListQuery): Promise<readonly Operation[]>;
  events(tenantId: TenantId, id: OperationId): Promise<readonly StoredEvent[]>;
  receipt(tenantId: TenantId, id: OperationId): Promise<string | undefined>;
  /** Forgets rows that nobody needs any more, a bounded amount; true while there may be more. */
  tidy(): Promise<boolean>;
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
  enroll(tenantId: TenantId, definitions: readonly Definition[], more?: Enrolment): Promise<Enrolled>;
  definition(tenantId: TenantId, digest: string): Promise<Definition | undefined>;
  /** What was put in force last. */
  inForce(tenantId: TenantId): Promise<InForce>;
}

/** What a tenant is offered, by name and content. */
export interface InForce {
  /** Names all of it; "" where nothing ever was. */
  readonly offered: string;
  readonly tools: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string>>;
}

/** A tenant as it stands: the key of its look-alike digests, the name of what was to be in force, and of what is. */
export interface Enrolled {
  readonly lookalikeKey: Uint8Array;
  readonly offered: string;
  readonly standing: string;
}

/** What else a tenant's permissions were decided under: a change of it raises the epoch. */
export interface Enrolment {
  /** Names the policy and the providers' settings by content. */
  readonly rules: string;
  /** For a tenant without one: keys its look-alike digests from now on. At least 128 random bits. */
  readonly lookalikeKey: Uint8Array;
  /** The digest of each provider's settings, for who compares. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Only where this is in force: "" is for the first time, and absent whatever is. */
  readonly expects?: string;
  /** Default `configuration`. */
  readonly actor?: string;
}

/** A tool with its contract, kept by content: an operation is executed and reconciled under the one it pins. */
export interface Definition {
  readonly digest: string;
  readonly tool: Tool;
}
