import type { Instant } from "../core/ids.ts";
import type { ProcessClock } from "../service/ports.ts";

const ASKED_EACH_MS = 60_000;
const JUMP_MS = 1_000;

interface Asked {
  readonly at: Instant;
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/**
 * The database's time, by which every deadline is judged, as this process can know it: asked once a minute, and again when one of the
 * process's own clocks was stopped or set. So a host whose clock is wrong neither takes a token that has ended nor refuses a good one.
 */
export function ledgerTime(
  now: () => Promise<Instant>,
  clock: Pick<ProcessClock, "monotonicMs" | "wallMs">,
): () => Promise<Instant> {
  let asked: Asked | undefined;
  let asking: Promise<void> | undefined;

  const passed = (since: Asked): { readonly ms: number; readonly jumped: boolean } => {
    const monotonic = clock.monotonicMs() - since.monotonicMs;
    const wall = clock.wallMs() - since.wallMs;
    return { ms: Math.max(0, monotonic), jumped: Math.abs(wall - monotonic) > JUMP_MS };
  };
  const ask = async (): Promise<void> => {
    // Before the question: what passes on the way counts as passed.
    const [monotonicMs, wallMs] = [clock.monotonicMs(), clock.wallMs()];
    asked = { at: await now(), monotonicMs, wallMs };
  };
  return async () => {
    const before = asked === undefined ? undefined : passed(asked);
    if (before === undefined || before.jumped || before.ms > ASKED_EACH_MS) {
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      await asking;
    }
    if (asked === undefined) throw new Error("the database told its time");
    return asked.at + passed(asked).ms;
  };
}
