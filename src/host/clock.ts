import type { ProcessClock } from "../service/ports.ts";

/** The process's own clocks. */
export const processClock: ProcessClock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((done) => {
      if (signal?.aborted === true) return done();
      const timer = setTimeout(finish, ms);
      signal?.addEventListener("abort", finish, { once: true });
      function finish(): void {
        clearTimeout(timer);
        signal?.removeEventListener("abort", finish);
        done();
      }
    }),
};
