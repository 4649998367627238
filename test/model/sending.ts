import type { Attempt } from "../../src/core/attempt.ts";
import { settled } from "../../src/core/operation.ts";
import type { ContractClass } from "./contract-class.ts";
import { doubted, type Lesson, lawful, write } from "./rules.ts";
import type { Scene } from "./scene.ts";
import type { What } from "./words.ts";
import { claimIdOf, IDLE, type Worker, type World, withWorker } from "./world.ts";

/** The conditional statement: over the revision and under the epoch that were read, before the permission ends by the ledger's clock. */
export function claim({ world, cls, rules, emit }: Scene, who: number, worker: Worker): void {
  const { ledger, clock, epoch } = world;
  if (cls.faults.commits === true)
    emit(withWorker(world, who, { ...worker, doing: "unsure", n: 0 }), "claim_never", who, 0);
  const n = ledger.attempts.length + 1;
  const attempt: Attempt = {
    n,
    claimId: claimIdOf(n),
    worker: "worker",
    claimedAt: clock,
    leaseUntil: clock + cls.contract.leaseMs,
  };
  const holds = rules.epochHolds(worker.epoch, epoch) && clock < (ledger.authorization?.expiresAt ?? 0);
  const after = holds ? write(world, rules, { type: "claimed", attempt, repeat: worker.n === 1 }) : undefined;
  if (after === undefined) {
    emit(withWorker(world, who, IDLE), "claim_beaten", who, 0);
    return;
  }
  const claimed = { ...after, unlawful: lawful(world) ? world.unlawful : world.unlawful | (1 << n) };
  // The statement may have been sent long after the decision, or have waited long for its commit.
  const mine: Worker = { ...IDLE, doing: "claimed", n, at: clock };
  emit(withWorker(claimed, who, mine), "claim", who, n, n > 1 ? "second_claim" : undefined);
  if (cls.faults.commits !== true) return;
  if (worker.at < clock) emit(withWorker(claimed, who, { ...mine, at: worker.at }), "claim_waits", who, n);
  emit(withWorker(claimed, who, { ...mine, doing: "unsure" }), "claim_unheard", who, n);
}

/** A claim with a lost answer is read again. A claim that is not mine was not made. */
export function reread({ world, rules, emit }: Scene, who: number, worker: Worker): void {
  const mine = rules.mine(world.ledger, worker.n === 0 ? "a claim that was never made" : claimIdOf(worker.n));
  if (mine === undefined) emit(withWorker(world, who, IDLE), "reread_not_mine", who, 0);
  else
    emit(
      withWorker(world, who, { ...IDLE, doing: "claimed", n: mine, at: worker.at }),
      "reread_mine",
      who,
      mine,
    );
}

/** The send gate: the claim's clock and what has passed since the claim was begun, which is never too little. */
export function gate(scene: Scene, who: number, worker: Worker): void {
  const { world, cls, rules, emit } = scene;
  const attempt = world.ledger.attempts.find((one) => one.n === worker.n);
  if (attempt === undefined) return;
  const sinceMs = world.clock - worker.at;
  const sending = {
    n: worker.n,
    leaseUntil: attempt.leaseUntil,
    expiresAt: world.ledger.authorization?.expiresAt ?? 0,
  };
  const verdict = rules.gate(world.ledger, sending, cls.contract, attempt.claimedAt + sinceMs, sinceMs);
  if (verdict.open) emit(withWorker(world, who, { ...worker, doing: "ready" }), "gate_open", who, worker.n);
  else learns(scene, who, worker.n, "gate_shut", "gate_shut", `gate_shut_${verdict.why}`);
}

/** The bytes leave. Where no identity helps, no earlier attempt may be in doubt (I2). */
export function leave(scene: Scene, who: number, worker: Worker): void {
  const { world, cls, rules, emit } = scene;
  const { n } = worker;
  if (cls.faults.noConnection === true) learns(scene, who, n, "no_connection", "no_connection");
  const message = { n, sentAt: world.clock, begun: false, version: rules.versionOf(n, world) };
  const net = [...world.net, message].sort((a, b) => a.n - b.n);
  const sent = withWorker({ ...world, net, sent: world.sent | (1 << n) }, who, {
    ...IDLE,
    doing: "waiting",
    n,
    at: world.clock,
  });
  const wrong = !recognizes(cls) && (doubted(world, n) || (world.sent & (1 << n)) !== 0);
  emit(wrong ? { ...sent, broken: "I2" } : sent, "leaves", who, n);
}

/** Could the provider, in truth, ever tell a repeat from a second intent? */
function recognizes({ contract: { identity, precondition } }: ContractClass): boolean {
  if (identity.kind !== "same_version") return identity.kind !== "none";
  return (
    precondition.kind !== "none" &&
    precondition.atomic === "probed" &&
    precondition.versions === "never_return"
  );
}

/** Evidence is recorded by anybody, at any time, on its own attempt; twice is once. */
export function record({ world, cls, rules, emit }: Scene, who: number, worker: Worker): void {
  const { n, outcome } = worker;
  if (outcome === undefined) return;
  if (!rules.mayRecord(world.ledger, n, world.clock)) {
    const lost = outcome.kind === "confirmed" && !settled(world.ledger);
    emit(withWorker(lost ? { ...world, broken: "I5" } : world, who, IDLE), "record_dropped", who, n);
    return;
  }
  const after = write(world, rules, { type: "learned", claimId: claimIdOf(n), outcome, at: world.clock });
  if (after === undefined) return;
  const late = settled(world.ledger) ? "record_after_settling" : undefined;
  emit(withWorker(forgets(world, after, n), who, IDLE), "record", who, n, late);
  if (cls.faults.commits === true && after.ledger !== world.ledger)
    emit(forgets(world, after, n), "record_unheard", who, n);
}

/** I5: nothing definite that an attempt has learned is ever replaced. */
function forgets(before: World, after: World, n: number): World {
  const known = before.ledger.attempts.find((attempt) => attempt.n === n)?.outcome;
  const now = after.ledger.attempts.find((attempt) => attempt.n === n)?.outcome;
  return known !== undefined && known.kind !== "lost" && now !== known ? { ...after, broken: "I5" } : after;
}

export function aged({ world, cls, rules }: Scene, { at }: Worker): boolean {
  return world.clock > at + rules.requestLife(cls.contract);
}

/**
 * What a worker learns by itself it records in the same step. If it crashes or lingers before that, the world is one that a crash
 * or a pause before this step also leads to.
 */
export function learns(
  scene: Scene,
  who: number,
  n: number,
  lesson: Lesson,
  what: What,
  witness?: string,
): void {
  const { world, rules, emit } = scene;
  const happening = {
    type: "learned",
    claimId: claimIdOf(n),
    outcome: rules.outcomeOf(lesson),
    at: world.clock,
  } as const;
  const after = rules.mayRecord(world.ledger, n, world.clock) ? write(world, rules, happening) : undefined;
  emit(forgets(world, withWorker(after ?? world, who, IDLE), n), what, who, n, witness);
}
