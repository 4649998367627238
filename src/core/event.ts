import { digestText } from "./digest.ts";
import type { Instant } from "./ids.ts";
import type { JsonObject } from "./json.ts";

export type EventType =
  | "proposed"
  | "authorized"
  | "reopened"
  | "denied"
  | "approved"
  | "withdrawn"
  | "claimed"
  | "confirmed"
  | "refused"
  | "absent"
  | "lost"
  | "lease_ended"
  | "looked_up"
  | "ruled"
  | "barring"
  | "barred"
  | "attention"
  | "alarm";

/** An event before the ledger gives it its number, its time and its predecessor. */
export interface EventDraft {
  readonly type: EventType;
  /** Who made it happen: `principal`, `worker` and the like, by id. */
  readonly actor: JsonObject;
  readonly data: JsonObject;
}

/** An event as stored: `body` is the exact text, `hash` the name of that text. */
export interface StoredEvent {
  readonly n: number;
  readonly body: string;
  readonly hash: string;
}

const EVENT_DOMAIN = "writ.event.v1";

function eventHash(body: string): string {
  return digestText(EVENT_DOMAIN, body);
}

/** Numbers and chains the events of a commit whose moment is already known; elsewhere the database does the same. */
export function chainEvents(
  drafts: readonly EventDraft[],
  at: Instant,
): readonly (StoredEvent & { readonly type: EventType })[] {
  const time = new Date(at).toISOString();
  let prev: string | null = null;
  return drafts.map((draft, index) => {
    const n = index + 1;
    const link = prev === null ? "null" : `"${prev}"`;
    const body = `{"n":${n},"type":"${draft.type}","at":"${time}","actor":${JSON.stringify(draft.actor)},"data":${JSON.stringify(draft.data)},"prev":${link}}`;
    prev = eventHash(body);
    return { n, type: draft.type, body, hash: prev };
  });
}

/** Undefined when every event names its predecessor by hash, from the first on; else the first break, in words. */
export function brokenLink(events: readonly StoredEvent[]): string | undefined {
  let prev: string | null = null;
  for (const [index, event] of events.entries()) {
    const body = JSON.parse(event.body) as { n?: unknown; prev?: unknown };
    if (event.n !== index + 1 || body.n !== event.n) return `event ${index + 1} is missing or out of order`;
    if (eventHash(event.body) !== event.hash) return `event ${event.n} was changed after it was stored`;
    if (body.prev !== prev) return `event ${event.n} does not follow the event before it`;
    prev = event.hash;
  }
  return undefined;
}
