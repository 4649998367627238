import { thawAction } from "./action.ts";
import { meaning } from "./answer.ts";
import type { Attempt, Evidence } from "./attempt.ts";
import { authorizedBy, type Part } from "./authorized-by.ts";
import type { Instant } from "./ids.ts";
import type { Json, JsonObject } from "./json.ts";
import { type Operation, settled } from "./operation.ts";
import { outlook, timeText } from "./outlook.ts";
import type { Plan } from "./recovery.ts";
import type { Tool } from "./tool.ts";

/** Who authorized what, against which version, how many times was it attempted, what confirms it; and how it goes on while that is open. */
export interface Explanation {
  readonly operationId: string;
  readonly state: Operation["state"];
  readonly summary: string;
  readonly authorizedBy: Part;
  readonly against: Part;
  readonly attempts: Part;
  readonly evidence: Part;
  /** Absent once the operation has settled. */
  readonly next?: Part;
}

/** What is known beside the operation itself. */
export interface Known {
  readonly tool?: Tool | undefined;
  /** What the contract can and cannot promise. */
  readonly promise?: readonly string[] | undefined;
  readonly plan?: Plan | undefined;
  /** The first break in the chain of its events, in words. */
  readonly chainBroken?: string | undefined;
  readonly eventCount: number;
  readonly clock: Instant;
}

/** The four answers that Writ owes for every operation. Where something is not known, it says so. */
export function explain(operation: Operation, known: Known): Explanation {
  const parts = {
    authorizedBy: authorizedBy(operation, known.clock),
    against: against(operation, known),
    attempts: attempts(operation),
    evidence: evidence(operation, known),
  };
  const head = { operationId: operation.id, state: operation.state, summary: meaning(operation) };
  return settled(operation)
    ? { ...head, ...parts }
    : { ...head, ...parts, next: outlook(operation, known.plan) };
}

function against(operation: Operation, { tool, promise = [] }: Known): Part {
  const action = thawAction(operation.action);
  const { expectedVersion, currentVersion, provider, resource, digest, toolDigest } = operation;
  const version =
    expectedVersion === undefined
      ? "It names no version: whatever stands there is changed."
      : `It was decided against version ${named(expectedVersion)}.`;
  return {
    lines: [
      `${tool === undefined ? operation.tool : `${tool.title} (${operation.tool})`} on ${resource}, at the provider ${provider}.`,
      version,
      ...(currentVersion === undefined
        ? []
        : [`The provider said that version ${named(currentVersion)} stands there.`]),
      `Exactly this is what ${digest} names: ${shown(action.arguments)}.`,
      ...promise,
    ],
    data: {
      tool: operation.tool,
      toolDigest,
      provider,
      resource,
      digest,
      arguments: action.arguments,
      ...(expectedVersion === undefined ? {} : { expectedVersion }),
      ...(currentVersion === undefined ? {} : { currentVersion }),
      ...(operation.compensates === undefined ? {} : { compensates: operation.compensates }),
      ...(tool === undefined ? {} : { contract: tool.contract.contract }),
      promise,
    },
  };
}

/** A version as a person reads it: an ETag has its quotes already. */
function named(version: string): string {
  return version.startsWith('"') ? version : `"${version}"`;
}

function attempts(operation: Operation): Part {
  const { attempts: all, inquiry } = operation;
  const count = all.length;
  const times =
    count === 0
      ? "It was never attempted."
      : count === 1
        ? "It was attempted once."
        : `It was attempted ${count} times, under one identity.`;
  const looked =
    inquiry.looked === 0
      ? []
      : [`The provider was asked about it ${inquiry.looked === 1 ? "once" : `${inquiry.looked} times`}.`];
  return {
    lines: [times, ...all.map((attempt) => attemptLine(attempt, settled(operation))), ...looked],
    data: {
      count,
      attempts: all.map(attemptData),
      looked: inquiry.looked,
      ...(inquiry.barrier === undefined ? {} : { barrier: inquiry.barrier }),
    },
  };
}

function attemptLine(attempt: Attempt, over: boolean): string {
  const began = `Attempt ${attempt.n}, claimed at ${timeText(attempt.claimedAt)}`;
  const { outcome } = attempt;
  switch (outcome?.kind) {
    case undefined:
      return over ? `${began}, never reported.` : `${began}, has not reported yet.`;
    case "confirmed":
      return `${began}, was confirmed.`;
    case "refused":
      return `${began}, was refused: ${outcome.detail}.`;
    case "absent":
      return `${began}, sent nothing that was accepted: ${outcome.why}.`;
    case "lost":
      return `${began}, lost its answer: ${outcome.cause}. It may have had its effect.`;
  }
}

function attemptData(attempt: Attempt): JsonObject {
  const detail = attemptDetail(attempt);
  return {
    n: attempt.n,
    claimedAt: timeText(attempt.claimedAt),
    learned: attempt.outcome?.kind ?? "nothing",
    ...(detail === undefined ? {} : { detail }),
    ...(attempt.learnedAt === undefined ? {} : { learnedAt: timeText(attempt.learnedAt) }),
  };
}

/** What the provider said, or how its answer was lost. */
export function attemptDetail({ outcome }: Attempt): string | undefined {
  switch (outcome?.kind) {
    case undefined:
    case "confirmed":
      return undefined;
    case "refused":
      return outcome.detail;
    case "absent":
      return outcome.why;
    case "lost":
      return outcome.cause;
  }
}

const EVIDENCE: Readonly<Record<Evidence["kind"], string>> = {
  answer: "The provider answered our own request",
  row: "Our own commit holds the effect",
  lookup: "The provider was asked and showed our operation",
  duplicate_answer: "The provider said that it has seen exactly this before",
  ruling: "A person looked and ruled",
};

function evidence(operation: Operation, { chainBroken, eventCount }: Known): Part {
  const { evidence: found, state } = operation;
  const chain =
    chainBroken === undefined
      ? `Its ${eventCount} ${plural(eventCount, "event forms", "events form")} an unbroken chain.`
      : `Its history does not hold: ${chainBroken}.`;
  const receipt = settled(operation) ? ["A signed receipt is kept for ever."] : [];
  return {
    lines: [
      found === undefined ? absence(operation) : `${EVIDENCE[found.kind]}: ${shown(found.data)}.`,
      chain,
      ...receipt,
    ],
    data: {
      ...(found === undefined ? {} : { kind: found.kind, data: found.data }),
      attributes: state === "succeeded" ? "effect" : state === "rejected" ? "absence" : "nothing",
      events: eventCount,
      chain: chainBroken === undefined ? "whole" : "broken",
      receipt: settled(operation),
    },
  };
}

/** What stands in for evidence where no effect was attributed. */
function absence({ state, attempts: all, inquiry }: Operation): string {
  if (state !== "rejected") return "Nothing confirms an effect, or its absence, yet.";
  if (all.length === 0) return "It was never sent, so there is nothing to confirm.";
  if (inquiry.barred === true) return "A barrier at the provider makes every late attempt fail for ever.";
  if (inquiry.absentSince !== undefined)
    return `Whoever looked at ${timeText(inquiry.absentSince)} found nothing, after everything sent had ended.`;
  return "Every attempt ended with a definite no.";
}

const SHOWN_MAX = 400;

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}

function plural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}
