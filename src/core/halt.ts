import type { Instant } from "./ids.ts";

/** Stops new claims and repeats at once; what is executing may finish. */
export interface Halt {
  readonly id: string;
  /** `tenant` halts everything; the others name one thing. */
  readonly scope: "tenant" | "tool" | "provider" | "principal" | "client" | "delegation";
  readonly name?: string;
  readonly reason: string;
  readonly actor: string;
  readonly at: Instant;
}

export interface HaltSubject {
  readonly tool: string;
  readonly provider: string;
  readonly principalId: string;
  /** Every client of the chain: who may not act may not act through another either. */
  readonly clients: readonly string[];
  readonly delegations: readonly string[];
}

/** The first halt that stops this subject. */
export function haltOf(halts: readonly Halt[], subject: HaltSubject): Halt | undefined {
  return halts.find((halt) => {
    switch (halt.scope) {
      case "tenant":
        return true;
      case "tool":
        return halt.name === subject.tool;
      case "provider":
        return halt.name === subject.provider;
      case "principal":
        return halt.name === subject.principalId;
      case "client":
        return halt.name !== undefined && subject.clients.includes(halt.name);
      case "delegation":
        return halt.name !== undefined && subject.delegations.includes(halt.name);
    }
  });
}
