import { setTimeout as sleep } from "node:timers/promises";
import type { TenantId } from "../core/ids.ts";
import type { Door } from "./door.ts";

/** Rings when a tenant's ledger has something new. However many watch a tenant, the ledger is asked once. */
export interface Bell {
  /** Resolves when there may be changes after `seq`, or when the signal is aborted. Never rejects. */
  rung(tenantId: TenantId, seq: number, signal: AbortSignal): Promise<void>;
}

interface Tower {
  seq: number;
  readonly waiting: Set<() => void>;
}

export function bell(door: Door): Bell {
  const towers = new Map<TenantId, Tower>();
  return {
    rung: (tenantId, seq, signal) =>
      new Promise((done) => {
        const known = towers.get(tenantId);
        if (signal.aborted || (known !== undefined && known.seq > seq)) return done();
        const tower = known ?? { seq, waiting: new Set() };
        const ring = (): void => {
          signal.removeEventListener("abort", ring);
          tower.waiting.delete(ring);
          done();
        };
        tower.waiting.add(ring);
        signal.addEventListener("abort", ring, { once: true });
        if (known !== undefined) return;
        towers.set(tenantId, tower);
        void keep(door, tenantId, tower).finally(() => towers.delete(tenantId));
      }),
  };
}

/** Asks as long as somebody waits. A ledger that is away rings nobody: whoever waits goes on waiting. */
async function keep({ ports, bounds, closing }: Door, tenantId: TenantId, tower: Tower): Promise<void> {
  let idle = 0;
  // Between two waits of a watcher nobody waits for a moment; the tower stands a little longer than that.
  while (!closing.aborted && (tower.waiting.size > 0 || idle < 2)) {
    idle = tower.waiting.size > 0 ? 0 : idle + 1;
    await sleep(bounds.pollMs, undefined, { signal: closing }).catch(() => undefined);
    if (closing.aborted) return;
    try {
      const { seq } = await ports.ledger.changes(tenantId, "now", 1);
      if (seq <= tower.seq) continue;
      tower.seq = seq;
      for (const ring of [...tower.waiting]) ring();
    } catch (error) {
      ports.log.warn("changes", { tenant: tenantId, what: String(error) });
    }
  }
}
