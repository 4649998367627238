import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import type { JsonObject } from "../../core/json.ts";

/** One effect at the provider. Counting these is the only way to know how often something happened. */
export interface Effect {
  readonly n: number;
  readonly at: number;
  readonly kind: "item" | "order";
  /** `warehouse/item`, or the order's id. */
  readonly resource: string;
  /** The operation that the request named: in its body's marker, its header or its key. */
  readonly operation: string | null;
  readonly key: string | null;
  readonly digest: string | null;
  readonly version: number;
  readonly value: JsonObject;
  /** `setup` is how a test lays the table; `somebody else` is another client of the provider. */
  readonly by: "request" | "setup" | "somebody else";
  /** The number of the request that caused it. */
  readonly request: number | null;
}

/** An answer that a key replays. */
export interface StoredAnswer {
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly body: JsonObject;
}

/** One line of the journal. An effect and the answer of its key are one line: no crash comes between them. */
export type Entry =
  | { readonly type: "effect"; readonly effect: Effect; readonly answer?: StoredAnswer }
  | { readonly type: "answer"; readonly at: number; readonly answer: StoredAnswer }
  | { readonly type: "tombstone"; readonly at: number; readonly operation: string };

/** Append-only. What `append` returned from is on disk, when there is a file. */
export interface Journal {
  readonly entries: readonly Entry[];
  append(entry: Entry): void;
  close(): void;
}

/** A journal in memory, or in a file that survives a killed process. */
export function openJournal(path?: string): Journal {
  const entries: Entry[] = [];
  if (path === undefined)
    return { entries, append: (entry) => void entries.push(entry), close: () => undefined };
  const kept = existsSync(path) ? wholeLines(readFileSync(path)) : { lines: [], bytes: 0 };
  for (const line of kept.lines) entries.push(JSON.parse(line) as Entry); // We wrote these lines ourselves.
  const file = openSync(path, "a");
  // A line that a kill cut short was never answered to anybody.
  ftruncateSync(file, kept.bytes);
  return {
    entries,
    append(entry) {
      writeSync(file, `${JSON.stringify(entry)}\n`);
      fsyncSync(file);
      entries.push(entry);
    },
    close: () => closeSync(file),
  };
}

function wholeLines(bytes: Buffer): { readonly lines: readonly string[]; readonly bytes: number } {
  const end = bytes.lastIndexOf("\n") + 1;
  const text = bytes.subarray(0, end).toString("utf8");
  return { lines: text.split("\n").filter((line) => line !== ""), bytes: end };
}
