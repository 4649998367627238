import type { Outcome } from "../../src/core/attempt.ts";
import { covers } from "../../src/core/authorization.ts";
import type { Contract } from "../../src/core/contract.ts";
import type { Instant } from "../../src/core/ids.ts";
import { observe } from "../../src/core/inquiry.ts";
import {
  advance,
  type Happening,
  open,
  type Progress,
  type Step,
  settled,
} from "../../src/core/operation.ts";
import { judgeAbsence, next, standingOf } from "../../src/core/recovery.ts";
import { identityUsable, maySend } from "../../src/core/sending.ts";
import { DIGEST, IDLE, type Message, type World } from "./world.ts";

/** What one answer of the provider, or a silence, teaches. The model uses one object for each. */
export const LEARNED = {
  applied: { kind: "confirmed", evidence: { kind: "answer", data: {} } },
  finished: { kind: "confirmed", evidence: { kind: "answer", data: { completed: true } } },
  no: { kind: "refused", reason: "provider_refused", detail: "no" },
  meets_barrier: { kind: "refused", reason: "provider_refused", detail: "a barrier stands" },
  key_refused: { kind: "refused", reason: "expired", detail: "the key is too old" },
  precondition_failed: { kind: "refused", reason: "precondition_failed", detail: "412" },
  not_now: { kind: "absent", why: "429" },
  gate_shut: { kind: "absent", why: "the send gate said no" },
  no_connection: { kind: "absent", why: "connection refused" },
  silence: { kind: "lost", cause: "no answer" },
  duplicate: { kind: "lost", cause: "duplicate", answer: "duplicate" },
  in_flight: { kind: "lost", cause: "409", answer: "in_flight" },
  mismatch: { kind: "lost", cause: "mismatch", answer: "mismatch" },
  accepted: { kind: "lost", cause: "accepted", answer: "accepted" },
} as const satisfies Record<string, Outcome>;
export type Lesson = keyof typeof LEARNED;

/**
 * Every judgement of the model. The default is the real core, and the order of steps that src/service takes around it.
 * A broken variant replaces one of them.
 */
export interface Rules {
  readonly advance: (before: Progress, happening: Happening) => Step<Progress>;
  readonly next: typeof next;
  readonly maySend: typeof maySend;
  /** The same predicate at the last moment before the bytes leave. */
  readonly gate: typeof maySend;
  readonly judgeAbsence: typeof judgeAbsence;
  readonly identityUsable: typeof identityUsable;
  readonly standingOf: typeof standingOf;
  readonly observe: typeof observe;
  readonly covers: typeof covers;
  /** What a lesson counts as. */
  readonly outcomeOf: (lesson: Lesson) => Outcome;
  /** Which attempt is mine, after a claim's answer was lost? */
  readonly mine: (progress: Progress, ticket: string) => number | undefined;
  /** May an ended lease be taken over by a new claim? */
  readonly steals: (progress: Progress, clock: Instant) => boolean;
  /** Is an ended lease noticed? */
  readonly leaseEnds: boolean;
  /** A finding that meets another revision is folded into that one. */
  readonly findingsFold: boolean;
  /** A claim is made over the revision that it was decided on, or not at all. */
  readonly claimsCompare: boolean;
  readonly epochHolds: (decided: number, now: number) => boolean;
  /** May this worker still write what it learned on attempt `n`? */
  readonly mayRecord: (progress: Progress, n: number, clock: Instant) => boolean;
  /** What follows from the barrier's own answer. */
  readonly barrierMeans: (raised: boolean, at: Instant) => Happening;
  /** By which moment a finding is judged. */
  readonly askedAt: (startedAt: Instant, recordedAt: Instant) => Instant;
  /** A repeat asks again whether authority still gives the same answer. */
  readonly repeatsAskAgain: boolean;
  /** What a repeat expects of the resource. */
  readonly versionOf: (n: number, world: World) => number;
  /** How old a request may become. */
  readonly requestLife: (contract: Contract) => number;
  /** "Absent, then rejected" is one commit. */
  readonly oneCommit: boolean;
}

export const REAL: Rules = {
  advance,
  next,
  maySend,
  gate: maySend,
  judgeAbsence,
  identityUsable,
  standingOf,
  observe,
  covers,
  outcomeOf: (lesson) => LEARNED[lesson],
  mine: (progress, ticket) => progress.attempts.find((attempt) => attempt.claimId === ticket)?.n,
  steals: () => false,
  leaseEnds: true,
  findingsFold: true,
  claimsCompare: true,
  epochHolds: (decided, now) => decided === now,
  mayRecord: () => true,
  barrierMeans: (raised, at) => ({ type: "barred", raised, at }),
  askedAt: (startedAt) => startedAt,
  repeatsAskAgain: true,
  versionOf: () => 0,
  requestLife: (contract) => contract.requestLifeMs,
  oneCommit: true,
};

/** Writes one happening over the ledger's newest revision, as every recording does that re-reads and folds again. */
export function write(world: World, rules: Rules, happening: Happening, teller = -1): World | undefined {
  const step = rules.advance(world.ledger, happening);
  if (!step.ok) return undefined;
  const after = {
    ...world,
    ledger: step.progress,
    workers: rules.claimsCompare ? beaten(world.workers) : world.workers,
  };
  if (!rules.findingsFold) return dropped(after, teller);
  const broken =
    unsettled(world.ledger, step.progress) ??
    undecided(world.ledger, step.progress, happening) ??
    (step.alarm === undefined ? undefined : `alarm: ${step.alarm}`);
  return broken === undefined ? after : { ...after, broken };
}

/** Every other claim that is on its way now finds another revision than it was made from: it makes nothing. */
function beaten(workers: World["workers"]): World["workers"] {
  const [a, b] = workers;
  if (a.doing !== "claiming" && b.doing !== "claiming") return workers;
  return [a.doing === "claiming" ? IDLE : a, b.doing === "claiming" ? IDLE : b];
}

/** Of a broken variant: whoever holds a finding that was asked over an older revision drops it. */
function dropped(world: World, teller: number): World {
  const stale = world.workers.filter((worker, who) => worker.doing === "told" && who !== teller);
  const [a, b] = world.workers.map((worker) => (stale.includes(worker) ? IDLE : worker));
  const lost = !settled(world.ledger) && stale.some((worker) => worker.finding?.kind === "confirmed");
  return { ...world, workers: [a ?? IDLE, b ?? IDLE], ...(lost ? { broken: "I5" } : {}) };
}

/** I5: what a settled operation says, it says for ever. */
function unsettled(before: Progress, after: Progress): string | undefined {
  const same =
    before.state === after.state && before.reason === after.reason && before.evidence === after.evidence;
  return settled(before) && !same ? "I5" : undefined;
}

/** I1: what waits for people is authorized by a decision, and by nothing else. */
function undecided(before: Progress, after: Progress, happening: Happening): string | undefined {
  const slipped =
    before.state === "proposed" && after.state === "authorized" && happening.type !== "authorized";
  return slipped ? "I1" : undefined;
}

/** Is the operation permitted in truth, now? Nobody in the model may ask this but the invariants. */
export function lawful({ ledger: { authorization }, authority, epoch, clock }: World): boolean {
  if (authorization === undefined || !covers(authorization, DIGEST, clock)) return false;
  if (authority === "review") return authorization.epoch === epoch && authorization.approvals.length > 0;
  return authority === "allow";
}

/** I2 where no identity helps: is any earlier attempt whose bytes left not proved absent? */
export function doubted(world: World, n: number): boolean {
  const { attempts, inquiry } = world.ledger;
  return attempts.some(
    (attempt) => attempt.n < n && (world.sent & (1 << attempt.n)) !== 0 && open(attempt, inquiry),
  );
}

export const INVARIANTS: Readonly<Record<string, string>> = {
  I1: "an effect without an authorization that was valid at its claim, or after its end",
  I2: "a second effect, or a second send while the first is in doubt and no identity helps",
  I3: "succeeded, and no effect of ours exists",
  I4: "rejected, and an effect of ours exists",
  I5: "something recorded has changed, or evidence was dropped",
  I6: "stuck: no settled state and no person is reached although faults have stopped",
  I7: "another content than the authorized one was executed under its identity",
};

/** What must be true of every world that can be reached, as far as one world shows it: what it breaks. */
export function brokenIn(world: World): readonly string[] {
  const { ledger, truth } = world;
  const broken: string[] = world.broken === undefined ? [] : [world.broken];
  if (truth.effects > 1) broken.push("I2");
  if (ledger.state === "succeeded" && truth.effects === 0) broken.push("I3");
  if (ledger.state === "rejected" && truth.effects > 0) broken.push("I4");
  return broken;
}

/** The marks that an effect leaves, and what it breaks by happening now. */
export function applied(world: World, message: Message, bounded: boolean): World {
  const { truth, clock } = world;
  const effects = truth.effects + 1;
  const after = {
    ...truth,
    effects,
    effectAt: truth.effectAt < 0 ? clock : truth.effectAt,
    content: "ours" as const,
    version: 1,
  };
  const late = bounded && clock >= (world.ledger.authorization?.expiresAt ?? 0);
  const wrong =
    (world.unlawful & (1 << message.n)) !== 0 || late
      ? "I1"
      : truth.content === "foreign" || message.version !== 0
        ? "I7"
        : undefined;
  return wrong === undefined ? { ...world, truth: after } : { ...world, truth: after, broken: wrong };
}
