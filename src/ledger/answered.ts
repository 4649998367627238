import { Problem } from "../core/problem.ts";
import { CommitUnknown, RolledBack } from "../database/fault.ts";

/** A database that does not answer is a refusal that callers may hear; what else went wrong is not. */
export async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof CommitUnknown || (error instanceof RolledBack && error.retryable))) throw error;
    const problem = new Problem("ledger_unavailable", "the ledger did not answer", { retryAfterMs: 1000 });
    problem.cause = error;
    throw problem;
  }
}
