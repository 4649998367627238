import { asks, asksAgain, setAvailable } from "./calls.ts";
import { type Feed, watching } from "./feed.ts";
import type { Played, Scene } from "./scene.ts";
import { countAt, watchedAt } from "./scenes-plain.ts";
import type { Stage } from "./stage.ts";
import { answerSays } from "./wording.ts";

/** The effect happened and its answer did not arrive. */
export const lostAnswer: Scene = {
  n: 2,
  title: "The answer is lost after the effect",
  shows: "The agent tries again, as agents do. The change is there once, and Writ finds out that it is.",
  play: async (stage, telling) => {
    const item = "item_2";
    stage.shopItem(item);
    telling.aside("The shop will apply the write and break the connection before it answers.");
    stage.shop.fault("drop_after", { match: { method: "PUT", path: `/items/wh_1/${item}` } });
    const wish = { ...setAvailable("shop.set_available", item, 18, '"v42"'), intentKey: "story-2" };
    return watching(watchedAt(stage, "shop", item), telling, async (feed) => {
      const first = await asks(feed, stage.agent, wish);
      const again = await asks(feed, stage.agent, { ...wish, says: "the same again, under the same key" });
      const id = first?.operationId ?? again?.operationId;
      const last = id === undefined ? undefined : await asksAgain(feed, stage.agent, id);
      return {
        operations: id === undefined ? [] : [id],
        counts: [await countAt(stage, "shop", item, 1)],
        endings: [
          { what: "the first answer", is: first?.state ?? "refused", expected: "unknown" },
          { what: "the agent's retry", is: again?.how ?? "refused", expected: "replayed" },
          { what: "the operation", is: last?.state ?? "lost", expected: "succeeded" },
        ],
      };
    });
  },
};

/** Nothing to ask, and no repeat that would be safe. */
export const noGuarantees: Scene = {
  n: 5,
  title: "A provider that promises nothing",
  shows:
    "No key, no version, nothing to ask: Writ sends once, says that it does not know, and a person looks.",
  play: async (stage, telling) => {
    const item = "bolt";
    stage.kiosk.setItem(item, 20);
    telling.aside("The kiosk will take the order and break the connection before it answers.");
    stage.kiosk.fault("drop_after", { match: { method: "POST" } });
    const watched = {
      agent: stage.agent,
      provider: { cast: "kiosk" as const, simulated: stage.kiosk, item },
    };
    return watching(watched, telling, (feed) => orderInDoubt(stage, feed, item));
  },
};

async function orderInDoubt(stage: Stage, feed: Feed, item: string): Promise<Played> {
  const wish = {
    body: { tool: "kiosk.order", arguments: { item, quantity: 3 } },
    says: "kiosk.order 3 × bolt",
    intentKey: "story-5",
  };
  const first = await asks(feed, stage.agent, wish);
  await asks(feed, stage.agent, { ...wish, says: "the same again, under the same key" });
  await feed.caughtUp();
  const id = first?.operationId ?? "";
  const { digest, attention } = await stage.person.get(id);
  // What a person would see in the kiosk's own list of orders.
  const order = stage.kiosk.effectsOf(id).find(({ kind }) => kind === "order")?.resource;
  feed.say({ from: "person", says: `looks into the kiosk's orders: ${order ?? "nothing"} is there` });
  feed.say({
    from: "person",
    to: "Writ",
    says: `rules that it was applied, with ${order ?? "nothing"} as evidence`,
  });
  const ruled = await stage.person.resolve(id, {
    finding: order === undefined ? "absent" : "confirmed",
    digest,
    evidence: { reference: order ?? "the list of orders", note: "seen in the kiosk's list of orders" },
  });
  await feed.caughtUp();
  feed.say(answerSays(ruled));
  const sent = stage.kiosk
    .requests()
    .filter((request) => request.operation === id && request.method === "POST");
  return {
    operations: [id],
    counts: [{ provider: "kiosk", resource: item, counted: stage.kiosk.effectsOf(id).length, expected: 1 }],
    endings: [
      { what: "the first answer", is: first?.state ?? "refused", expected: "unknown" },
      { what: "a person", is: attention === undefined ? "not asked" : "asked", expected: "asked" },
      { what: "requests sent", is: String(sent.length), expected: "1" },
      { what: "the operation", is: ruled.state, expected: "succeeded" },
    ],
  };
}
