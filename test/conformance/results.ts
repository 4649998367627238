import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Case, Ending } from "./subject.ts";

/** One case on one server: what the contract claims, and what was seen. */
export interface Row {
  readonly server: string;
  readonly subject: string;
  readonly case: Case;
  readonly claimed: Ending;
  readonly seen: {
    readonly state: string;
    readonly reason?: string;
    readonly effects: number;
    readonly person: boolean;
    readonly lookups: number;
    readonly attempts: number;
  };
  readonly ms: number;
}

/** Leaves a row for whoever makes the table, in the folder that they name. */
export function keepRow(row: Row): void {
  const folder = process.env.WRIT_CONFORMANCE_RESULTS;
  if (folder === undefined || folder === "") return;
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(row)}\n`);
}
