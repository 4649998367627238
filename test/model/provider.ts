import type { Finding } from "../../src/core/inquiry.ts";
import type { ContractClass } from "./contract-class.ts";
import { applied, LEARNED, type Lesson, type Rules } from "./rules.ts";
import type { Emit } from "./scene.ts";
import type { What } from "./words.ts";
import { forgotten, IDLE, type Message, processing, type Truth, type World, withWorker } from "./world.ts";

/** Everything that the network and the provider may do with the requests that are on their way. */
export function providerSteps(world: World, cls: ContractClass, rules: Rules, emit: Emit): void {
  for (const message of world.net) {
    const scene = { world, cls, rules, emit, message };
    if (message.begun) ends(scene);
    else arrives(scene);
  }
}

interface Scene {
  readonly world: World;
  readonly cls: ContractClass;
  readonly rules: Rules;
  readonly emit: Emit;
  readonly message: Message;
}

/** A request arrives. What the provider knows decides first; else it may say no or not now, and else it works. */
function arrives(scene: Scene): void {
  const { world, cls, message } = scene;
  const known = answerOf(scene);
  if (known !== undefined) {
    answers(scene, world, ...known);
    return;
  }
  for (const says of cls.provider.says) {
    if (says === "no") answers(scene, world, "says_no", "no");
    else answers(scene, sight(scene, "sight"), "says_not_now", "not_now");
  }
  if (cls.provider.work !== "at once") begins(scene);
  else answers(scene, applied(sight(scene, "effect"), message, bounded(cls)), effectOf(world), "applied");
}

/** The order is a provider's own: barrier, identity, condition. */
function answerOf({ world, cls, message }: Scene): [What, Lesson] | undefined {
  const { truth, clock } = world;
  const { contract, provider } = cls;
  if (truth.barrierAt >= 0) return ["meets_barrier", "meets_barrier"];
  if (contract.identity.kind !== "none" && contract.identity.kind !== "same_version") {
    if (truth.content === "foreign") return ["mismatch", "mismatch"];
    if (provider.work === "locks" && world.net.some((other) => other.begun))
      return provider.busy === "in_flight"
        ? ["in_flight", "in_flight"]
        : ["in_flight_duplicate", "duplicate"];
    const old = forgotten(cls, truth, clock);
    if (!old && (truth.effects > 0 || provider.work === "marks"))
      return provider.known === "duplicate" ? ["duplicate", "duplicate"] : ["known_again", "applied"];
    if (old && truth.knownAt >= 0 && refusesOld(cls)) return ["key_refused", "key_refused"];
  }
  if (contract.precondition.kind === "none" || truth.version === message.version) return undefined;
  return [truth.version === 1 ? "own_412" : "precondition_failed", "precondition_failed"];
}

function effectOf(world: World): What {
  return world.truth.effects === 0 ? "applies" : "applies_again";
}

function bounded(cls: ContractClass): boolean {
  return processing(cls) === 0;
}

function refusesOld({ contract: { identity } }: ContractClass): boolean {
  return identity.kind !== "none" && identity.window.after === "refuses";
}

/** A window that opens with the first request opens at its sight, whatever it is answered; others open with the effect. */
function sight({ world, cls }: Scene, at: "sight" | "effect"): World {
  const { identity } = cls.contract;
  const opens = identity.kind !== "none" && (at === "effect" || identity.window.opens === "first_send");
  const stands = world.truth.knownAt >= 0 && !(at === "effect" && forgotten(cls, world.truth, world.clock));
  if (!opens || stands) return world;
  return { ...world, truth: { ...world.truth, knownAt: world.clock } };
}

/** The provider works on it: the effect comes later, or never. */
function begins(scene: Scene): void {
  const { world, cls, message, emit, rules } = scene;
  const net = world.net.map((other) => (other === message ? { ...message, begun: true } : other));
  const marked = cls.provider.work === "marks" ? { ...world.truth, knownAt: world.clock } : world.truth;
  const begun = { ...world, net, truth: marked };
  emit(begun, "begins", -1, message.n);
  if (cls.provider.work !== "accepts") return;
  const who = listener(scene);
  if (who >= 0) emit(hears(begun, who, message.n, "accepted", rules), "begins", who, message.n);
}

/** What was begun ends in the effect, or in nothing. */
function ends(scene: Scene): void {
  const { world, cls, message, emit } = scene;
  answers(scene, applied(sight(scene, "effect"), message, bounded(cls)), effectOf(world), "applied");
  if (cls.provider.work === "checks") return;
  const net = world.net.filter((other) => other !== message);
  emit({ ...world, net }, "dies", -1, message.n);
}

/** The provider has done `after`; its answer arrives at who waits for it, or nowhere. */
function answers(scene: Scene, after: World, what: What, lesson: Lesson): void {
  const { world, message, emit, rules } = scene;
  const done = { ...after, net: after.net.filter((other) => other !== message) };
  const who = listener(scene);
  const attempt = world.ledger.attempts.find((one) => one.n === message.n);
  const late = attempt === undefined || world.clock >= attempt.leaseUntil;
  emit(done, what, -1, message.n, late ? "late" : undefined);
  if (who >= 0) emit(hears(done, who, message.n, lesson, rules), what, who, message.n);
}

/** Nobody listens any more once the request was aborted. */
function listener({ world: { workers, clock }, message, cls, rules }: Scene): number {
  return workers.findIndex(
    ({ doing, n, at }) =>
      doing === "waiting" && n === message.n && clock <= at + rules.requestLife(cls.contract),
  );
}

function hears(world: World, who: number, n: number, lesson: Lesson, rules: Rules): World {
  return withWorker(world, who, { ...IDLE, doing: "knows", n, outcome: rules.outcomeOf(lesson) });
}

/** What a lookup may have read: everything until now, or, where it lags, until any moment that is not longer ago than its lag. */
export function snapshots(world: World, cls: ContractClass, place: number): readonly Seen[] {
  const lagMs = cls.contract.lookup[place]?.lagMs ?? 0;
  const seen: Seen[] = [];
  // What happened exactly a lag ago may still be invisible.
  const oldest = lagMs === 0 ? world.clock : world.clock - lagMs - 1;
  for (let at = world.clock; at >= oldest; at--) {
    const one = seenAt(world.truth, at, cls);
    if (!seen.some((other) => other.kind === one.kind && other.barrier === one.barrier)) seen.push(one);
  }
  return seen;
}

export interface Seen {
  readonly kind: "confirmed" | "absent" | "conflict";
  readonly barrier: boolean;
}

function seenAt(truth: Truth, at: number, { contract }: ContractClass): Seen {
  const barrier = truth.barrierAt >= 0 && truth.barrierAt <= at;
  if (truth.content === "foreign") return { kind: "conflict", barrier };
  // Where the marker lives on the resource, the next writer takes it away.
  const stands = contract.precondition.kind === "none" || truth.version === 1;
  return { kind: truth.effects > 0 && truth.effectAt <= at && stands ? "confirmed" : "absent", barrier };
}

export function findingOf(seen: Seen, cls: ContractClass, place: number, startedAt: number): Finding {
  const asked = cls.contract.lookup[place];
  const by = { lookup: asked?.name ?? "" };
  if (seen.kind === "confirmed")
    return { kind: "confirmed", by, startedAt, evidence: LEARNED.applied.evidence };
  if (seen.kind === "conflict")
    return { kind: "conflict", by, startedAt, evidence: LEARNED.applied.evidence };
  return {
    kind: "absent",
    by,
    startedAt,
    authoritative: asked?.strength === "authoritative",
    ...(seen.barrier ? { sawBarrier: true } : {}),
  };
}

/** The barrier's act takes place: it stands, or it is refused because our effect came first, or for another reason. */
export function barrierSteps(world: World, cls: ContractClass, who: number, emit: Emit): void {
  const { truth } = world;
  const answered = (raised: number) => ({ ...IDLE, doing: "barred" as const, n: raised });
  // A tombstone takes the place that the effect would take; a fence only stops what comes later.
  const tooLate = cls.contract.barrier.kind === "tombstone" && truth.effects > 0;
  if (tooLate || cls.faults.barrierRefused === true)
    emit(withWorker(world, who, answered(0)), "bar_refused", who, tooLate ? 1 : 0);
  if (tooLate) return;
  const barrierAt = truth.barrierAt < 0 ? world.clock : truth.barrierAt;
  emit(withWorker({ ...world, truth: { ...truth, barrierAt } }, who, answered(1)), "bar_raised", who, 0);
}

/** The clock moves. Requests die of age. */
export function tick(world: World, cls: ContractClass, rules: Rules): World {
  const clock = world.clock + 1;
  const life = rules.requestLife(cls.contract);
  const after = processing(cls);
  const net = world.net.filter(
    ({ sentAt, begun }) => clock <= sentAt + life + (begun || after === Number.POSITIVE_INFINITY ? after : 0),
  );
  // A process that is paused for longer than the contract allows is taken for dead: no check of ours could bound it.
  const [a, b] = world.workers.map((worker) =>
    worker.doing === "ready" && clock - worker.at > cls.contract.maxPauseMs ? IDLE : worker,
  );
  return {
    ...world,
    clock,
    net: net.length === world.net.length ? world.net : net,
    workers: [a ?? IDLE, b ?? IDLE],
  };
}
