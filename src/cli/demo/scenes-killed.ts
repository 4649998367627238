import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { type Client, writClient } from "../../client.ts";
import { asks, asksAgain, setAvailable } from "./calls.ts";
import { type Feed, watching } from "./feed.ts";
import type { Played, Scene } from "./scene.ts";
import { countAt, watchedAt } from "./scenes-plain.ts";
import type { Stage } from "./stage.ts";

/** A process dies between the effect and the receipt. A real one, killed as nothing can prevent. */
export const killedWorker: Scene = {
  n: 6,
  title: "A worker is killed between effect and receipt",
  shows: "What it had claimed stands in the ledger. Another process asks the provider, and finishes it.",
  needsVictim: true,
  play: async (stage, telling) => {
    const item = "item_6";
    stage.shopItem(item);
    const { child, url } = await stage.victim();
    telling.aside(
      `A second Writ runs as process ${child.pid}. The shop will apply its write and hold the answer back.`,
    );
    stage.shop.fault("hang_after", { match: { method: "PUT", path: `/items/wh_1/${item}` } });
    const victim = writClient({ url, token: stage.agentToken, triesMax: 1 });
    try {
      return await watching(watchedAt(stage, "shop", item), telling, (feed) =>
        killAndFinish(stage, feed, { item, child, victim }),
      );
    } finally {
      child.kill("SIGKILL");
    }
  },
};

interface Crime {
  readonly item: string;
  readonly child: ChildProcess;
  readonly victim: Client;
}

async function killAndFinish(stage: Stage, feed: Feed, { item, child, victim }: Crime): Promise<Played> {
  const wish = { ...setAvailable("shop.set_available", item, 18, '"v42"'), intentKey: "story-6" };
  const asking = asks(feed, victim, {
    ...wish,
    says: `${wish.says} (to process ${child.pid})`,
    waitSeconds: 20,
  });
  const id = await appliedAt(stage, item);
  feed.follow(id);
  const gone = once(child, "exit");
  const at = Date.now();
  child.kill("SIGKILL");
  const [, signal] = await gone;
  feed.say({
    at,
    from: "Writ",
    says: `process ${child.pid} is killed (${String(signal)}) while it waits for the answer`,
    mark: "refused",
  });
  await asking;
  const before = await asks(feed, stage.agent, {
    ...wish,
    says: `the same again, under the same key (to process ${process.pid})`,
    waitSeconds: 0,
  });
  const last = await asksAgain(feed, stage.agent, id);
  const explanation = await stage.agent.explain(id);
  return {
    operations: [id],
    counts: [await countAt(stage, "shop", item, 1)],
    endings: [
      { what: "the killed process", is: String(signal), expected: "SIGKILL" },
      { what: "the agent's retry", is: before?.how ?? "refused", expected: "replayed" },
      { what: "the operation", is: last.state, expected: "succeeded" },
    ],
    explanation,
  };
}

const APPLIED_WITHIN_MS = 10_000;

/** The operation whose effect stands in the shop's journal now. */
async function appliedAt({ shop }: Stage, item: string): Promise<string> {
  const giveUpAt = Date.now() + APPLIED_WITHIN_MS;
  for (;;) {
    const effect = shop.journal().find(({ resource, by }) => resource === `wh_1/${item}` && by === "request");
    if (effect?.operation !== undefined && effect.operation !== null) return effect.operation;
    if (Date.now() > giveUpAt)
      throw new Error("the shop did not apply the write of the process that was to be killed");
    await new Promise((done) => setTimeout(done, 10));
  }
}
