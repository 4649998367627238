import { RolledBack } from "./fault.ts";
import type { Line } from "./line.ts";

/** More would not get a line within any caller's patience. */
const WAITING_MAX = 1_000;

/** A few lines, each lent to one holder at a time, in the order of asking. */
export class Holds {
  readonly #lines: readonly Line[];
  readonly #free: Line[];
  readonly #waitMs: number;
  readonly #waiting = new Set<(line: Line) => void>();
  readonly #lent = new Set<Promise<unknown>>();
  #closed = false;

  constructor(lines: readonly Line[], waitMs: number) {
    this.#lines = lines;
    this.#free = [...lines];
    this.#waitMs = waitMs;
  }

  /** Rejects with RolledBack when no line comes free in time: `use` did not begin. */
  lend<T>(use: (line: Line) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new RolledBack("the database is closed", { retryable: false }));
    if (this.#waiting.size >= WAITING_MAX)
      return Promise.reject(
        new RolledBack(`${WAITING_MAX} callers wait for a writer connection`, { retryable: true }),
      );
    const lent = this.#lend(use);
    this.#lent.add(lent);
    const forget = (): boolean => this.#lent.delete(lent);
    lent.then(forget, forget);
    return lent;
  }

  /** Waits for every holder. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#lent);
    await Promise.all(this.#lines.map((line) => line.close()));
  }

  async #lend<T>(use: (line: Line) => Promise<T>): Promise<T> {
    const line = this.#free.pop() ?? (await this.#wait());
    try {
      return await use(line);
    } finally {
      this.#giveBack(line);
    }
  }

  #wait(): Promise<Line> {
    return new Promise((resolve, reject) => {
      const take = (line: Line): void => {
        clearTimeout(timer);
        resolve(line);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(take);
        reject(new RolledBack(`no writer connection was free for ${this.#waitMs} ms`, { retryable: true }));
      }, this.#waitMs);
      this.#waiting.add(take);
    });
  }

  #giveBack(line: Line): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free.push(line);
    else {
      this.#waiting.delete(next);
      next(line);
    }
  }
}
