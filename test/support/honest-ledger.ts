import { expect, onTestFinished } from "vitest";
import type { Operation } from "../../src/core/operation.ts";
import type { Ledger } from "../../src/service/ledger-port.ts";

/**
 * The ledger answers from what it sent, without reading it back. Here each answer is compared with the row of the same revision; a
 * difference fails the test at its end.
 */
export function honestLedger(ledger: Ledger): Ledger {
  const told: { readonly said: Operation; readonly stored: Operation }[] = [];
  onTestFinished(() => {
    for (const { said, stored } of told) expect(said, "an answer of the ledger").toEqual(stored);
  });
  const compare = async <T extends object>(answer: T): Promise<T> => {
    const said = "operation" in answer ? (answer.operation as Operation) : undefined; // Every answer that has one.
    const stored = said && (await ledger.read(said.tenantId, said.id))?.value;
    // A due time moves without a new revision.
    if (said !== undefined && stored?.revision === said.revision)
      told.push({ said: { ...said, dueAt: 0 }, stored: { ...stored, dueAt: 0 } });
    return answer;
  };
  return {
    ...ledger,
    open: async (opening) => compare(await ledger.open(opening)),
    claim: async (claiming) => compare(await ledger.claim(claiming)),
    record: async (recording) => compare(await ledger.record(recording)),
  };
}
