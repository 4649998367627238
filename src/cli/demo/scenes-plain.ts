import { asks, setAvailable } from "./calls.ts";
import { watching } from "./feed.ts";
import { receiptSays } from "./receipt.ts";
import type { Count, Ending, Played, Scene, Telling } from "./scene.ts";
import type { Stage } from "./stage.ts";

/** A write that goes well, in our own database and across HTTP. */
export const normalWrite: Scene = {
  n: 1,
  title: "A normal write",
  shows: "Decided, executed once, and receipted: in Writ's own PostgreSQL, and at a shop across HTTP.",
  play: async (stage, telling) => {
    await stage.stockItem("item_1");
    stage.shopItem("item_1");
    const stock = await writeWell(stage, telling, "stock");
    telling.gap();
    const shop = await writeWell(stage, telling, "shop");
    return joined(stock, shop);
  },
};

async function writeWell(stage: Stage, telling: Telling, provider: "stock" | "shop"): Promise<Played> {
  const item = "item_1";
  const wish =
    provider === "stock"
      ? setAvailable("inventory.set_available", item, 18, "42")
      : setAvailable("shop.set_available", item, 18, '"v42"');
  const watched = watchedAt(stage, provider, item);
  return watching(watched, telling, async (feed) => {
    const operation = await asks(feed, stage.agent, { ...wish, intentKey: `story-1-${provider}` });
    await feed.caughtUp();
    const id = operation?.operationId;
    if (id !== undefined) feed.say(await receiptSays(stage, id));
    return {
      operations: id === undefined ? [] : [id],
      counts: [await countAt(stage, provider, item, 1)],
      endings: [
        { what: `the write at the ${provider}`, is: operation?.state ?? "refused", expected: "succeeded" },
      ],
    };
  });
}

/** Somebody else was faster. */
export const staleVersion: Scene = {
  n: 3,
  title: "Version 42 against 43",
  shows: "A decision made on what is no longer true is not executed: the agent reads, and decides again.",
  play: async (stage, telling) => {
    await stage.stockItem("item_3");
    stage.shopItem("item_3");
    telling.aside("Meanwhile another program changes both: version 43.");
    await stage.stockChangedByOthers("item_3");
    stage.shop.writeAsSomebodyElse("wh_1/item_3", 9);
    const stock = await writeStale(stage, telling, "stock");
    telling.gap();
    return joined(stock, await writeStale(stage, telling, "shop"));
  },
};

async function writeStale(stage: Stage, telling: Telling, provider: "stock" | "shop"): Promise<Played> {
  const item = "item_3";
  const wish =
    provider === "stock"
      ? setAvailable("inventory.set_available", item, 18, "42")
      : setAvailable("shop.set_available", item, 18, '"v42"');
  const intentKey = `story-3-${provider}`;
  return watching(watchedAt(stage, provider, item), telling, async (feed) => {
    await asks(feed, stage.agent, { ...wish, intentKey });
    await feed.caughtUp();
    const operation = await named(stage, intentKey);
    const ending: Ending = {
      what: `the write at the ${provider}`,
      is: operation?.reason ?? operation?.state ?? "not stored",
      expected: "precondition_failed",
    };
    return {
      operations: operation === undefined ? [] : [operation.operationId],
      counts: [await countAt(stage, provider, item, 0)],
      endings: [ending],
    };
  });
}

/** One key, two contents. */
export const keyReused: Scene = {
  n: 4,
  title: "The same key with other arguments",
  shows: "A key names one intent. Another content under it is refused, and nothing of it is stored.",
  play: async (stage, telling) => {
    const item = "item_4";
    await stage.stockItem(item);
    const intentKey = "story-4";
    return watching(watchedAt(stage, "stock", item), telling, async (feed) => {
      const first = await asks(feed, stage.agent, {
        ...setAvailable("inventory.set_available", item, 18, "42"),
        intentKey,
      });
      await feed.caughtUp();
      const other = setAvailable("inventory.set_available", item, 81, "42");
      const second = await asks(feed, stage.agent, {
        body: other.body,
        says: `the same key, but now to 81`,
        intentKey,
      });
      const third = await asks(feed, stage.agent, {
        ...setAvailable("inventory.set_available", item, 18, "42"),
        says: "the same key with the first arguments",
        intentKey,
      });
      return {
        operations: first === undefined ? [] : [first.operationId],
        counts: [await countAt(stage, "stock", item, 1)],
        endings: [
          { what: "the first call", is: first?.state ?? "refused", expected: "succeeded" },
          { what: "the same key, other arguments", is: second?.state ?? "refused", expected: "refused" },
          { what: "the same key, first arguments", is: third?.how ?? "refused", expected: "replayed" },
        ],
      };
    });
  },
};

export function watchedAt(stage: Stage, provider: "stock" | "shop", item: string) {
  return provider === "stock"
    ? { agent: stage.agent, stock: () => stage.stockJournal(item) }
    : { agent: stage.agent, provider: { cast: provider, simulated: stage.shop, item } };
}

/** From the provider's own journal; what others wrote there is theirs. */
export async function countAt(
  stage: Stage,
  provider: "stock" | "shop",
  item: string,
  expected: number,
): Promise<Count> {
  const resource = `wh_1/${item}`;
  const counted =
    provider === "stock"
      ? (await stage.stockJournal(item)).length
      : stage.shop.journal().filter((effect) => effect.resource === resource && effect.by === "request")
          .length;
  return { provider, resource, counted, expected };
}

/** The agent's operation under this key, whatever became of it. */
async function named(stage: Stage, intentKey: string) {
  const { operations } = await stage.agent.list({ limit: 100 });
  return operations.find((operation) => operation.intentKey === intentKey);
}

function joined(...parts: readonly Played[]): Played {
  return {
    operations: parts.flatMap((part) => part.operations),
    counts: parts.flatMap((part) => part.counts),
    endings: parts.flatMap((part) => part.endings),
  };
}
