import assert from "node:assert/strict";
import { digestHolds, thawAction } from "../core/action.ts";
import type { Outcome } from "../core/attempt.ts";
import type { Contract } from "../core/contract.ts";
import type { Instant } from "../core/ids.ts";
import { type Operation, settled } from "../core/operation.ts";
import { Problem } from "../core/problem.ts";
import { maySend } from "../core/sending.ts";
import type { LocalWork } from "./ledger-port.ts";
import type { Errand, OfferedTool, Ports } from "./ports.ts";
import { recordingOf, workerActor } from "./settle.ts";

/** A claim that is ours, with what the gate needs to know about time. */
export interface Claimed {
  readonly operation: Operation;
  /** The database's clock that the claim returned. */
  readonly clock: Instant;
  /** Taken before the claim was sent. */
  readonly started: { readonly monotonicMs: number; readonly wallMs: number };
  readonly offered: OfferedTool;
}

/** A suspended machine stops its monotonic clock, a corrected one moves its wall clock: the larger is never too small. */
function sinceMs(ports: Pick<Ports, "clock">, started: Claimed["started"]): number {
  const monotonicMs = ports.clock.monotonicMs() - started.monotonicMs;
  return Math.ceil(Math.max(monotonicMs, ports.clock.wallMs() - started.wallMs));
}

/** How an effect in our own database folds: pure, called inside the transaction that performed it. */
export function settleLocal(
  ports: Pick<Ports, "signer" | "entropy" | "log" | "worker">,
  contract: Contract,
): LocalWork["settle"] {
  return (claimed, outcome, clock) => {
    const claim = claimed.attempts.at(-1);
    assert(claim !== undefined, "an effect is performed under a claim");
    const happening = { type: "learned", claimId: claim.claimId, outcome, at: clock } as const;
    return recordingOf(ports, claimed, [{ happening, actor: workerActor(ports) }], { contract, clock });
  };
}

/** Sends one claimed attempt and records what it learned. Nobody's disconnect stops this any more. */
export async function performClaimed(ports: Ports, claimed: Claimed): Promise<Operation> {
  const { operation, offered } = claimed;
  const claim = operation.attempts.at(-1);
  assert(claim !== undefined, "a claimed operation has an attempt");
  const outcome = await attempt(ports, claimed);
  ports.log.info("attempted", {
    tenant: operation.tenantId,
    operation: operation.id,
    attempt: claim.n,
    outcome: outcome.kind,
  });
  return recordOutcome(
    ports,
    operation,
    claim.claimId,
    outcome,
    offered.tool.contract,
    claimed.clock + sinceMs(ports, claimed.started),
  );
}

async function attempt(ports: Ports, claimed: Claimed): Promise<Outcome> {
  const { operation, offered } = claimed;
  if (!digestHolds(operation.action, operation.digest)) {
    ports.log.error("invariant", {
      tenant: operation.tenantId,
      operation: operation.id,
      what: "the stored action does not hash to its digest",
    });
    return { kind: "refused", reason: "invalid", detail: "the stored action does not hash to its digest" };
  }
  try {
    const signal = AbortSignal.timeout(requestEndsInMs(ports, claimed));
    return await offered.connector.perform(errandOf(operation, offered, signal, () => gate(ports, claimed)));
  } catch (error) {
    // A connector answers for what its provider did. If it throws it is broken, and broken says nothing about the effect.
    ports.log.error("connector", {
      tenant: operation.tenantId,
      operation: operation.id,
      what: String(error),
    });
    return { kind: "lost", cause: "the connector stopped unexpectedly" };
  }
}

/** A request that left at the last permitted moment ends at its life: seen from the start of the claim, not from now. */
function requestEndsInMs(ports: Ports, { offered, started }: Claimed): number {
  const { requestLifeMs, maxPauseMs } = offered.tool.contract;
  return Math.max(0, Math.ceil(requestLifeMs + maxPauseMs - sinceMs(ports, started)));
}

/** The send gate: asked immediately before the bytes leave. */
function gate(ports: Ports, claimed: Claimed): boolean {
  const { operation, offered } = claimed;
  const claim = operation.attempts.at(-1);
  assert(claim !== undefined && operation.authorization !== undefined, "a claim stands under a permission");
  const since = sinceMs(ports, claimed.started);
  const sending = { n: claim.n, leaseUntil: claim.leaseUntil, expiresAt: operation.authorization.expiresAt };
  const verdict = maySend(operation, sending, offered.tool.contract, claimed.clock + since, since);
  if (!verdict.open)
    ports.log.warn("gate", {
      tenant: operation.tenantId,
      operation: operation.id,
      attempt: claim.n,
      why: verdict.why,
    });
  return verdict.open;
}

/** What a connector is told. The action is a copy made from the stored bytes. */
export function errandOf(
  operation: Operation,
  offered: OfferedTool,
  signal: AbortSignal,
  allows: () => boolean,
): Errand {
  const claim = operation.attempts.at(-1);
  return {
    action: thawAction(operation.action),
    digest: operation.digest,
    contract: offered.tool.contract,
    tool: offered.tool,
    attempt: claim?.n ?? 0,
    authorizedAt: operation.authorization?.authorizedAt ?? operation.createdAt,
    firstSentAt: operation.attempts[0]?.claimedAt ?? operation.createdAt,
    signal,
    gate: allows,
  };
}

const RECORDS_MAX = 40;

/** Writes what an attempt learned on that attempt, over whatever happened meanwhile. Evidence is worth many tries. */
export async function recordOutcome(
  ports: Ports,
  operation: Operation,
  claimId: string,
  outcome: Outcome,
  contract: Contract,
  at: Instant,
): Promise<Operation> {
  let current = operation;
  for (let tries = 1; ; tries++) {
    const happening = { type: "learned", claimId, outcome, at } as const;
    const recording = recordingOf(ports, current, [{ happening, actor: workerActor(ports) }], {
      contract,
      clock: at,
    });
    try {
      const answer = await ports.ledger.record(recording);
      if (answer.kind === "recorded") return answer.operation;
    } catch (error) {
      // While the ledger is away nothing else can move the operation either; the lease and the reconciler stand behind us.
      if (tries >= RECORDS_MAX || !(error instanceof Problem)) throw error;
      await ports.clock.sleep(Math.min(2000, 50 * 2 ** Math.min(tries, 6)));
    }
    assert(tries < RECORDS_MAX, "a recording finds its revision in bounded time");
    current = await readAgain(ports, current);
    if (knows(current, claimId, outcome)) return current;
  }
}

async function readAgain(ports: Ports, operation: Operation): Promise<Operation> {
  try {
    return (await ports.ledger.read(operation.tenantId, operation.id))?.value ?? operation;
  } catch (error) {
    if (error instanceof Problem) return operation;
    throw error;
  }
}

/** Somebody already wrote this very knowledge: an answer to our commit was lost, and the commit was not. */
function knows(operation: Operation, claimId: string, outcome: Outcome): boolean {
  const known = operation.attempts.find((attempt) => attempt.claimId === claimId)?.outcome;
  return (
    known !== undefined && known.kind === outcome.kind && (settled(operation) || known.kind !== "confirmed")
  );
}
