import type { Action } from "../core/action.ts";
import type { Instant, TenantId } from "../core/ids.ts";
import type { Opinion, PolicyFacts } from "../core/policy.ts";
import type { Session } from "../core/session.ts";
import type { Tool } from "../core/tool.ts";

/** A whole set of rules, as its files say it. */
export interface PolicyText {
  readonly files: readonly PolicyFile[];
}
export interface PolicyFile {
  readonly name: string;
  readonly text: string;
}

/** One rule, for people who compare versions. */
interface PolicyRule {
  readonly id: string;
  readonly effect: "permit" | "forbid";
  readonly text: string;
  /** `file:line`. */
  readonly place: string;
}

/** An activation. Its number only grows: going back is another activation of older text. */
export interface PolicyVersion {
  /** `NUMBER.DIGEST`, as decisions name it. */
  readonly version: string;
  readonly number: number;
  readonly digest: string;
  readonly actor: string;
  readonly reason: string;
  readonly at: Instant;
}

/** A decision that was made with its operation's opening, and what it was made from. */
export interface RecordedDecision {
  readonly operationId: string;
  readonly at: Instant;
  readonly action: Action;
  readonly toolDigest: string;
  readonly roles: readonly string[];
  readonly policyVersion: string;
  readonly facts: PolicyFacts;
}

export type ActivationAnswer =
  | { readonly kind: "activated"; readonly version: PolicyVersion }
  /** Another version stands than the one that was expected. */
  | { readonly kind: "moved"; readonly standing: string }
  | { readonly kind: "unknown_policy" };

/** Policies in the ledger: text by content that never changes, and which of them stands. An activation raises the epoch in its own commit. */
export interface PolicyStore {
  /** Twice is once. */
  keep(tenantId: TenantId, digest: string, policy: PolicyText, actor: string): Promise<void>;
  read(tenantId: TenantId, digest: string): Promise<PolicyText | undefined>;
  /** `expects`: the version that stands before; "" where none does. */
  activate(tenantId: TenantId, asked: Activation): Promise<ActivationAnswer>;
  /** Newest first. */
  activations(tenantId: TenantId, max: number): Promise<readonly PolicyVersion[]>;
  /** Newest first. */
  recorded(tenantId: TenantId, max: number): Promise<readonly RecordedDecision[]>;
  /** Denials and version conflicts of operations on a resource since `forMs` ago. */
  recent(
    tenantId: TenantId,
    resource: string,
    forMs: number,
  ): Promise<{ readonly denials: number; readonly conflicts: number }>;
}

export interface Activation {
  readonly digest: string;
  readonly expects: string;
  readonly actor: string;
  readonly reason: string;
}

/** What can be said of policies before one of them stands. */
export interface PolicyBench {
  digest(policy: PolicyText): string;
  /** Every mistake as `file:line: the sentence that mends it`; none: it may be activated. */
  check(policy: PolicyText): readonly string[];
  /** Throws `invalid` where it does not even parse. */
  rules(policy: PolicyText): readonly PolicyRule[];
  /** What these rules look up about a tool; undefined where they do not fit it. */
  looksUp(
    policy: PolicyText,
    tool: Tool,
  ): { readonly current: boolean; readonly recent: boolean } | undefined;
  /** What policy would say, from the facts of then and from nothing that is read now. */
  judge(policy: PolicyText, question: PastQuestion): readonly Opinion[];
}

export interface PastQuestion {
  readonly session: Session;
  readonly tool: Tool;
  readonly action: Action;
  readonly facts: PolicyFacts;
}

/** All that managing policy takes. */
export interface Policies {
  readonly store: PolicyStore;
  readonly bench: PolicyBench;
}

/** The digest that a version names. */
export function digestOfVersion(version: string): string {
  return version.slice(version.indexOf(".") + 1);
}
