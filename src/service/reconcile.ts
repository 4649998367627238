import { digestHolds } from "../core/action.ts";
import type { Outcome } from "../core/attempt.ts";
import type { Instant, OperationId } from "../core/ids.ts";
import type { Finding } from "../core/inquiry.ts";
import { type Operation, settled } from "../core/operation.ts";
import { judgeAbsence, next, type Plan, type Standing } from "../core/recovery.ts";
import { identityUsable } from "../core/sending.ts";
import type { Session } from "../core/session.ts";
import { claimAndExecute, type Executed } from "./claim.ts";
import { pinnedNow } from "./decide.ts";
import { errandOf, recordOutcome } from "./execute.ts";
import { requireMover, visible } from "./inspect.ts";
import type { OfferedTool, Ports } from "./ports.ts";
import { recordingOf, type Told, workerActor } from "./settle.ts";
import { sameProvider, standingNow } from "./standing.ts";

const HALTED_AGAIN_MS = 5_000;

/** One operation in one worker's hands: everything that a step needs. */
interface Case {
  readonly ports: Ports;
  readonly operation: Operation;
  readonly offered: OfferedTool;
  readonly clock: Instant;
  /** When the clock was read, on this process's own clocks: a suspended machine stops one of them. */
  readonly readAt: { readonly monotonicMs: number; readonly wallMs: number };
}

function instant(ports: Ports): Case["readAt"] {
  return { monotonicMs: ports.clock.monotonicMs(), wallMs: ports.clock.wallMs() };
}

/** The database's clock now, as far as this process can tell: never behind what it was when read. */
function clockNow(the: Case): Instant {
  const { monotonicMs, wallMs } = the.readAt;
  const clock = the.ports.clock;
  return the.clock + Math.floor(Math.max(0, clock.monotonicMs() - monotonicMs, clock.wallMs() - wallMs));
}

/**
 * Takes an operation that is due one step further: expire it, execute it, ask the provider, repeat under the same identity, or leave it to a
 * person. Every step is a step in the ledger; called twice it does the same once.
 */
export async function takeStep(ports: Ports, operation: Operation, clock: Instant): Promise<Executed> {
  const offered = await pinnedNow(ports, operation);
  if (offered === undefined || settled(operation)) return { operation };
  const the: Case = { ports, operation, offered, clock, readAt: instant(ports) };
  switch (operation.state) {
    case "proposed":
      if (clock < operation.expiresAt) return postponed(the, operation.expiresAt);
      return recorded(the, [{ happening: { type: "denied", reason: "expired" }, actor: workerActor(ports) }]);
    case "authorized":
      if (operation.execute === "later" && operation.attempts.length === 0 && clock < operation.expiresAt)
        return postponed(the, operation.expiresAt);
      return claimAndExecute(ports, operation, clock);
    case "executing":
      return leaseStep(the);
    case "unknown":
      return doubtStep(the, false);
    case "succeeded":
    case "rejected":
      return { operation };
  }
}

/** Looks now, whatever the due time, for somebody who asks. It never begins an execution that is not under way. */
export async function reconcile(ports: Ports, session: Session, id: OperationId): Promise<Executed> {
  const { value: operation, clock } = await visible(ports, session, id);
  requireMover(session, operation, "resolver");
  const offered = await pinnedNow(ports, operation);
  if (offered === undefined) return { operation };
  const the: Case = { ports, operation, offered, clock, readAt: instant(ports) };
  if (operation.state === "executing") return leaseStep(the);
  return operation.state === "unknown" ? doubtStep(the, true) : { operation };
}

async function postponed(the: Case, at: Instant): Promise<Executed> {
  await the.ports.ledger.postpone(the.operation, at);
  return { operation: the.operation };
}

async function leaseStep(the: Case): Promise<Executed> {
  const lease = the.operation.attempts.at(-1)?.leaseUntil ?? 0;
  if (the.clock < lease) return postponed(the, lease);
  return recorded(the, [
    { happening: { type: "lease_ended", at: the.clock }, actor: workerActor(the.ports) },
  ]);
}

const RECORDS_MAX = 8;

/**
 * Whatever somebody else wrote meanwhile wins, and the next look at it starts from there. But what was *found* is not thrown away with the
 * revision that it was read from: it may never be seen again.
 */
async function recorded(
  the: Case,
  told: readonly Told[],
  standing?: Standing,
  dueInMs?: number,
): Promise<Executed> {
  const { ports, offered } = the;
  const lasting = told.every(({ happening }) => isLasting(happening));
  let { operation } = the;
  for (let tries = 1; ; tries++) {
    const clock = clockNow(the);
    const moment = {
      contract: offered.tool.contract,
      clock,
      ...(standing === undefined ? {} : { standing }),
    };
    const recording = recordingOf(ports, operation, told, moment);
    const due = dueInMs === undefined ? {} : { dueAt: clock + dueInMs };
    const answer = await ports.ledger.record({ ...recording, ...due });
    if (answer.kind === "recorded") return { operation: answer.operation };
    operation = (await ports.ledger.read(operation.tenantId, operation.id))?.value ?? operation;
    if (!lasting || tries >= RECORDS_MAX || operation.state === "proposed") return { operation };
  }
}

function isLasting(happening: Told["happening"]): boolean {
  if (happening.type === "barred") return true;
  return (
    happening.type === "found" &&
    (happening.finding.kind === "confirmed" || happening.finding.kind === "conflict")
  );
}

async function doubtStep(the: Case, asked: boolean): Promise<Executed> {
  const { ports, operation, offered, clock } = the;
  const { contract } = offered.tool;
  const standing = await standingNow(ports, operation, offered, clock);
  const strange = stranger(operation, offered);
  if (strange !== undefined) return personStep(the, { do: "person", row: 13, why: strange }, standing);
  const plan = next(contract, operation, standing, clock);
  const first = contract.lookup[0];
  switch (plan.do) {
    case "succeed":
      return recorded(
        the,
        [
          found(the, {
            kind: "confirmed",
            by: { lookup: "duplicate answer" },
            startedAt: clock,
            evidence: plan.evidence,
          }),
        ],
        standing,
      );
    case "look_up":
      if (plan.at > clock && !asked) return postponed(the, plan.at);
      return lookUp(the, plan.lookup, standing);
    case "person":
      // Looking goes on while a person decides.
      if (first !== undefined && (asked || operation.attention !== undefined))
        return lookUp(the, first.name, standing);
      return personStep(the, plan, standing);
    case "bar":
      return bar(the, standing);
    case "poll":
      if (plan.at > clock && !asked) return postponed(the, plan.at);
      return poll(the, standing);
    case "repeat":
      if (plan.at > clock)
        return asked && first !== undefined ? lookUp(the, first.name, standing) : postponed(the, plan.at);
      return claimAndExecute(ports, operation, clock);
    case "authorize":
    case "reject":
      throw new Error(`an operation in doubt has an open attempt, yet row ${plan.row} applies`);
  }
}

/** Why nothing that the provider says could be about this operation any more. */
function stranger(operation: Operation, offered: OfferedTool): string | undefined {
  if (!digestHolds(operation.action, operation.digest))
    return "the stored action does not hash to its digest";
  if (sameProvider(operation, offered)) return undefined;
  return "the provider's settings or credential are not those that it was sent under";
}

function found(the: Case, finding: Finding): Told {
  const { operation, offered, ports } = the;
  const settles = judgeAbsence(operation, finding, offered.tool.contract);
  const repeatable =
    settles === "settled" &&
    identityUsable({ attempts: [], inquiry: operation.inquiry }, offered.tool.contract, the.clock);
  return { happening: { type: "found", finding, settles, repeatable }, actor: workerActor(ports) };
}

async function lookUp(the: Case, lookup: string, standing: Standing): Promise<Executed> {
  const { ports, operation, offered } = the;
  const rule = offered.tool.contract.lookup.find((candidate) => candidate.name === lookup);
  // The clock of the question's start: what happens at the provider afterwards may be missed by its answer.
  const startedAt = clockNow(the);
  const answer = await ask(the, (errand) => offered.connector.lookUp(errand, lookup));
  const by = { lookup };
  const finding: Finding =
    answer instanceof Error
      ? { kind: "unclear", by, startedAt, why: answer.message }
      : answer.kind === "absent"
        ? { ...answer, by, startedAt, authoritative: rule?.strength === "authoritative" }
        : { ...answer, by, startedAt };
  const named = { tenant: operation.tenantId, operation: operation.id };
  ports.log.info("looked_up", { ...named, lookup, found: finding.kind });
  return recorded(the, [found(the, finding)], standing);
}

/** A connector that throws is broken, and broken is unclear. */
async function ask<T>(
  the: Case,
  work: (errand: Parameters<OfferedTool["connector"]["perform"]>[0]) => Promise<T>,
): Promise<T | Error> {
  const { operation, offered } = the;
  const signal = AbortSignal.timeout(offered.tool.contract.requestLifeMs);
  try {
    return await work(errandOf(operation, offered, signal, () => true));
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** That we are about to bar is on disk before the provider hears of it: from here on nobody repeats. */
async function bar(the: Case, standing: Standing): Promise<Executed> {
  const { ports, offered } = the;
  const barring = await recorded(
    the,
    [{ happening: { type: "barring", at: clockNow(the) }, actor: workerActor(ports) }],
    standing,
    // Nobody looks beside the barrier while it may still be on its way.
    offered.tool.contract.requestLifeMs,
  );
  if (barring.operation.inquiry.barrier !== "tried") return barring;
  const again: Case = { ...the, operation: barring.operation };
  const answer = await ask(again, (errand) => offered.connector.bar(errand));
  const raised = !(answer instanceof Error) && answer.raised;
  const why = answer instanceof Error ? answer.message : answer.why;
  return recorded(
    again,
    [
      {
        happening: { type: "barred", raised, at: clockNow(again) },
        actor: workerActor(ports),
        data: { why },
      },
    ],
    standing,
  );
}

async function poll(the: Case, standing: Standing): Promise<Executed> {
  const { ports, operation, offered } = the;
  const startedAt = clockNow(the);
  const answer = await ask(
    the,
    async (errand): Promise<Outcome | undefined> => offered.connector.poll?.(errand),
  );
  const claim = operation.attempts.at(-1);
  if (answer instanceof Error || answer === undefined || answer.kind === "lost" || claim === undefined) {
    const why = answer instanceof Error ? answer.message : "not finished";
    return recorded(
      the,
      [found(the, { kind: "unclear", by: { completion: true }, startedAt, why })],
      standing,
    );
  }
  const { contract } = offered.tool;
  return { operation: await recordOutcome(ports, operation, claim.claimId, answer, contract, clockNow(the)) };
}

async function personStep(
  the: Case,
  plan: Extract<Plan, { do: "person" }>,
  standing: Standing,
): Promise<Executed> {
  const { ports, operation, clock, offered } = the;
  if (operation.attention === plan.why)
    return postponed(the, plan.lookAgainAt ?? clock + offered.tool.contract.backoff.maxMs);
  const progress = { ...operation, attention: plan.why };
  const event = {
    type: "attention" as const,
    actor: workerActor(ports),
    data: { why: plan.why, row: plan.row, standing: standing.why ?? "live" },
  };
  const answer = await ports.ledger.record({
    operation,
    progress,
    events: [event],
    // A halt may be lifted while the permission still stands: then the repeat is safe again, and nobody else would look.
    dueAt: plan.lookAgainAt ?? (standing.why === "halted" ? clock + HALTED_AGAIN_MS : null),
  });
  return { operation: answer.kind === "recorded" ? answer.operation : operation };
}
