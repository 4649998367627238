import type { Attempt, Outcome } from "../../src/core/attempt.ts";
import type { Instant } from "../../src/core/ids.ts";
import { open, settled } from "../../src/core/operation.ts";
import type { ContractClass } from "./contract-class.ts";
import { forgotten, type Message, type Worker, type World } from "./world.ts";

/**
 * Two worlds with one key behave alike for ever, so visiting one of them is enough. What the key leaves out cannot matter any more:
 * which worker is which; an age beyond the constant that it is compared with; the date of what is proved absent, or was told to nobody.
 * So the space is finite although time never ends. `reduction.test.ts` checks against exact clocks that nothing is lost.
 */
export function keyOf(world: World, cls: ContractClass): string {
  const { ledger, truth } = world;
  const over = settled(ledger) && !world.workers.some(asks);
  let text = STATES[ledger.state] + (ledger.reason ?? "");
  for (const attempt of ledger.attempts)
    text += over ? codeOf(attempt.outcome) : attemptText(attempt, world, cls);
  if (!over) text += inquiryText(world, cls);
  const first = workerText(world.workers[0], world, cls);
  const second = workerText(world.workers[1], world, cls);
  text += first < second ? `|${first}|${second}|` : `|${second}|${first}|`;
  for (const message of world.net) text += messageText(message, world.clock);
  text += `|${truth.effects}${world.sent}${world.unlawful}`;
  if (over && world.net.length === 0) return text;
  const left = Math.max(0, (ledger.authorization?.expiresAt ?? 0) - world.clock);
  text += `${truthText(world, cls)}${world.otherWritesLeft}${world.foreignLeft}${left}`;
  return over ? text : `${text}${world.authority[0]}${world.changesLeft}`;
}

const STATES = {
  proposed: "p",
  authorized: "a",
  executing: "e",
  succeeded: "s",
  rejected: "r",
  unknown: "u",
} as const;

/** Everything, with its dates: for checking the key above. */
export function exactKeyOf(world: World): string {
  const { workers, ledger, ...rest } = world;
  const { looked: _counted, ...inquiry } = ledger.inquiry;
  return JSON.stringify([
    workers.map((worker) => JSON.stringify(worker)).sort(),
    { ...ledger, inquiry },
    rest,
  ]);
}

/** The age of a moment, up to where a greater age makes no difference. */
function age(at: Instant, world: World, ageMax: number): string {
  return String.fromCharCode(48 + Math.min(world.clock - at, ageMax));
}

/** How much later one moment is than another, from "not at all" up to where it makes no difference. */
function lead(later: Instant, earlier: Instant, leadMax: number): string {
  return String.fromCharCode(48 + Math.max(0, Math.min(later - earlier, leadMax)));
}

/** May still bring an absence, which is judged by the old moments even when the operation has settled. */
function asks({ doing, finding }: Worker): boolean {
  return doing === "asking" || (doing === "told" && finding?.kind === "absent");
}

/** Somebody may still learn what became of it. */
function held(n: number, { workers }: World): boolean {
  return workers.some((worker) => worker.n === n && (worker.doing === "knows" || worker.doing === "waiting"));
}

function attemptText(attempt: Attempt, world: World, cls: ContractClass): string {
  const { outcome, claimedAt, learnedAt } = attempt;
  const code = codeOf(outcome);
  const { attempts, inquiry } = world.ledger;
  const bounds = boundsOf(cls);
  if (bounds.opensFirst && attempt.n === 1)
    return code + age(claimedAt, world, bounds.sentMax) + (open(attempt, inquiry) ? "" : ".");
  if (outcome?.kind === "absent") return code;
  const closed = (outcome === undefined || outcome.kind === "lost") && !open(attempt, inquiry);
  if (closed) return held(attempt.n, world) ? `${code}.${age(claimedAt, world, bounds.sentMax)}` : `${code}.`;
  let text = code + age(claimedAt, world, bounds.sentMax);
  const earlier = attempts.findLast(
    (other) => other.n < attempt.n && (other.outcome?.kind === "refused" || open(other, inquiry)),
  );
  if (bounds.gapMax > 0 && earlier !== undefined) text += lead(claimedAt, earlier.claimedAt, bounds.gapMax);
  if (outcome?.kind === "lost" && outcome.answer === "accepted")
    text += age(learnedAt ?? 0, world, bounds.backoffMax);
  return text;
}

function inquiryText(world: World, cls: ContractClass): string {
  const { inquiry, authorization } = world.ledger;
  const { lastStartedAt, absentSince, barrierAt, unclearInRow, barrier, barred, conflict } = inquiry;
  const { backoffMax, barrierMax } = boundsOf(cls);
  let text = `|${Math.min(unclearInRow, cls.contract.unclearMax)}${barrier?.[0] ?? "-"}${barred === true ? 1 : 0}${conflict === true ? 1 : 0}${absentSince === undefined ? "-" : "a"}`;
  if (barrierAt !== undefined) text += age(barrierAt, world, barrierMax);
  // A conflict is a person's, whatever was asked when.
  if (lastStartedAt !== undefined && !settled(world.ledger) && conflict !== true)
    text += `${age(lastStartedAt, world, backoffMax)}${startText(lastStartedAt, world, cls, 1)}`;
  return `${text}/${world.epoch}${authorization?.epoch ?? "-"}${authorization?.approvals.length ?? 0}`;
}

/** Everything that is ever asked about the moment when a question left. */
function startText(at: Instant, world: World, cls: ContractClass, leadMax: number): string {
  const { attempts, inquiry } = world.ledger;
  let text = "";
  for (const attempt of attempts) {
    const closed = attempt.outcome?.kind !== "refused" && !open(attempt, inquiry) && !held(attempt.n, world);
    if (closed || attempt.outcome?.kind === "absent") continue;
    text += lead(at, attempt.claimedAt, leadMax);
    if (attempt.outcome?.kind === "lost" && attempt.outcome.answer !== undefined)
      text += at >= (attempt.learnedAt ?? 0) ? "+" : "-";
  }
  return inquiry.barrierAt === undefined
    ? text
    : text + lead(at, inquiry.barrierAt, boundsOf(cls).barrierMax);
}

function workerText(worker: Worker, world: World, cls: ContractClass): string {
  const { doing, n, at, epoch, outcome, finding } = worker;
  const { pauseMax, lifeMax, settlesMax, backoffMax } = boundsOf(cls);
  switch (doing) {
    case "idle":
      return "";
    case "claiming":
      return `C${n}${epoch}${cls.faults.commits === true ? age(at, world, pauseMax) : ""}`;
    case "unsure":
    case "claimed":
    case "ready":
      return `${doing[0]}${n}${age(at, world, pauseMax)}`;
    case "waiting":
      return `w${n}${age(at, world, lifeMax)}`;
    case "told":
      if (finding?.kind === "confirmed" || finding?.kind === "conflict")
        return finding.kind === "confirmed" ? "T" : "X";
      return `t${finding?.kind[0]}${finding?.kind === "absent" && finding.sawBarrier === true ? 1 : 0}${age(at, world, backoffMax)}${startText(at, world, cls, settlesMax)}`;
    case "asking":
      return `?${n}${age(at, world, backoffMax)}${startText(at, world, cls, settlesMax)}`;
    default:
      return `${doing.slice(0, 6)}${n}${codeOf(outcome)}`;
  }
}

function messageText({ n, sentAt, begun, version }: Message, clock: Instant): string {
  return `${n}${String.fromCharCode(48 + Math.min(9, clock - sentAt))}${begun ? "b" : "s"}${version}`;
}

/** What the provider has forgotten, or shows to everybody, has no date any more. */
function truthText(world: World, cls: ContractClass): string {
  const { content, version, knownAt, effectAt, barrierAt } = world.truth;
  const { lagMax, endless } = boundsOf(cls);
  const known =
    knownAt < 0
      ? "-"
      : endless
        ? "k"
        : forgotten(cls, world.truth, world.clock)
          ? "f"
          : age(knownAt, world, 9);
  const shown = (at: Instant) => (at < 0 ? "-" : age(at, world, lagMax === 0 ? 0 : lagMax + 1));
  return `${content[0]}${version}${known}${shown(effectAt)}${shown(barrierAt)}`;
}

const codes = new Map<Outcome | undefined, string>([[undefined, "-"]]);

/** The model uses one object for each outcome. */
function codeOf(outcome: Outcome | undefined): string {
  const known = codes.get(outcome);
  if (known !== undefined) return known;
  const code = String.fromCharCode(65 + codes.size);
  codes.set(outcome, code);
  return code;
}

/** Up to where ages and gaps are compared with anything, by one contract. */
interface Bounds {
  readonly sentMax: number;
  readonly gapMax: number;
  readonly settlesMax: number;
  readonly barrierMax: number;
  readonly backoffMax: number;
  readonly pauseMax: number;
  readonly lifeMax: number;
  readonly lagMax: number;
  readonly endless: boolean;
  /** A window that opens with the first request counts from it even if that is proved absent. */
  readonly opensFirst: boolean;
}
const boundsKnown = new WeakMap<ContractClass, Bounds>();

function boundsOf(cls: ContractClass): Bounds {
  const known = boundsKnown.get(cls);
  if (known !== undefined) return known;
  const { settle, identity, lookup, leaseMs, maxPauseMs, requestLifeMs, backoff, completion } = cls.contract;
  const lagMax = Math.max(0, ...lookup.map((one) => one.lagMs));
  const window = identity.kind === "none" || identity.window.forMs === null ? undefined : identity.window;
  const windowMax =
    window?.forMs === undefined || window.forMs === null
      ? 0
      : window.forMs - window.marginMs - maxPauseMs - requestLifeMs;
  const settlesMax = settle.kind === "unbounded" ? 1 : settle.forMs + lagMax + 1;
  const bounds = {
    sentMax: Math.max(settlesMax, windowMax, leaseMs, ...lookup.map((one) => one.horizonMs)),
    gapMax: identity.kind !== "none" && identity.duplicateMeans === "effect_or_in_flight" ? settlesMax : 0,
    settlesMax,
    barrierMax: lagMax + 1,
    backoffMax: Math.max(backoff.maxMs, completion?.everyMs ?? 0),
    pauseMax: maxPauseMs,
    lifeMax: maxPauseMs + requestLifeMs + 1,
    lagMax,
    endless: window === undefined,
    opensFirst: window?.opens === "first_send",
  };
  boundsKnown.set(cls, bounds);
  return bounds;
}
