import type { State } from "../../src/core/operation.ts";
import type { Case, Ending } from "./subject.ts";

/** One case on one server: what the contract claims, and what was seen. */
export interface Row {
  readonly server: string;
  readonly subject: string;
  readonly case: Case;
  readonly claimed: Ending;
  readonly seen: Omit<Ending, "state"> & {
    readonly state: State;
    readonly reason?: string;
    readonly lookups: number;
    readonly attempts: number;
  };
  readonly ms: number;
}

declare module "vitest" {
  interface TaskMeta {
    /** What a case of the conformance suite leaves for the table of results. */
    conformance?: Row;
  }
}

export function holds({ claimed, seen }: Row): boolean {
  return claimed.state === seen.state && claimed.effects === seen.effects && claimed.person === seen.person;
}

/** `succeeded, 1 effect` · `unknown, 0 effects, a person`. */
export function inWords({ state, effects, person }: Ending | Row["seen"], reason?: string): string {
  const why = reason === undefined ? "" : ` (${reason})`;
  return `${state}${why}, ${effects} effect${effects === 1 ? "" : "s"}${person ? ", a person" : ""}`;
}
