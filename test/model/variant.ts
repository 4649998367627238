import type { Contract } from "../../src/core/contract.ts";
import type { Progress } from "../../src/core/operation.ts";
import { REAL, type Rules } from "./rules.ts";

/** One mistake: what is done instead, where it shows, and what it breaks first. */
export interface Variant {
  readonly name: string;
  readonly where: string;
  readonly breaks: string;
  readonly rules: Partial<Rules>;
}

/** The real rules, asked about a contract that says something else than the provider keeps. */
export function believing(change: (contract: Contract) => Contract): Partial<Rules> {
  return {
    next: (contract, progress, standing, clock) => REAL.next(change(contract), progress, standing, clock),
    judgeAbsence: (progress, finding, contract) => REAL.judgeAbsence(progress, finding, change(contract)),
    identityUsable: (progress, contract, clock) => REAL.identityUsable(progress, change(contract), clock),
    maySend: (progress, sending, contract, clock, since) =>
      REAL.maySend(progress, sending, change(contract), clock, since),
    gate: (progress, sending, contract, clock, since) =>
      REAL.maySend(progress, sending, change(contract), clock, since),
  };
}

export function windowed(contract: Contract, forMs: number | null): Contract {
  const { identity } = contract;
  return identity.kind === "none"
    ? contract
    : { ...contract, identity: { ...identity, window: { ...identity.window, forMs } } };
}

export function windowOf({ identity }: Contract): number | null {
  return identity.kind === "none" ? null : identity.window.forMs;
}

/** As if neither the margin nor the time until a request arrives had to be left. */
export function nominal(contract: Contract): Contract {
  const { identity, maxPauseMs, requestLifeMs } = contract;
  if (identity.kind === "none" || identity.window.forMs === null) return contract;
  return windowed(contract, identity.window.forMs + identity.window.marginMs + maxPauseMs + requestLifeMs);
}

export function meaning(contract: Contract, duplicateMeans: "effect"): Contract {
  return contract.identity.kind === "none"
    ? contract
    : { ...contract, identity: { ...contract.identity, duplicateMeans } };
}

export function conditioned(
  contract: Contract,
  change: { atomic: "probed" } | { versions: "never_return" },
): Contract {
  return contract.precondition.kind === "none"
    ? contract
    : { ...contract, precondition: { ...contract.precondition, ...change } };
}

export function lookupsSay(
  contract: Contract,
  change: { lagMs: number } | { strength: "authoritative" },
): Contract {
  return { ...contract, lookup: contract.lookup.map((lookup) => ({ ...lookup, ...change })) };
}

/** Only the latest attempt before this one, as if it were the first. */
export function latest<P extends Pick<Progress, "attempts">>(progress: P, beforeN: number): P {
  return { ...progress, attempts: progress.attempts.filter((attempt) => attempt.n < beforeN).slice(-1) };
}

/** Classes that several mistakes are shown with. */
export const AUTHORITY = "authority that changes twice";
export const KEY = "key that executes again after its window";
export const FIRST = "key whose window opens with the first request, three sends";
export const LOOKUP = "authoritative lookup only";
export const ATOMIC = "version compare-and-set, atomic";
export const NOTHING = "nothing";
