import {
  type Barrier,
  type Completion,
  type Lookup,
  OUTCOME_MEANINGS,
  type OutcomeRule,
  type ReadRule,
  type Settle,
} from "./contract.ts";
import { CONTRACT_DEFAULTS } from "./contract-defaults.ts";
import { parseMatch, parsePicks, parseWhen } from "./match-parse.ts";
import { checkHoles, type MessageForm } from "./message.ts";
import {
  choiceOf,
  durationOf,
  membersOf,
  positiveOf,
  refuse,
  required,
  textOf,
  type Written,
} from "./written.ts";

/** A question that names our operation. */
export function parseLookup(written: Written, settle: Settle, message: MessageForm): Lookup {
  const given = membersOf(written, [
    "name",
    "strength",
    "lag",
    "horizon",
    "request",
    "each",
    "found",
    "absent",
    "digestAt",
    "digestIs",
    "barrier",
    "receipt",
  ]);
  const strength =
    given.strength === undefined ? "positive" : choiceOf(given.strength, ["positive", "authoritative"]);
  if (strength === "authoritative" && given.lag === undefined) {
    refuse(
      written,
      '"authoritative" without a lag: say how long an effect may stay invisible to this lookup (lag: 0s if never), or write strength: positive',
    );
  }
  const lagMs = given.lag === undefined ? 0 : durationOf(given.lag);
  const settledMs = (settle.kind === "bounded" ? settle.forMs : 0) + lagMs;
  const { digestAt, digestIs, each } = given;
  if (digestAt !== undefined && !/^(\/|header:[A-Za-z0-9-]+$)/.test(textOf(digestAt)))
    refuse(digestAt, 'write a JSON Pointer, such as "/digest", or header:Name');
  if (digestIs !== undefined) {
    checkHoles(digestIs);
    if (digestAt === undefined) refuse(digestIs, 'say with "digestAt" where it stands');
  }
  if (each !== undefined && !/^(\/|$)/.test(String(each.value)))
    refuse(each, 'write a JSON Pointer to the list, such as "/data", or "" where the answer is the list');
  return {
    name: textOf(required(written, given.name, "name", "name the lookup; findings are recorded under it")),
    strength,
    lagMs,
    horizonMs:
      given.horizon === undefined
        ? Math.max(CONTRACT_DEFAULTS.horizonMs, settledMs)
        : durationOf(given.horizon),
    request: message.parse(required(written, given.request, "request", "write the question")),
    found: parseMatch(required(written, given.found, "found", "say which answer shows our operation")),
    absent: parseMatch(
      required(written, given.absent, "absent", "say which answer shows that nothing is there"),
    ),
    ...(each === undefined ? {} : { each: String(each.value) }),
    ...(digestAt === undefined ? {} : { digestAt: textOf(digestAt) }),
    ...(digestIs === undefined ? {} : { digestIs: textOf(digestIs) }),
    ...(given.barrier === undefined ? {} : { barrier: parseMatch(given.barrier) }),
    ...(given.receipt === undefined ? {} : { receipt: parsePicks(given.receipt) }),
  };
}

/** A write that can only prevent. */
export function parseBarrier(written: Written, message: MessageForm): Barrier {
  if (written.value === "none") return { kind: "none" };
  const given = membersOf(written, ["kind", "request", "raised"]);
  const kind = choiceOf(required(written, given.kind, "kind", "say what prevents a late attempt"), [
    "none",
    "tombstone",
    "cancel_by_key",
    "fence",
  ]);
  if (kind === "none") return { kind };
  return {
    kind,
    request: message.parse(required(written, given.request, "request", "write the request that raises it")),
    raised: parseMatch(required(written, given.raised, "raised", "say which answer shows that it stands")),
  };
}

/** What one answer means. */
export function parseOutcome(written: Written): OutcomeRule {
  const given = membersOf(written, ["when", "is", "receipt"]);
  return {
    when: parseWhen(required(written, given.when, "when", "say which answer this is about")),
    is: choiceOf(required(written, given.is, "is", "say what that answer means"), OUTCOME_MEANINGS),
    ...(given.receipt === undefined ? {} : { receipt: parsePicks(given.receipt) }),
  };
}

/** How an accepted request is seen to finish. */
export function parseCompletion(written: Written, message: MessageForm): Completion {
  const given = membersOf(written, ["request", "every", "done", "refused", "receipt"]);
  return {
    request: message.parse(
      required(written, given.request, "request", "write the question whether it has finished"),
    ),
    everyMs: given.every === undefined ? CONTRACT_DEFAULTS.everyMs : positiveOf(given.every),
    done: parseMatch(required(written, given.done, "done", "say which answer shows the effect")),
    refused: parseMatch(
      required(written, given.refused, "refused", "say which answer shows that it will never happen"),
    ),
    ...(given.receipt === undefined ? {} : { receipt: parsePicks(given.receipt) }),
  };
}

/** How the resource and its version are fetched. */
export function parseRead(written: Written, message: MessageForm): ReadRule {
  const given = membersOf(written, ["request", "version", "require"]);
  const version = required(
    written,
    given.version,
    "version",
    "say where the version stands: { header: ETag } or { body: /version }",
  );
  const place = membersOf(version, ["header", "body"]);
  if ((place.header === undefined) === (place.body === undefined))
    refuse(version, "write either { header: … } or { body: … }");
  if (place.body !== undefined && !textOf(place.body).startsWith("/"))
    refuse(place.body, 'write a JSON Pointer, such as "/version"');
  return {
    request: message.parse(required(written, given.request, "request", "write how the resource is fetched")),
    version:
      place.header === undefined ? { body: textOf(place.body ?? version) } : { header: textOf(place.header) },
    require: given.require === undefined ? "strong" : choiceOf(given.require, ["strong", "opaque"]),
  };
}
