import type { Outcome } from "../core/attempt.ts";
import type { Contract, Match, OutcomeRule, Picks } from "../core/contract.ts";
import { canonicalJson, type Json, type JsonObject, pointed } from "../core/json.ts";
import { asksAnswer, asksPresence, statusMatches } from "../core/match.ts";
import type { Reply, Silence } from "./exchange.ts";
import type { Clean } from "./hygiene.ts";

/** How an answer is read: expected texts with their variables filled in, and texts of the provider made fit to keep. */
export interface Reading {
  /** Undefined when the action has no value for a variable in it: then nothing matches it. */
  readonly bind: (expected: Json) => Json | undefined;
  readonly clean: Clean;
}

/** All conditions that are given hold. A body that has no single reading satisfies none, not even "absent". */
export function matches(match: Match, reply: Reply, { bind }: Pick<Reading, "bind">): boolean {
  if (!asksAnswer(match) || !statusMatches(match, reply.status)) return false;
  for (const [name, expected] of Object.entries(match.headers ?? {})) {
    const wanted = bind(expected);
    if (wanted === undefined || headerOf(reply, name) !== wanted) return false;
  }
  const texts = (match.contains ?? []).map((text) => bind(text));
  // An empty text is in every body, and would decide nothing.
  if (!texts.every((text) => typeof text === "string" && text !== "" && reply.text?.includes(text) === true))
    return false;
  return Object.entries(match.body ?? {}).every(([pointer, expected]) =>
    bodyHolds(pointer, expected, reply, bind),
  );
}

function bodyHolds(pointer: string, expected: Json, reply: Reply, bind: Reading["bind"]): boolean {
  if (reply.body === undefined) return false;
  const value = pointed(reply.body, pointer);
  const presence = asksPresence(expected);
  if (presence !== undefined) return (value !== undefined && value !== null) === presence;
  const wanted = bind(expected);
  return wanted !== undefined && value !== undefined && canonicalJson(value) === canonicalJson(wanted);
}

function headerOf(reply: Reply, name: string): string | undefined {
  const lower = name.toLowerCase();
  return Object.hasOwn(reply.headers, lower) ? reply.headers[lower] : undefined;
}

/** What an attempt learned from an answer: the first rule that matches decides, and what no rule matches is lost. */
export function outcomeOf(contract: Contract, reply: Reply, attempt: number, reading: Reading): Outcome {
  const rule = contract.outcomes.find((candidate) => matches(candidate.when, reply, reading));
  const detail = detailOf(reply, reading.clean);
  if (rule === undefined)
    return {
      kind: "lost",
      cause: `no rule of the contract knows this answer: ${detail}`,
      seen: { status: reply.status },
    };
  return meant(rule, contract, reply, { attempt, detail, reading });
}

interface Proofs {
  readonly clean: Clean;
  readonly proves: (phase: string) => boolean;
}

/** What an attempt learned from silence: nothing, unless the transport proves that nothing can happen and the contract says what that is. */
export function silenceOf(contract: Contract, silence: Silence, { clean, proves }: Proofs): Outcome {
  const { phase, status } = silence;
  const cause = clean(silence.cause);
  const rule =
    phase === undefined
      ? undefined
      : contract.outcomes.find((candidate) => candidate.when.phase?.includes(phase) === true);
  if (phase !== undefined && proves(phase)) {
    if (rule?.is === "not_sent" || rule?.is === "transient_no") return { kind: "absent", why: cause };
    if (rule?.is === "final_no") return { kind: "refused", reason: "provider_refused", detail: cause };
  }
  const seen = {
    ...(status === undefined ? {} : { status }),
    ...(phase === undefined ? {} : { phase }),
  };
  return { kind: "lost", cause, ...(Object.keys(seen).length === 0 ? {} : { seen }) };
}

interface Told {
  readonly attempt: number;
  readonly detail: string;
  readonly reading: Reading;
}

function meant(
  rule: OutcomeRule,
  contract: Contract,
  reply: Reply,
  { attempt, detail, reading }: Told,
): Outcome {
  const wait = retryAfterMs(reply);
  const later = wait === undefined ? {} : { retryAfterMs: wait };
  switch (rule.is) {
    case "effect": {
      const receipt = picked(rule.receipt ?? {}, reply, reading.clean);
      // A yes without what the contract says a yes carries may be anybody's.
      if (receipt.lacks !== undefined)
        return {
          kind: "lost",
          cause: `the answer lacks "${receipt.lacks}": ${detail}`,
          seen: { status: reply.status },
        };
      return {
        kind: "confirmed",
        evidence: { kind: "answer", data: { attempt, status: reply.status, ...receipt.kept } },
      };
    }
    case "duplicate":
    case "in_flight":
    case "mismatch":
    case "accepted": {
      const { kept } = picked(rule.receipt ?? {}, reply, reading.clean);
      return {
        kind: "lost",
        answer: rule.is,
        cause: detail,
        seen: { status: reply.status, ...kept },
        ...later,
      };
    }
    case "final_no":
      return { kind: "refused", reason: "provider_refused", detail };
    case "not_found":
      return { kind: "refused", reason: "not_found", detail };
    case "precondition_failed": {
      const currentVersion = versionIn(contract, reply);
      return {
        kind: "refused",
        reason: "precondition_failed",
        detail,
        ...(currentVersion === undefined ? {} : { currentVersion }),
      };
    }
    case "transient_no":
    case "not_sent":
      return { kind: "absent", why: detail, ...later };
    case "unknown":
      return { kind: "lost", cause: detail, seen: { status: reply.status }, ...later };
  }
}

/** Where a provider's own words usually stand. They are shown to people, never decided on. */
const MESSAGES = [
  "/message",
  "/error/message",
  "/detail",
  "/title",
  "/error",
  "/error_description",
  "/errors/0/message",
];

function detailOf(reply: Reply, clean: Clean): string {
  const words = MESSAGES.map((pointer) => pointed(reply.body, pointer)).find(
    (value) => typeof value === "string" && value !== "",
  );
  const more =
    typeof words === "string"
      ? `: ${clean(words)}`
      : reply.unreadable === undefined
        ? ""
        : ` (${reply.unreadable})`;
  return `the provider answered ${reply.status}${more}`;
}

const PICK_MAX = 2048;

/** The evidence that the contract names, or the first required piece that is not there. */
export function picked(
  picks: Picks,
  reply: Reply,
  clean: Clean,
): { readonly kept: JsonObject; readonly lacks?: string } {
  const kept: Record<string, Json> = {};
  for (const [written, from] of Object.entries(picks)) {
    const name = written.replace(/\?$/, "");
    const value = from.startsWith("header:") ? headerOf(reply, from.slice(7)) : pointed(reply.body, from);
    if (value === undefined || value === null) {
      if (name === written) return { kept, lacks: name };
    } else {
      kept[name] = cleaned(value, clean);
    }
  }
  return { kept };
}

function cleaned(value: Json, clean: Clean): Json {
  if (typeof value === "string") return clean(value, PICK_MAX);
  if (value === null || typeof value !== "object") return value;
  const text = canonicalJson(value);
  if (text.length > PICK_MAX) return `(${text.length} characters of JSON, not kept)`;
  if (Array.isArray(value)) return value.map((item: Json) => cleaned(item, clean));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [clean(name), cleaned(member as Json, clean)]),
  ); // Members of a JSON value.
}

/** The version that an answer shows, if it is one that a later request could name. */
export function versionIn(contract: Contract, reply: Reply): string | undefined {
  const rule = contract.read;
  const place = rule?.version ?? (contract.precondition.kind === "etag" ? { header: "etag" } : undefined);
  if (place === undefined) return undefined;
  const value = "header" in place ? headerOf(reply, place.header) : pointed(reply.body, place.body);
  const text = typeof value === "number" ? canonicalJson(value) : value;
  if (typeof text !== "string" || !/^[\x21-\x7e]{1,256}$/.test(text)) return undefined;
  // RFC 9110 8.8.1: a weak validator may stay the same although the content changed.
  const strong = rule === undefined || rule.require === "strong";
  return strong && (text === "*" || /^W\//i.test(text)) ? undefined : text;
}

const WAIT_MAX_MS = 24 * 3_600_000;

/** RFC 9110 10.2.3: seconds or an HTTP-date, which is read against the provider's own clock where it shows one. */
export function retryAfterMs(reply: Reply): number | undefined {
  const value = headerOf(reply, "retry-after");
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Math.min(Number(value) * 1000, WAIT_MAX_MS);
  const until = httpDate(value);
  if (until === undefined) return undefined;
  const now = httpDate(headerOf(reply, "date") ?? "") ?? reply.at;
  return Math.min(Math.max(0, until - now), WAIT_MAX_MS);
}

function httpDate(text: string): number | undefined {
  const ms = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
