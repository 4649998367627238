import type { Outcome } from "../../src/core/attempt.ts";
import type { ClaimId, Instant } from "../../src/core/ids.ts";
import { type Finding, NO_INQUIRY } from "../../src/core/inquiry.ts";
import type { Progress } from "../../src/core/operation.ts";
import type { ContractClass } from "./contract-class.ts";

/** What a worker is doing. Where it crashes it is idle again, and knows nothing. */
export type Doing =
  | "idle"
  /** Decided to claim; the statement is on its way. */
  | "claiming"
  /** The claim's answer was lost. */
  | "unsure"
  | "claimed"
  /** The gate opened; the bytes have not left. */
  | "ready"
  | "waiting"
  /** Has an outcome that the ledger may not know. */
  | "knows"
  | "asking"
  /** Has a finding that the ledger may not know. */
  | "told"
  | "polling"
  | "barring"
  /** Has the barrier's answer. */
  | "barred"
  /** Of a broken variant: recorded an absence, and will reject in a second commit. */
  | "closing";

export interface Worker {
  readonly doing: Doing;
  /** The attempt; while claiming 1 for a repeat; while asking the lookup's place in the contract; when barred 1 for raised. */
  readonly n: number;
  /** When it began what it does: the claim, the sending, the question. */
  readonly at: Instant;
  /** The epoch under which it decided to claim. */
  readonly epoch: number;
  readonly outcome?: Outcome;
  readonly finding?: Finding;
}

/** A request on its way, or (`begun`) in the provider's hands. */
export interface Message {
  readonly n: number;
  readonly sentAt: Instant;
  readonly begun: boolean;
  /** The version that it expects: part of its content. */
  readonly version: number;
}

/** The provider as it truly is. -1 means never. */
export interface Truth {
  readonly effects: number;
  readonly effectAt: Instant;
  /** Whose content stands under our identity. */
  readonly content: "none" | "ours" | "foreign";
  /** Of the resource: 0 is what the operation expects, 1 what it leaves, 2 what the other writer leaves. */
  readonly version: number;
  /** Since when it knows our identity. */
  readonly knownAt: Instant;
  readonly barrierAt: Instant;
}

export type Authority = "allow" | "deny" | "review" | "halt";

export interface World {
  readonly clock: Instant;
  readonly ledger: Progress;
  readonly epoch: number;
  readonly authority: Authority;
  readonly workers: readonly [Worker, Worker];
  readonly net: readonly Message[];
  readonly truth: Truth;
  /** What may still go wrong, counted down. */
  readonly changesLeft: number;
  readonly otherWritesLeft: number;
  readonly foreignLeft: number;
  /** What nobody in the model can see: attempts whose bytes left, and attempts claimed without authority (bits by number). */
  readonly sent: number;
  readonly unlawful: number;
  /** An invariant that this very step broke. */
  readonly broken?: string;
}

export const IDLE: Worker = { doing: "idle", n: 0, at: 0, epoch: 0 };
export const DIGEST = "sha-256:the-action";
/** Far from zero, so that "never" is long ago in the core's own arithmetic. */
export const START: Instant = 1000;

/** A random claim id in the real ledger; here its attempt's number makes it unique. */
export function claimIdOf(n: number): ClaimId {
  return `claim-${n}` as ClaimId; // The brand only says that it names a claim.
}

/** One operation, just authorized under epoch 0. */
export function firstWorld(cls: ContractClass): World {
  const authorization = {
    digest: DIGEST,
    policyVersion: "1",
    epoch: 0,
    authorizedAt: START,
    expiresAt: START + cls.permissionFor,
    roles: [],
    policies: [],
    obligations: [],
    approvals: [],
  };
  return {
    clock: START,
    ledger: { state: "authorized", attempts: [], inquiry: NO_INQUIRY, authorization },
    epoch: 0,
    authority: "allow",
    workers: [IDLE, IDLE],
    net: [],
    truth: { effects: 0, effectAt: -1, content: "none", version: 0, knownAt: -1, barrierAt: -1 },
    changesLeft: cls.faults.changes ?? 0,
    otherWritesLeft: cls.faults.otherWrites ?? 0,
    foreignLeft: cls.faults.foreign === true ? 1 : 0,
    sent: 0,
    unlawful: 0,
  };
}

export function withWorker(world: World, who: number, worker: Worker): World {
  const [a, b] = world.workers;
  return { ...world, workers: who === 0 ? [worker, b] : [a, worker] };
}

/** How long after a request's arrival its effect may come: what the contract leaves beyond pause and request life. */
export function processing({ contract }: ContractClass): number {
  if (contract.settle.kind === "unbounded") return Number.POSITIVE_INFINITY;
  return contract.settle.forMs - contract.maxPauseMs - contract.requestLifeMs;
}

/** Has the provider forgotten our identity? As early as its window and its margin of error allow. */
export function forgotten({ contract }: ContractClass, truth: Truth, clock: Instant): boolean {
  if (truth.knownAt < 0) return true;
  if (contract.identity.kind === "none" || contract.identity.window.forMs === null) return false;
  const { forMs, marginMs } = contract.identity.window;
  return clock >= truth.knownAt + forMs - marginMs;
}
