import type { Client } from "../../client.ts";
import type { Simulated } from "../../connectors/simulated/provider.ts";
import type { Beat, Cast, Telling } from "./scene.ts";
import type { StockEntry } from "./stage.ts";
import { effectBeat, eventBeats, RANK, type RankedBeat, requestBeat } from "./wording.ts";

/** What a scene watches while it plays. */
export interface Watched {
  readonly agent: Client;
  /** A provider across HTTP, and what of its traffic belongs to this scene. */
  readonly provider?: { readonly cast: Cast; readonly simulated: Simulated; readonly item: string };
  /** The journal of the table in our own database. */
  readonly stock?: () => Promise<readonly StockEntry[]>;
}

export interface Feed {
  /** Something that was said on this side, now or at a moment before. */
  say(beat: Omit<Beat, "at"> & { readonly at?: number }): void;
  /** From now on this operation's history is told. */
  follow(operationId: string): void;
  /** Tells all that has happened until now, in its order. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 30;
/** Held back this long, so that what happened earlier and is heard of later still comes first. */
const HOLD_BACK_MS = 80;

/** Plays something while its feed runs, and tells the rest when it has ended, well or not. */
export async function watching<Result>(
  watched: Watched,
  telling: Telling,
  play: (feed: Feed) => Promise<Result>,
): Promise<Result> {
  const running = feed(watched, telling);
  try {
    return await play(running);
  } finally {
    await running.stop();
  }
}

/** Tells what agents, Writ and providers really did, from Writ's history and the providers' own books, in the order of its times. */
function feed(watched: Watched, telling: Telling): Feed {
  const waiting: RankedBeat[] = [];
  const fresh = reader();
  let following: readonly string[] = [];
  let ended = false;
  const look = async (): Promise<void> => {
    const news = await newsOf(watched, following, fresh);
    waiting.push(...news);
  };
  const tell = (before: number): void => {
    inOneCommit(waiting);
    waiting.sort((one, other) => one.at - other.at || one.rank - other.rank);
    const kept = waiting.findIndex(({ at }) => at > before);
    for (const { rank: _rank, ...beat } of waiting.splice(0, kept < 0 ? waiting.length : kept))
      telling.beat(beat);
  };
  const loop = async (): Promise<void> => {
    while (!ended) {
      await look();
      tell(Date.now() - HOLD_BACK_MS);
      await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
    }
  };
  const running = loop();
  // Heard when the feed is stopped; until then it must not end the process.
  running.catch(() => undefined);
  const all = async (): Promise<void> => {
    await look();
    tell(Number.POSITIVE_INFINITY);
  };
  return {
    say: (beat) => void waiting.push({ at: Date.now(), rank: RANK.said, ...beat }),
    follow: (id) => {
      if (!following.includes(id)) following = [...following, id];
    },
    caughtUp: all,
    stop: async () => {
      ended = true;
      await running;
      await all();
    },
  };
}

/** What is new in a book since it was last read. */
type Reader = <Item>(book: string, items: readonly Item[]) => readonly Item[];

function reader(): Reader {
  const read = new Map<string, number>();
  return (book, items) => {
    const known = read.get(book) ?? 0;
    // Two looks may overlap; the older answer teaches nothing.
    read.set(book, Math.max(known, items.length));
    return items.slice(known);
  };
}

async function newsOf(
  { agent, provider, stock }: Watched,
  following: readonly string[],
  fresh: Reader,
): Promise<readonly RankedBeat[]> {
  const news: RankedBeat[] = [];
  for (const id of following) {
    const { events } = await agent.events(id);
    news.push(...eventBeats(events, events.length - fresh(id, events).length, provider?.cast));
  }
  if (stock !== undefined) news.push(...fresh("stock", await stock()).map(stockBeat));
  if (provider === undefined) return news;
  const { cast, simulated, item } = provider;
  const ours = (operation: string | null, path = ""): boolean =>
    (operation !== null && following.includes(operation)) || path.endsWith(`/${item}`);
  const requests = simulated.requests().filter(({ operation, path }) => ours(operation, path));
  const effects = simulated.journal().filter(({ operation, by }) => by === "request" && ours(operation));
  return [
    ...news,
    ...fresh("requests", requests).map((request) => requestBeat(cast, request)),
    ...fresh("effects", effects).map((effect) => effectBeat(cast, effect)),
  ];
}

/** What is one commit has several times, each of its own statement: the row is told before what was learned from it. */
function inOneCommit(waiting: RankedBeat[]): void {
  for (const [index, beat] of waiting.entries()) {
    if (beat.from !== "stock") continue;
    const learned = waiting.find(({ rank, at }) => rank === RANK.learned && at <= beat.at);
    if (learned !== undefined) waiting[index] = { ...beat, at: learned.at };
  }
}

function stockBeat({ at, available, version }: StockEntry): RankedBeat {
  return {
    at,
    from: "stock",
    says: `one row changed: ${available} available, version ${version}`,
    mark: "effect",
    rank: RANK.done,
  };
}
