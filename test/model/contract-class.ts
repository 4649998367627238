import type { Contract, Identity, Lookup, Match, Window } from "../../src/core/contract.ts";
import type { Message } from "../../src/core/message.ts";

/** What the provider of one class really does. It never does more than its contract allows, and everything that it allows. */
export interface Provider {
  /** What a request is answered that comes under an identity which the provider already knows. */
  readonly known: "the first answer again" | "duplicate";
  /** What a request is answered while it still works on another under the same identity. */
  readonly busy?: "in_flight" | "duplicate";
  /** Between a request's arrival and its effect. `checks`: the version is compared first and written later. */
  readonly work: "at once" | "checks" | "locks" | "marks" | "accepts";
  /** It may say "not now" and "no" to any request. */
  readonly says: readonly ("not now" | "no")[];
}

/** What may go wrong, besides crashes, pauses, lost and late messages, which may always happen. */
export interface Faults {
  /** Commits may lose their answer, or never arrive. */
  readonly commits?: boolean;
  readonly noConnection?: boolean;
  readonly unclear?: boolean;
  /** A lookup's question may take long to be read; otherwise only its answer may take long. */
  readonly slowLookups?: boolean;
  /** Somebody may ask for a lookup before it is due. */
  readonly earlyLookups?: boolean;
  /** A barrier may be refused for another reason than our effect. */
  readonly barrierRefused?: boolean;
  /** Times that somebody else changes the resource, or puts other content under our identity. */
  readonly otherWrites?: number;
  readonly foreign?: boolean;
  /** What may happen to the tenant's authority, and how often. */
  readonly authority?: readonly ("deny" | "review" | "halt" | "allow")[];
  readonly changes?: number;
}

export interface ContractClass {
  readonly name: string;
  readonly contract: Contract;
  readonly provider: Provider;
  readonly faults: Faults;
  readonly permissionFor: number;
  /** Steps that must have been taken somewhere, or the search was blind. */
  readonly witnesses: readonly string[];
}

export const REQUEST: Message = { method: "GET", url: "{{base}}" };
export const ANY: Match = {};
export const FOR_EVER: Window = { opens: "first_effect", forMs: null, marginMs: 0, after: "refuses" };

/** One millisecond of the contract is one tick of the model. */
export const NOTHING: Contract = {
  contract: "model/v1",
  transport: "http",
  requestLifeMs: 1,
  maxPauseMs: 1,
  leaseMs: 2,
  attemptsMax: 2,
  backoff: { firstMs: 1, maxMs: 1 },
  settle: { kind: "bounded", forMs: 2 },
  precondition: { kind: "none" },
  identity: { kind: "none" },
  lookup: [],
  barrier: { kind: "none" },
  outcomes: [],
  unclearMax: 1,
};

export function lookup(
  strength: Lookup["strength"],
  lagMs: number,
  name = "by_operation",
): readonly Lookup[] {
  return [{ name, strength, lagMs, horizonMs: 3, request: REQUEST, found: ANY, absent: ANY }];
}

export function key(window: Window): Identity {
  return { kind: "key", window, duplicateMeans: "effect" };
}

export const SIMPLE: Provider = { known: "the first answer again", work: "at once", says: [] };
export const DUPLICATE: Provider = { ...SIMPLE, known: "duplicate" };
export const REVOKE: Faults = { authority: ["deny"], changes: 1 };
export const ALWAYS = ["late", "crash", "gate_shut", "lease_ended", "time_out", "record"];
export const REPEATS = [...ALWAYS, "repeat_start"];

/** Whether some outcome can only be ruled by a person: where a lookup that proves absence always answers, and sending settles, none needs one. */
export function needsPerson({ contract, faults }: ContractClass): boolean {
  const proves =
    contract.lookup.some((lookup) => lookup.strength === "authoritative") &&
    contract.settle.kind === "bounded";
  return !proves || faults.unclear === true;
}
