import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CoalesceOptions, coalesce, Overloaded } from "../../src/database/coalesce.ts";

interface Item {
  readonly id: number;
  readonly keys: readonly string[];
}

type Options = Partial<CoalesceOptions<Item, number>>;

const item = (id: number, ...keys: string[]): Item => ({ id, keys });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Batches that are answered when the test says so. */
function rig(options: Options = {}) {
  const batches: { readonly ids: readonly number[]; answer(): void; fail(error: unknown): void }[] = [];
  const queue = coalesce<Item, number>({
    run: (items) =>
      new Promise((resolve, reject) => {
        const ids = items.map(({ id }) => id);
        batches.push({ ids, answer: () => resolve(ids), fail: reject });
      }),
    keysOf: ({ keys }) => keys,
    batchMax: 3,
    inFlightMax: 2,
    waitingMax: 100,
    ...options,
  });
  return { queue, batches, sent: () => batches.map(({ ids }) => ids) };
}

describe("the coalescer", () => {
  test("a lone item leaves at the end of the turn, and items of one turn ride together", async () => {
    const { queue, batches, sent } = rig();

    const first = queue.submit(item(1));
    await turn();
    const others = [queue.submit(item(2)), queue.submit(item(3))];
    await turn();

    expect(sent()).toEqual([[1], [2, 3]]);
    for (const batch of batches) batch.answer();
    expect(await Promise.all([first, ...others])).toEqual([1, 2, 3]);
  });

  test("items gather while the allowed batches are under way", async () => {
    const { queue, batches, sent } = rig({ inFlightMax: 1 });
    const answers = [queue.submit(item(1))];
    await turn();
    answers.push(...[2, 3, 4, 5].map((id) => queue.submit(item(id))));
    await turn();
    expect(queue.waiting).toBe(4);

    batches[0]?.answer();
    await answers[0];
    await turn();

    expect(sent()).toEqual([[1], [2, 3, 4]]);
    expect(queue.waiting).toBe(1);
  });

  test("the second item of a key is sent when the first has its answer, in the order of submit", async () => {
    const { queue, batches, sent } = rig();
    for (const each of [item(1, "a"), item(2, "a", "b"), item(3, "b"), item(4, "c"), item(5, "a")])
      void queue.submit(each);
    await turn();
    expect(sent()).toEqual([[1, 4]]);

    for (let answered = 0; answered < batches.length; answered++) {
      batches[answered]?.answer();
      await turn();
      await turn();
    }

    expect(sent()).toEqual([[1, 4], [2], [3, 5]]);
  });

  test("an Error among the answers rejects its own item only", async () => {
    const { queue } = rig({
      run: async (items) => items.map(({ id }) => (id === 2 ? new Error("no") : id)),
    });

    const answers = await Promise.allSettled([1, 2, 3].map((id) => queue.submit(item(id))));

    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  test("a batch that throws is run again one by one, and only the culprit is rejected", async () => {
    const runs: number[][] = [];
    const { queue } = rig({
      run: async (items) => {
        runs.push(items.map(({ id }) => id));
        if (items.some(({ id }) => id === 2)) throw new Error("poison");
        return items.map(({ id }) => id);
      },
    });

    const answers = await Promise.allSettled([1, 2, 3].map((id) => queue.submit(item(id))));

    expect(runs).toEqual([[1, 2, 3], [1], [2], [3]]);
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  test("a batch that must not be taken apart rejects as a whole, with its error", async () => {
    const unknown = new Error("unknown");
    const { queue, batches } = rig({ alone: (error) => error !== unknown });
    const answers = Promise.allSettled([1, 2].map((id) => queue.submit(item(id))));
    await turn();

    batches[0]?.fail(unknown);

    expect(await answers).toEqual([1, 2].map(() => ({ status: "rejected", reason: unknown })));
    expect(batches).toHaveLength(1);
  });

  test("an item alone is run again as often as told, and then rejected with its last error", async () => {
    let runs = 0;
    const { queue } = rig({
      run: () => Promise.reject(new Error(`run ${++runs}`)),
      again: (_error, tries) => (tries < 3 ? 1 : undefined),
    });

    await expect(queue.submit(item(1))).rejects.toThrow("run 3");
  });

  test("while an item waits for its repeat, the next one of its key waits behind it", async () => {
    const order: number[] = [];
    const { queue } = rig({
      run: async (items) => {
        order.push(...items.map(({ id }) => id));
        if (order.length === 1) throw new Error("conflict");
        return items.map(({ id }) => id);
      },
      again: () => 5,
    });

    await Promise.all([queue.submit(item(1, "a")), queue.submit(item(2, "a"))]);

    expect(order).toEqual([1, 1, 2]);
  });

  test("a run that loses count is an error of every item, and is not repeated", async () => {
    let runs = 0;
    const { queue } = rig({
      run: async () => {
        runs += 1;
        return [1];
      },
    });

    const answers = await Promise.allSettled([queue.submit(item(1)), queue.submit(item(2))]);

    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(runs).toBe(1);
  });

  test("a full queue refuses the item at once, and takes items again when there is room", async () => {
    const { queue, batches } = rig({ waitingMax: 2, batchMax: 2, inFlightMax: 1 });
    const taken = [queue.submit(item(1)), queue.submit(item(2))];
    await expect(queue.submit(item(3))).rejects.toThrow(Overloaded);
    await turn();

    const next = queue.submit(item(4));
    batches[0]?.answer();
    await Promise.all(taken);
    await turn();
    batches[1]?.answer();

    expect(await next).toBe(4);
  });

  test("close takes no more, and waits for what is queued and in flight", async () => {
    const { queue, batches } = rig({ inFlightMax: 1, batchMax: 1 });
    const answers = [queue.submit(item(1, "a")), queue.submit(item(2, "a"))];
    let closed = false;
    const closing = queue.close().then(() => {
      closed = true;
    });
    await expect(queue.submit(item(3))).rejects.toThrow(Overloaded);
    await turn();
    batches[0]?.answer();
    await turn();
    await turn();
    expect(closed).toBe(false);

    batches[1]?.answer();
    await closing;

    expect(await Promise.all(answers)).toEqual([1, 2]);
  });

  test("every item is answered exactly once, no batch holds a key twice, and the order of a key is kept", async () => {
    await fc.assert(fc.asyncProperty(fc.scheduler(), WORLD, holds), { numRuns: 200 });
  });

  test("a hundred thousand items that wait cost no more each than a thousand", async () => {
    const queue = coalesce<number, number>({
      run: async (items) => items,
      keysOf: (id) => [`key ${id % 50_000}`],
      batchMax: 64,
      inFlightMax: 4,
      waitingMax: 100_000,
    });

    const answers = await Promise.all(Array.from({ length: 100_000 }, (_, id) => queue.submit(id)));

    expect(answers).toHaveLength(100_000);
  });
});

const KEYS = ["a", "b", "c", "d"] as const;
const KEY = fc.constantFrom(...KEYS);
const WORLD = fc.record({
  items: fc.array(fc.record({ keys: fc.array(KEY, { maxLength: 3 }), poison: fc.boolean() }), {
    maxLength: 30,
  }),
  batchMax: fc.integer({ min: 1, max: 5 }),
  inFlightMax: fc.integer({ min: 1, max: 3 }),
});

/** The scheduler of fast-check decides when each run is answered. A poisoned item throws, whoever rides with it. */
async function holds(
  scheduler: fc.Scheduler,
  { items, batchMax, inFlightMax }: typeof WORLD extends fc.Arbitrary<infer T> ? T : never,
): Promise<void> {
  const flying = new Set<string>();
  const done: number[] = [];
  const queue = coalesce<number, number>({
    run: async (ids) => {
      const keys = ids.flatMap((id) => [...new Set(items[id]?.keys)]);
      expect(ids.length).toBeLessThanOrEqual(batchMax);
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys.some((key) => flying.has(key))).toBe(false);
      for (const key of keys) flying.add(key);
      await scheduler.schedule(Promise.resolve());
      for (const key of keys) flying.delete(key);
      if (ids.some((id) => items[id]?.poison)) throw new Error("poison");
      return ids;
    },
    keysOf: (id) => items[id]?.keys ?? [],
    batchMax,
    inFlightMax,
    waitingMax: items.length,
  });
  const answers = items.map(({ poison }, id) =>
    queue
      .submit(id)
      .then(
        (answer) => [answer, false, done.push(id)].slice(0, 2),
        () => [id, true, done.push(id)].slice(0, 2),
      )
      .then((answer) => expect(answer).toEqual([id, poison])),
  );
  await scheduler.waitFor(Promise.all(answers));
  expect([...done].sort((left, right) => left - right)).toEqual(items.map((_, id) => id));
  for (const key of KEYS) {
    const ofKey = done.filter((id) => items[id]?.keys.includes(key));
    expect(ofKey).toEqual([...ofKey].sort((left, right) => left - right));
  }
  await queue.close();
}
