import type { OperationId } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import { claimAndExecute, type Executed } from "./claim.ts";
import { requireMover, visible } from "./inspect.ts";
import type { Ports } from "./ports.ts";
import { recordingOf } from "./settle.ts";

const TRIES_MAX = 4;

/** Stops an operation before its claim. Afterwards nobody can: throws `not_cancellable` with the state. Twice is once. */
export async function cancel(ports: Ports, session: Session, id: OperationId): Promise<Operation> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { value: operation, clock } = await visible(ports, session, id);
    requireMover(session, operation);
    if (operation.state === "rejected" && operation.reason === "cancelled") return operation;
    const offered = await ports.catalog.pinned(operation.tenantId, operation.toolDigest);
    if ((operation.state !== "proposed" && operation.state !== "authorized") || offered === undefined) {
      throw new Problem(
        "not_cancellable",
        `it is ${operation.state}: it can only be cancelled before it is claimed`,
        { operationId: id },
      );
    }
    const told = {
      happening: { type: "denied", reason: "cancelled" } as const,
      actor: { principal: session.principalId, client: session.clientId },
    };
    const answer = await ports.ledger.record(
      recordingOf(ports, operation, [told], { contract: offered.tool.contract, clock }),
    );
    if (answer.kind === "recorded") return answer.operation;
  }
  throw new Problem("not_cancellable", "it moved while being cancelled; look at it again", {
    operationId: id,
  });
}

/** Runs an operation that was proposed for later. Twice is once: whoever is second sees what the first began. */
export async function executeLater(ports: Ports, session: Session, id: OperationId): Promise<Executed> {
  const { value: operation, clock } = await visible(ports, session, id);
  requireMover(session, operation);
  if (operation.state === "proposed") {
    throw new Problem("not_executable", "it waits for people; it runs when they have decided", {
      operationId: id,
    });
  }
  // One that was answered "not now" waits out its back-off.
  const waits = operation.attempts.length > 0 && (operation.dueAt ?? 0) > clock;
  if (operation.state !== "authorized" || waits) return { operation };
  const executed = await claimAndExecute(ports, operation, clock);
  if (executed.halted !== undefined)
    throw new Problem("halted", executed.halted, { operationId: id, retryAfterMs: 30_000 });
  return executed;
}
