import type { Sending } from "./exchange.ts";

/** The time was over first. */
export const LATE = Symbol("late");

/** The end of one message's life, or of the caller's patience, whichever comes first. */
export interface Deadline {
  /** What the work comes to, or LATE. The work itself goes on: whoever began it ends it. */
  race<Value>(work: Promise<Value>): Promise<Value | typeof LATE>;
  /** At least 1 while it is not over. */
  leftMs(): number;
  /** Stops waiting for it. */
  end(): void;
}

/** Begins to count now. */
export function deadline({ signal, lifeMs }: Pick<Sending, "signal" | "lifeMs">): Deadline {
  const until = performance.now() + lifeMs;
  let over = (): void => undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    over = () => resolve(LATE);
  });
  const timer = setTimeout(over, lifeMs);
  if (signal.aborted) over();
  signal.addEventListener("abort", over, { once: true });
  return {
    // The deadline stands first: what is late is late, also when both are here.
    race: (work) => Promise.race([late, work]),
    leftMs: () => Math.max(1, Math.ceil(until - performance.now())),
    end: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
    },
  };
}

export const UNSENT_LATE = { kind: "unsent", why: "its time was over before it was sent" } as const;
export const UNSENT_GATE = { kind: "unsent", why: "the send gate was closed" } as const;
export const SILENT_LATE = {
  kind: "silent",
  cause: "no whole answer came within the message's life",
  phase: "sent",
} as const;

/** An error of a client library in its own words. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as Error & { readonly code?: unknown }; // Node's errors have one.
  const words = error.message === "" ? error.name : error.message;
  return typeof code === "string" && !words.includes(code) ? `${code}: ${words}` : words;
}
