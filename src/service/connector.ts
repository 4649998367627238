import type { Action } from "../core/action.ts";
import type { Evidence, Outcome } from "../core/attempt.ts";
import type { Contract } from "../core/contract.ts";
import type { Instant } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Current } from "../core/policy.ts";
import type { Tool } from "../core/tool.ts";
import type { LocalEffect } from "./ledger-port.ts";

/** One attempt as a connector sees it. The action is a copy; the connector sees credentials that the agent never sees. */
export interface Errand {
  readonly action: Action;
  readonly digest: string;
  readonly contract: Contract;
  readonly tool: Tool;
  readonly attempt: number;
  readonly authorizedAt: Instant;
  /** The claim of the first attempt, whatever became of it: the same for every attempt. */
  readonly firstSentAt: Instant;
  /** Aborted at requestLife; nothing may leave afterwards. */
  readonly signal: AbortSignal;
  /** Asked immediately before the first byte leaves. False: nothing may be sent, and the outcome is `absent`. */
  readonly gate: () => boolean;
  /** Only of a probe: half of the body leaves, then nothing for so long, then the rest. Connectors that cannot leave it aside. */
  readonly pauseMs?: number;
}

/** What a resource looks like now, or why no version of it can be trusted. */
export type ResourceRead =
  | { readonly kind: "read"; readonly version: string; readonly value: Json | null }
  | { readonly kind: "absent" }
  | { readonly kind: "unclear"; readonly why: string };

export interface ReadQuestion {
  readonly tenantId: string;
  readonly resourceId: string;
  readonly arguments: JsonObject;
  readonly contract: Contract;
  readonly signal: AbortSignal;
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
  /** The resource and its version by the contract's `read`; for a proposal, before there is an operation. */
  read?(question: ReadQuestion): Promise<ResourceRead>;
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
