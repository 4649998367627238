import { canonicalJson, type Json, type JsonObject } from "./json.ts";

/** One member that differs, by its JSON Pointer (RFC 6901). Absent is not there. */
export interface MemberChange {
  readonly at: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** What changes about one thing that is offered. */
export interface OfferChange {
  readonly what: "tool" | "provider";
  readonly name: string;
  readonly how: "added" | "removed" | "changed";
  /** Of a change, where the two can be compared. */
  readonly members: readonly MemberChange[];
}

/** What is offered: each tool with its contract, and the digest of each provider's settings. */
export interface Offered {
  readonly tools: Readonly<Record<string, JsonObject>>;
  readonly settings: Readonly<Record<string, string>>;
}

const MEMBERS_MAX = 200;

/** What changes between two offers, in the order of names. */
export function offerDiff(before: Offered, after: Offered): readonly OfferChange[] {
  const tools = changesOf("tool", before.tools, after.tools);
  const providers = changesOf("provider", before.settings, after.settings);
  return [...tools, ...providers];
}

function changesOf(
  what: OfferChange["what"],
  before: Readonly<Record<string, Json>>,
  after: Readonly<Record<string, Json>>,
): readonly OfferChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name): readonly OfferChange[] => {
    const was = Object.hasOwn(before, name) ? before[name] : undefined;
    const is = Object.hasOwn(after, name) ? after[name] : undefined;
    if (was === undefined) return [{ what, name, how: "added", members: [] }];
    if (is === undefined) return [{ what, name, how: "removed", members: [] }];
    if (canonicalJson(was) === canonicalJson(is)) return [];
    // A digest tells that settings differ, and nothing of what they are.
    return [{ what, name, how: "changed", members: what === "provider" ? [] : memberChanges(was, is) }];
  });
}

/** Where two values differ, as deep as both are objects; a list is one value. At most 200. */
function memberChanges(before: Json, after: Json): readonly MemberChange[] {
  const changes: MemberChange[] = [];
  compare("", before, after, changes);
  return changes;
}

function compare(
  at: string,
  before: Json | undefined,
  after: Json | undefined,
  changes: MemberChange[],
): void {
  if (changes.length >= MEMBERS_MAX) return;
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    for (const name of names) {
      const place = `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      compare(place, before[name], after[name], changes);
    }
    return;
  }
  if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after)) return;
  changes.push({
    at,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  });
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== undefined && value !== null && typeof value === "object" && !Array.isArray(value);
}
