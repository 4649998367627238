import type { JsonObject } from "../../core/json.ts";
import { Problem } from "../../core/problem.ts";

/** What can go wrong with one request. `…_before` and those without a word for it happen instead of the effect, `…_after` follow it. */
const FAULT_KINDS = [
  /** The connection breaks before the effect. */
  "drop_before",
  /** The effect happens, then the connection breaks. */
  "drop_after",
  /** 503 without the effect. */
  "error_before",
  /** The effect happens, then 500. */
  "error_after",
  /** No effect and no answer; a key stays in flight until the client gives up. */
  "hang",
  /** The effect happens, and no answer comes. */
  "hang_after",
  /** The effect happens after `ms`, also when the client has gone by then. */
  "slow",
  /** The effect happens at once; its answer comes in pieces over `ms`. */
  "slow_body",
  /** The effect happens; half of the answer's body comes, then the connection breaks. */
  "cut_body",
  /** The effect happens; the answer has `bytes` bytes. */
  "big_body",
  /** The effect happens; the answer is not HTTP. */
  "garbage",
  /** 307 to another place of this server, without the effect. */
  "redirect",
  /** 429 with Retry-After, without the effect. */
  "throttle",
  /** 409 "in flight", without the effect. */
  "in_flight",
  /** The answer given here (`status`, `headers`, `body` or `text`), without the effect. */
  "answer",
  /** The effect happens, then the answer given here. */
  "answer_after",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

interface FaultMatch {
  readonly method?: string;
  /** The beginning of the path. */
  readonly path?: string;
  readonly operation?: string;
}

export interface FaultSetting {
  /** How often; once if not said. */
  readonly times?: number | "always";
  readonly match?: FaultMatch;
  readonly ms?: number;
  readonly bytes?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  readonly text?: string;
}

export interface Fault extends FaultSetting {
  readonly kind: FaultKind;
}

export interface Switchboard {
  set(kind: FaultKind, setting?: FaultSetting): void;
  clear(): void;
  /** The fault for this request, if any; it counts as used. A request may bring its own in the header `Writ-Fault`. */
  take(request: {
    readonly method: string;
    readonly path: string;
    readonly operation: string | null;
    readonly asked: string | null;
  }): Fault | undefined;
  readonly waiting: readonly Fault[];
}

export function switchboard(): Switchboard {
  let faults: { readonly fault: Fault; left: number }[] = [];
  return {
    set(kind, setting = {}) {
      const times = setting.times ?? 1;
      faults.push({
        fault: { ...setting, kind },
        left: times === "always" ? Number.POSITIVE_INFINITY : times,
      });
    },
    clear() {
      faults = [];
    },
    take({ method, path, operation, asked }) {
      if (asked !== null) return { kind: faultKind(asked) };
      const entry = faults.find(({ fault: { match = {} } }) => {
        if (match.method !== undefined && match.method !== method) return false;
        if (match.path !== undefined && !path.startsWith(match.path)) return false;
        return match.operation === undefined || match.operation === operation;
      });
      if (entry === undefined) return undefined;
      entry.left -= 1;
      faults = faults.filter(({ left }) => left > 0);
      return entry.fault;
    },
    get waiting() {
      return faults.map(({ fault }) => fault);
    },
  };
}

export function faultKind(word: unknown): FaultKind {
  const kind = FAULT_KINDS.find((candidate) => candidate === word);
  if (kind === undefined)
    throw new Problem("invalid", `"${String(word)}" is no fault; ${FAULT_KINDS.join(", ")} are`);
  return kind;
}
