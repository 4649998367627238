import type { TenantId } from "./core/ids.ts";
import type { Operation } from "./core/operation.ts";
import type { Ports } from "./service/ports.ts";
import { takeStep } from "./service/reconcile.ts";

/** How much one worker takes on, and how often it looks when nothing is due. */
export interface WorkerBounds {
  readonly atOnceMax: number;
  readonly providerMax: number;
  readonly tenantMax: number;
  readonly idleMs: number;
}
export const WORKER_BOUNDS: WorkerBounds = { atOnceMax: 64, providerMax: 32, tenantMax: 48, idleMs: 500 };

/** Others leave a picked operation alone for this long; a crashed worker's are picked again afterwards. */
const RESERVE_MS = 5_000;
const AWAY_MS = 2_000;
/** Guards that were left for so long cost less than looking for them more often. */
const TIDY_MS = 60_000;

export interface Worker {
  /** Stops taking up new work, finishes what is in hand within `withinMs`, and leaves the rest to its leases. */
  stop(withinMs: number): Promise<void>;
}

/** The loop: execute what is due, reconcile what is in doubt. Any number of workers on one database share the work. */
export function startWorker(ports: Ports, bounds: WorkerBounds = WORKER_BOUNDS): Worker {
  const ended = new AbortController();
  const inHand = new Map<Promise<void>, Operation>();
  const loop = run(ports, bounds, inHand, ended.signal);
  return {
    stop: async (withinMs) => {
      ended.abort();
      await loop;
      const late = new AbortController();
      await Promise.race([Promise.allSettled(inHand.keys()), ports.clock.sleep(withinMs, late.signal)]);
      late.abort();
    },
  };
}

async function run(
  ports: Ports,
  bounds: WorkerBounds,
  inHand: Map<Promise<void>, Operation>,
  signal: AbortSignal,
): Promise<void> {
  let tidiedMs = ports.clock.monotonicMs();
  while (!signal.aborted) {
    if (ports.clock.monotonicMs() - tidiedMs > TIDY_MS && !(await tidied(ports)))
      tidiedMs = ports.clock.monotonicMs();
    const took = await take(ports, bounds, inHand, signal);
    if (took === "full") await Promise.race([...inHand.keys(), ports.clock.sleep(bounds.idleMs, signal)]);
    else if (took === "nothing")
      await ports.clock.sleep(bounds.idleMs * (0.75 + ports.entropy.fraction() / 2), signal);
    else if (took === "away") await ports.clock.sleep(AWAY_MS, signal);
  }
}

/** Whether there is more to tidy up. */
async function tidied(ports: Ports): Promise<boolean> {
  try {
    return await ports.ledger.tidy();
  } catch (error) {
    ports.log.warn("worker", { what: "tidying up", error: String(error) });
    return false;
  }
}

async function take(
  ports: Ports,
  bounds: WorkerBounds,
  inHand: Map<Promise<void>, Operation>,
  signal: AbortSignal,
): Promise<"some" | "nothing" | "full" | "away"> {
  const working = [...inHand.values()];
  const providers = crowding(working, (operation) => operation.provider, bounds.providerMax);
  const tenants = crowding(working, (operation) => operation.tenantId, bounds.tenantMax);
  const max = Math.min(bounds.atOnceMax - working.length, providers.room, tenants.room);
  if (max <= 0) return "full";
  try {
    const { value: due, clock } = await ports.ledger.due({
      max,
      reserveMs: RESERVE_MS,
      exceptProviders: providers.full,
      exceptTenants: [...tenants.full, ...(await outdated(ports))],
    });
    // Picked while we were told to stop: it is due again when the reservation ends.
    if (signal.aborted) return "nothing";
    const inHandNow = new Set(working.map((operation) => operation.id));
    for (const operation of due.filter((each) => !inHandNow.has(each.id)))
      begin(ports, operation, clock, inHand);
    if (due.length > 0) return "some";
    // What was left out may be due: the next that ends makes room for it.
    return providers.full.length + tenants.full.length > 0 ? "full" : "nothing";
  } catch (error) {
    ports.log.warn("worker", { what: "the ledger is away", error: String(error) });
    return "away";
  }
}

/** Tenants whose configuration this process does not know: others decide for them. Asked again, for it may be in force again. */
async function outdated({ authority }: Ports): Promise<readonly TenantId[]> {
  const [first] = authority.outdated();
  if (first === undefined) return [];
  await authority.refresh(first).catch(() => undefined);
  return authority.outdated();
}

function begin(
  ports: Ports,
  operation: Operation,
  clock: number,
  inHand: Map<Promise<void>, Operation>,
): void {
  const work = step(ports, operation, clock).finally(() => inHand.delete(work));
  inHand.set(work, operation);
}

async function step(ports: Ports, operation: Operation, clock: number): Promise<void> {
  try {
    const executed = await takeStep(ports, operation, clock);
    await executed.done;
  } catch (error) {
    // The operation stays where the ledger says; its due time or its lease brings it back.
    ports.log.error("worker", { tenant: operation.tenantId, operation: operation.id, error: String(error) });
  }
}

/** Who has as much in hand as one may have; and how many more may be taken if all of them were of the fullest of the others. */
function crowding(
  working: readonly Operation[],
  nameOf: (operation: Operation) => string,
  max: number,
): { readonly full: readonly string[]; readonly room: number } {
  const counts = new Map<string, number>();
  for (const operation of working) counts.set(nameOf(operation), (counts.get(nameOf(operation)) ?? 0) + 1);
  const full = [...counts].filter(([, count]) => count >= max).map(([name]) => name);
  const most = Math.max(0, ...[...counts.values()].filter((count) => count < max));
  return { full, room: max - most };
}
