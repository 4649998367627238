import type { Json } from "../core/json.ts";

/** One whole answer of a provider. */
export interface Reply {
  /** HTTP's, or what the transport documents as its own: 200 for a plain yes. */
  readonly status: number;
  /** By lower-case name; repeated ones joined by ", ". Empty where the transport has none. */
  readonly headers: Readonly<Record<string, string>>;
  /** Absent when there is none, or none that has exactly one reading as JSON. */
  readonly body?: Json;
  /** The body as it came, where it is text. */
  readonly text?: string;
  /** Why a body that is there is not JSON. */
  readonly unreadable?: string;
  /** When the whole answer was here, in milliseconds since 1970: dates in it are read against this. */
  readonly at: number;
}

/** Bytes may have left, and no whole answer came. */
export interface Silence {
  readonly kind: "silent";
  readonly cause: string;
  /** What of the answer was seen before it broke off. */
  readonly status?: number;
  /** Where it fell silent: one of the transport's phases. */
  readonly phase?: string;
}

/** What became of one message. */
export type Exchange =
  | { readonly kind: "answered"; readonly reply: Reply }
  /** Not one byte of it left. */
  | { readonly kind: "unsent"; readonly why: string }
  | Silence;

/** The terms on which one message is sent, once. */
export interface Sending {
  /** Aborted: nothing leaves any more, and what has left is `silent`. */
  readonly signal: AbortSignal;
  /** The message is aborted at this age. */
  readonly lifeMs: number;
  /** Asked immediately before the first byte leaves. A no is `unsent`. */
  readonly gate: () => boolean;
  /** On a connection of its own, closed with the answer. */
  readonly fresh: boolean;
  /**
   * How long the contract counts on the provider to recognize a repeat, where it would execute it afterwards. A line that can ask the
   * provider how long it really does sends nothing that is counted on for longer: that is `unsent`.
   */
  readonly remembersMs?: number;
  /** Only of a probe: half of the body leaves, then nothing for so long, then the rest. A line that cannot leaves it aside. */
  readonly pauseMs?: number;
  /** A larger answer is cut off, and is `silent`. */
  readonly answerMaxBytes: number;
}
