import { Problem } from "../../core/problem.ts";

/** What the simulated provider keeps. Nothing is kept that is not named here. */
export interface Guarantees {
  /** It remembers `Idempotency-Key` on `POST /orders`. */
  readonly key?: {
    /** `null`: for ever. */
    readonly retentionMs: number | null;
    readonly after: "executes" | "refuses";
    /** The same key with other content; real providers do all three. */
    readonly mismatch?: "refuses" | "replays" | "executes";
  };
  /**
   * `strong`: `If-Match` is compared and set in one step. `ignored`: a tag is shown, and any condition passes. `weak`: weak tags are shown
   * and accepted. `applies_then_412`: the write is done and then denied.
   */
  readonly etag?: "strong" | "ignored" | "weak" | "applies_then_412";
  /** A proxy before it that changes tags of reads: of compressed answers (when the client accepts any), or of all. */
  readonly proxy?: {
    readonly does: "weakens" | "suffixes" | "strips";
    readonly when: "compressed" | "always";
  };
  /** A document keeps the `writ` member that it was written with. */
  readonly marker?: boolean;
  /** `GET /operations/{id}` shows effects, this long after they happened. */
  readonly lookup?: { readonly lagMs: number };
  /** `PUT /operations/{id}/tombstone` makes a later effect of that operation fail. */
  readonly tombstone?: boolean;
  /** `POST /orders` answers 202 and does the work this much later. */
  readonly accepts?: { readonly afterMs: number };
}

const MEMBERS = ["key", "etag", "proxy", "marker", "lookup", "tombstone", "accepts"];

/** The guarantees as somebody wrote them on a command line. A misspelt one must not become a missing one. */
export function parseGuarantees(text: string): Guarantees {
  const value: unknown = JSON.parse(text);
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new Problem("invalid", "guarantees are an object");
  const stranger = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (stranger !== undefined)
    throw new Problem("invalid", `"${stranger}" is no guarantee; ${MEMBERS.join(", ")} are`);
  return value as Guarantees; // Names are checked; a wrong value inside is a mistake of whoever drives the simulator.
}
