import { processClock } from "../../src/host/clock.ts";
import type { ProcessClock } from "../../src/service/ports.ts";

/** The process's own clocks, which a test moves apart: a pause moves both, a suspended machine only the wall's. */
export interface MovableProcessClock extends ProcessClock {
  pause(ms: number): void;
  suspend(ms: number): void;
}

export function movableProcessClock(): MovableProcessClock {
  const ahead = { monotonicMs: 0, wallMs: 0 };
  return {
    monotonicMs: () => processClock.monotonicMs() + ahead.monotonicMs,
    wallMs: () => processClock.wallMs() + ahead.wallMs,
    sleep: (ms, signal) => processClock.sleep(ms, signal),
    pause: (ms) => {
      ahead.monotonicMs += ms;
      ahead.wallMs += ms;
    },
    suspend: (ms) => {
      ahead.wallMs += ms;
    },
  };
}
