import { findingOf, snapshots } from "./provider.ts";
import { type Lesson, write } from "./rules.ts";
import type { Scene } from "./scene.ts";
import type { What } from "./words.ts";
import { IDLE, type Worker, withWorker } from "./world.ts";

/** Looking is due by the plan; a person may ask for it at any time, and it goes on while a person decides. */
export function looks(scene: Scene, who: number): void {
  const { world, cls, emit, plan } = scene;
  if (plan === undefined || cls.contract.lookup.length === 0) return;
  const due = plan.do === "look_up" && plan.at <= world.clock;
  if (!due && cls.faults.earlyLookups !== true) return;
  if (plan.do !== "look_up" && plan.do !== "person" && plan.do !== "repeat") return;
  const place =
    plan.do === "look_up" ? cls.contract.lookup.findIndex((lookup) => lookup.name === plan.lookup) : 0;
  const asking = { ...IDLE, doing: "asking" as const, n: place, at: world.clock };
  if (cls.faults.slowLookups === true)
    emit(withWorker(world, who, asking), "look", who, 0, due ? undefined : "early");
  else hear(scene, who, asking, due);
}

/** The lookup answers. An answer that proves nothing is recorded at once: waiting would only make it older. */
export function hear(scene: Scene, who: number, worker: Worker, due = true): void {
  const { world, cls, emit } = scene;
  const { n, at } = worker;
  const proves = cls.contract.lookup[n]?.strength === "authoritative" || cls.faults.slowLookups === true;
  for (const seen of snapshots(world, cls, n)) {
    const told = { ...IDLE, doing: "told" as const, at, finding: findingOf(seen, cls, n, at) };
    const what = HEARD[seen.kind === "absent" && seen.barrier ? "barrier" : seen.kind];
    if (seen.kind !== "absent" || proves)
      emit(withWorker(world, who, told), what, who, 0, due ? undefined : "early");
    else recordFinding(scene, who, told, what, due);
  }
  if (cls.faults.unclear !== true) return;
  const by = { lookup: cls.contract.lookup[n]?.name ?? "" };
  const finding = { kind: "unclear", by, startedAt: at, why: "503" } as const;
  recordFinding(scene, who, { ...IDLE, doing: "told", at, finding }, "look_unclear");
}

const HEARD = {
  confirmed: "look_found",
  conflict: "look_conflict",
  absent: "look_absent",
  barrier: "look_barrier",
} as const;

/** An absence is judged when it is recorded, by the contract and by when its question left. */
export function recordFinding(
  scene: Scene,
  who: number,
  worker: Worker,
  what: What = "record_finding",
  due = true,
): void {
  const { world, cls, rules, emit } = scene;
  if (worker.finding === undefined) return;
  const finding = { ...worker.finding, startedAt: rules.askedAt(worker.finding.startedAt, world.clock) };
  const settles = rules.judgeAbsence(world.ledger, finding, cls.contract);
  const inquiry = rules.observe(world.ledger.inquiry, finding, settles);
  const repeatable =
    settles === "settled" && rules.identityUsable({ attempts: [], inquiry }, cls.contract, world.clock);
  const after = write(
    world,
    rules,
    { type: "found", finding, settles, repeatable: repeatable || !rules.oneCommit },
    who,
  );
  if (after === undefined) {
    emit(withWorker(world, who, IDLE), "finding_dropped", who, 0);
    return;
  }
  const closes = !rules.oneCommit && !repeatable && after.ledger.state === "authorized";
  const moved =
    after.ledger.state !== world.ledger.state && settles !== "no"
      ? `${settles}_${after.ledger.state}`
      : undefined;
  emit(
    withWorker(after, who, closes ? { ...IDLE, doing: "closing" } : IDLE),
    what,
    who,
    0,
    due ? moved : "early",
  );
}

export function poll(scene: Scene, who: number, worker: Worker): void {
  const { world, emit } = scene;
  if (world.net.some((message) => message.n === worker.n && message.begun)) {
    const finding = {
      kind: "unclear",
      by: { completion: true },
      startedAt: world.clock,
      why: "not finished",
    } as const;
    recordFinding(scene, who, { ...IDLE, doing: "told", finding }, "poll_pending");
    return;
  }
  const lesson: Lesson = world.truth.effects > 0 ? "finished" : "no";
  emit(
    withWorker(world, who, { ...IDLE, doing: "knows", n: worker.n, outcome: scene.rules.outcomeOf(lesson) }),
    "poll_done",
    who,
    worker.n,
  );
}
