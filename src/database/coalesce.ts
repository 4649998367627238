/** Lets concurrent callers share a statement and a commit. */
export interface Coalescer<I, O> {
  /** Answers this item; rejects with its own error, or with Overloaded when it was not taken. */
  submit(item: I): Promise<O>;
  /** Items taken and not yet sent. */
  readonly waiting: number;
  /** Takes no more items; resolves when each one that was taken has its answer. */
  close(): Promise<void>;
}

export interface CoalesceOptions<I, O> {
  /** One answer for each item, in the same order; an Error rejects that item only. */
  readonly run: (items: readonly I[]) => Promise<readonly (O | Error)[]>;
  /**
   * Two items that share a key never ride in one batch, nor in two batches at a time: the second is sent when
   * the first has its answer. So the items of one key are done in the order of submit, repeats included.
   */
  readonly keysOf: (item: I) => readonly string[];
  readonly batchMax: number;
  readonly inFlightMax: number;
  readonly waitingMax: number;
  /** Whether the items of a batch that threw are run again one by one. Default: always. */
  readonly alone?: (error: unknown) => boolean;
  /** For an item that threw on its own, `tries` times: milliseconds until it is run again; undefined gives up. */
  readonly again?: (error: unknown, tries: number) => number | undefined;
}

/** The queue is full or closing. The item was not sent: the caller may come again later. */
export class Overloaded extends Error {
  override readonly name = "Overloaded";
}

/**
 * Group commit without a timer: a batch leaves at the end of the turn of the event loop while fewer than
 * `inFlightMax` are under way, else items gather until one returns. A lone caller waits for nobody. The cost of
 * an item does not depend on how many wait.
 */
export function coalesce<I, O>(options: CoalesceOptions<I, O>): Coalescer<I, O> {
  return new Queue(options);
}

interface Entry<I, O> {
  readonly item: I;
  readonly keys: readonly string[];
  readonly resolve: (output: O) => void;
  readonly reject: (error: unknown) => void;
  /** Entries that share a key and stand before this one. */
  ahead: number;
  /** Entries that wait for this one; one entry stands here once for each key that it waits with. */
  readonly behind: Entry<I, O>[];
  tries: number;
}

class Queue<I, O> implements Coalescer<I, O> {
  readonly #options: CoalesceOptions<I, O>;
  /** The last entry of each key that has no answer yet. */
  readonly #last = new Map<string, Entry<I, O>>();
  /** Nothing stands before these: no two of them share a key, nor does one of them with what is in flight. */
  readonly #ready = new Fifo<Entry<I, O>>();
  /** Of batches that threw: each rides alone, before the others. */
  readonly #solo = new Fifo<Entry<I, O>>();
  #waiting = 0;
  #unanswered = 0;
  #inFlight = 0;
  #scheduled = false;
  #closed = false;
  #whenEmpty: (() => void)[] = [];

  constructor(options: CoalesceOptions<I, O>) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting;
  }

  submit(item: I): Promise<O> {
    if (this.#closed) return Promise.reject(new Overloaded("closing: no more items are taken"));
    if (this.#waiting >= this.#options.waitingMax)
      return Promise.reject(new Overloaded(`${this.#waiting} items wait already`));
    return new Promise((resolve, reject) => {
      const keys = [...new Set(this.#options.keysOf(item))];
      this.#waiting += 1;
      this.#unanswered += 1;
      this.#enqueue({ item, keys, resolve, reject, ahead: 0, behind: [], tries: 0 });
    });
  }

  close(): Promise<void> {
    this.#closed = true;
    if (this.#unanswered === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  #enqueue(entry: Entry<I, O>): void {
    for (const key of entry.keys) {
      const before = this.#last.get(key);
      if (before !== undefined) {
        before.behind.push(entry);
        entry.ahead += 1;
      }
      this.#last.set(key, entry);
    }
    if (entry.ahead === 0) this.#ready.push(entry);
    this.#schedule();
  }

  /** The end of the turn, so that callers that were woken together ride together. */
  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= this.#options.inFlightMax) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#inFlight < this.#options.inFlightMax) {
      const batch = this.#nextBatch();
      if (batch.length === 0) return;
      this.#inFlight += 1;
      void this.#fly(batch);
    }
  }

  #nextBatch(): readonly Entry<I, O>[] {
    const solo = this.#solo.shift();
    if (solo !== undefined) return [solo];
    const batch: Entry<I, O>[] = [];
    while (batch.length < this.#options.batchMax) {
      const entry = this.#ready.shift();
      if (entry === undefined) break;
      batch.push(entry);
    }
    this.#waiting -= batch.length;
    return batch;
  }

  async #fly(batch: readonly Entry<I, O>[]): Promise<void> {
    try {
      this.#answerAll(batch, await this.#options.run(batch.map((entry) => entry.item)));
    } catch (error) {
      this.#thrown(batch, error);
    }
    this.#inFlight -= 1;
    this.#schedule();
  }

  #answerAll(batch: readonly Entry<I, O>[], outputs: readonly (O | Error)[]): void {
    // A run that loses count did its work: to run it again would be worse than to say so.
    const broken =
      outputs.length === batch.length ? undefined : new TypeError("run gave one answer too many or few");
    batch.forEach((entry, position) => {
      const output = broken ?? (outputs[position] as O | Error);
      this.#answered(entry, () => (output instanceof Error ? entry.reject(output) : entry.resolve(output)));
    });
  }

  #thrown(batch: readonly Entry<I, O>[], error: unknown): void {
    const [only, second] = batch;
    if (second === undefined) {
      if (only !== undefined) this.#thrownAlone(only, error);
    } else if (this.#options.alone?.(error) ?? true) {
      for (const entry of batch) this.#solo.push(entry);
    } else for (const entry of batch) this.#answered(entry, () => entry.reject(error));
  }

  #thrownAlone(entry: Entry<I, O>, error: unknown): void {
    entry.tries += 1;
    const waitMs = this.#options.again?.(error, entry.tries);
    if (waitMs === undefined) this.#answered(entry, () => entry.reject(error));
    else
      setTimeout(() => {
        this.#solo.push(entry);
        this.#schedule();
      }, waitMs);
  }

  #answered(entry: Entry<I, O>, answer: () => void): void {
    for (const key of entry.keys) if (this.#last.get(key) === entry) this.#last.delete(key);
    for (const next of entry.behind) {
      next.ahead -= 1;
      if (next.ahead === 0) this.#ready.push(next);
    }
    answer();
    this.#unanswered -= 1;
    if (this.#unanswered === 0) for (const wake of this.#whenEmpty.splice(0)) wake();
  }
}

/** Array.shift moves all that remain; this moves nothing, and drops what was taken in large pieces. */
class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
