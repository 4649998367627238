import { settled } from "../../src/core/operation.ts";
import type { Plan } from "../../src/core/recovery.ts";
import { hear, looks, poll, recordFinding } from "./asking.ts";
import type { ContractClass } from "./contract-class.ts";
import { barrierSteps, providerSteps, tick } from "./provider.ts";
import { type Rules, write } from "./rules.ts";
import { claimable, type Emit, type Scene } from "./scene.ts";
import { aged, claim, gate, learns, leave, record, reread } from "./sending.ts";
import { authoritySteps, planOf, systemSteps } from "./system.ts";
import { type Doing, IDLE, type Worker, type World, withWorker } from "./world.ts";

/** Every step that anybody can take in this world; and what the core would do next, while the outcome is unknown. */
export function steps(world: World, cls: ContractClass, rules: Rules, emit: Emit): Plan | undefined {
  const over = settled(world.ledger);
  const plan = over ? undefined : planOf(world, cls, rules);
  const scene: Scene = { world, cls, rules, emit, plan };
  providerSteps(world, cls, rules, emit);
  const [a, b] = world.workers;
  workerSteps(scene, 0, a);
  if (b !== a) workerSteps(scene, 1, b);
  if (over && world.net.length === 0 && calm(a) && calm(b)) return plan;
  emit(tick(world, cls, rules), "tick", -1, 0);
  if (!over) systemSteps(scene);
  authoritySteps(scene, over);
  return plan;
}

/** Once the operation has settled, only a request that may still leave, or arrive, needs time to pass. */
function calm({ doing }: Worker): boolean {
  return doing !== "claimed" && doing !== "ready" && doing !== "waiting" && doing !== "unsure";
}

/** A crash while doing anything else leaves a world that is also reached without one: nothing was written or sent meanwhile. */
const CRASHES: ReadonlySet<Doing> = new Set(["claimed", "waiting", "knows", "barring"]);

function workerSteps(scene: Scene, who: number, worker: Worker): void {
  const { world, emit } = scene;
  if (CRASHES.has(worker.doing) && !settled(world.ledger))
    emit(withWorker(world, who, IDLE), "crash", who, worker.n);
  switch (worker.doing) {
    case "idle":
      begin(scene, who);
      break;
    case "claiming":
      claim(scene, who, worker);
      break;
    case "unsure":
      reread(scene, who, worker);
      break;
    case "claimed":
      gate(scene, who, worker);
      break;
    case "ready":
      leave(scene, who, worker);
      break;
    case "waiting":
      learns(scene, who, worker.n, "silence", aged(scene, worker) ? "aborts" : "time_out");
      break;
    case "knows":
      record(scene, who, worker);
      break;
    case "asking":
      hear(scene, who, worker);
      break;
    case "told":
      recordFinding(scene, who, worker);
      break;
    case "polling":
      poll(scene, who, worker);
      break;
    case "barring":
      barrierSteps(world, scene.cls, who, emit);
      break;
    case "barred":
      recordBarrier(scene, who, worker.n === 1);
      break;
    case "closing":
      close(scene, who);
      break;
  }
}

/** An idle worker takes up what is due. */
function begin(scene: Scene, who: number): void {
  const { world, cls, rules, emit, plan } = scene;
  const { ledger, clock, epoch } = world;
  const claiming: Worker = { ...IDLE, doing: "claiming", at: clock, epoch };
  if (rules.steals(ledger, clock)) emit(withWorker(world, who, { ...claiming, n: 1 }), "steal_start", who, 0);
  if (ledger.state === "authorized") {
    if (claimable(world, cls, rules))
      emit(withWorker(world, who, claiming), "claim_start", who, ledger.attempts.length + 1);
    return;
  }
  if (ledger.state !== "unknown" || plan === undefined) return;
  if (plan.do === "repeat")
    emit(withWorker(world, who, { ...claiming, n: 1 }), "repeat_start", who, ledger.attempts.length + 1);
  looks(scene, who);
  if (plan.do === "poll" && plan.at <= clock)
    emit(
      withWorker(world, who, { ...IDLE, doing: "polling", n: ledger.attempts.at(-1)?.n ?? 0 }),
      "poll",
      who,
      0,
    );
  if (plan.do === "bar") {
    const barring = write(world, rules, { type: "barring", at: clock });
    if (barring !== undefined) emit(withWorker(barring, who, { ...IDLE, doing: "barring" }), "bar", who, 0);
  }
}

function recordBarrier({ world, rules, emit }: Scene, who: number, raised: boolean): void {
  const after = write(world, rules, rules.barrierMeans(raised, world.clock));
  emit(withWorker(after ?? world, who, IDLE), raised ? "record_raised" : "record_refused", who, 0);
}

/** Of a broken variant: the second of two commits, over whatever the operation has become. */
function close({ world, emit }: Scene, who: number): void {
  const ledger = { ...world.ledger, state: "rejected", reason: "not_applied" } as const;
  emit(withWorker({ ...world, ledger }, who, IDLE), "second_commit", who, 0);
}
