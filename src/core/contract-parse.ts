import type { Contract, Identity, Precondition, Settle, Window } from "./contract.ts";
import { CONTRACT_DEFAULTS } from "./contract-defaults.ts";
import { parseBarrier, parseCompletion, parseLookup, parseOutcome, parseRead } from "./exchange-parse.ts";
import type { Json } from "./json.ts";
import { TRANSPORTS, type Transport, type Transports, transportNamed } from "./transport.ts";
import {
  choiceOf,
  countOf,
  durationOf,
  itemsOf,
  membersOf,
  positiveOf,
  refuse,
  required,
  textOf,
  textsOf,
  type Written,
} from "./written.ts";

const MEMBERS = [
  "contract",
  "transport",
  "requestLife",
  "maxPause",
  "lease",
  "attemptsMax",
  "backoff",
  "settle",
  "precondition",
  "identity",
  "lookup",
  "barrier",
  "outcomes",
  "completion",
  "read",
  "request",
  "vars",
  "unclearMax",
] as const;

// A name and a version: a contract that changed its meaning changes its version too.
const NAME = /^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)*\/v\d+$/;

/**
 * Reads the written form (YAML as JSON). Throws `invalid` with the place and the mend; never guesses, never edits. `transports` are those
 * that somebody here speaks.
 */
export function parseContract(document: Json, transports: Transports = TRANSPORTS): Contract {
  const written: Written = { value: document, at: "" };
  const given = membersOf(written, MEMBERS);
  const name = required(
    written,
    given.contract,
    "contract",
    'name it with its version, such as "shop.set_available/v1"',
  );
  if (!NAME.test(textOf(name)))
    refuse(name, 'write a name and a version in lower case, such as "shop.set_available/v1"');
  const { transport, message } = parseTransport(written, given.transport, transports);
  const requestLifeMs =
    given.requestLife === undefined ? CONTRACT_DEFAULTS.requestLifeMs : positiveOf(given.requestLife);
  const maxPauseMs = given.maxPause === undefined ? CONTRACT_DEFAULTS.maxPauseMs : positiveOf(given.maxPause);
  const settle = given.settle === undefined ? CONTRACT_DEFAULTS.settle : parseSettle(given.settle);
  return {
    contract: textOf(name),
    transport,
    requestLifeMs,
    maxPauseMs,
    leaseMs:
      given.lease === undefined
        ? requestLifeMs + maxPauseMs + CONTRACT_DEFAULTS.leaseSlackMs
        : positiveOf(given.lease),
    attemptsMax:
      given.attemptsMax === undefined ? CONTRACT_DEFAULTS.attemptsMax : countOf(given.attemptsMax, 100),
    backoff: given.backoff === undefined ? CONTRACT_DEFAULTS.backoff : parseBackoff(given.backoff),
    settle,
    precondition: given.precondition === undefined ? { kind: "none" } : parsePrecondition(given.precondition),
    identity: given.identity === undefined ? { kind: "none" } : parseIdentity(given.identity),
    lookup:
      given.lookup === undefined
        ? []
        : itemsOf(given.lookup).map((lookup) => parseLookup(lookup, settle, message)),
    barrier: given.barrier === undefined ? { kind: "none" } : parseBarrier(given.barrier, message),
    outcomes: given.outcomes === undefined ? [] : itemsOf(given.outcomes).map(parseOutcome),
    unclearMax:
      given.unclearMax === undefined ? CONTRACT_DEFAULTS.unclearMax : countOf(given.unclearMax, 100),
    ...(given.completion === undefined ? {} : { completion: parseCompletion(given.completion, message) }),
    ...(given.read === undefined ? {} : { read: parseRead(given.read, message) }),
    ...(given.request === undefined ? {} : { request: message.parse(one(given.request)) }),
    ...(given.vars === undefined ? {} : { vars: textsOf(given.vars) }),
  };
}

/** One operation is one effect: a list of requests would have halves. */
function one(written: Written): Written {
  return Array.isArray(written.value)
    ? refuse(
        written,
        "an operation is one request with one effect; write one, and make each of the others an operation of its own",
      )
    : written;
}

function parseTransport(
  written: Written,
  given: Written | undefined,
  transports: Transports,
): { readonly transport: string; readonly message: Transport["message"] } {
  const names = Object.keys(transports);
  const name = choiceOf(required(written, given, "transport", `write one of ${names.join(", ")}`), names);
  const found = transportNamed(name, transports) ?? refuse(written, `nobody here speaks ${name}`);
  return { transport: name, message: found.message };
}

function parseBackoff(written: Written): Contract["backoff"] {
  const given = membersOf(written, ["first", "max"]);
  const firstMs = given.first === undefined ? CONTRACT_DEFAULTS.backoff.firstMs : positiveOf(given.first);
  const maxMs =
    given.max === undefined ? Math.max(firstMs, CONTRACT_DEFAULTS.backoff.maxMs) : positiveOf(given.max);
  return maxMs < firstMs ? refuse(written, '"max" must not be shorter than "first"') : { firstMs, maxMs };
}

function parseSettle(written: Written): Settle {
  if (written.value === "unbounded") return { kind: "unbounded" };
  if (typeof written.value === "string")
    return refuse(written, 'write unbounded, or how long a sent request may still act: { bounded: "60s" }');
  const given = membersOf(written, ["bounded"]);
  return {
    kind: "bounded",
    forMs: positiveOf(
      required(written, given.bounded, "bounded", "say how long a sent request may still act"),
    ),
  };
}

function parsePrecondition(written: Written): Precondition {
  if (written.value === "none") return { kind: "none" };
  const given = membersOf(written, ["kind", "atomic", "versions", "replay"]);
  const kind = choiceOf(required(written, given.kind, "kind", "say which condition the provider checks"), [
    "none",
    "etag",
    "version",
    "cas",
    "sequence",
    "git_ref",
  ]);
  if (kind === "none") return { kind };
  const { atomic, versions, replay } = CONTRACT_DEFAULTS.precondition;
  return {
    kind,
    atomic: given.atomic === undefined ? atomic : choiceOf(given.atomic, ["claimed", "probed"]),
    versions:
      given.versions === undefined ? versions : choiceOf(given.versions, ["never_return", "may_return"]),
    replay:
      given.replay === undefined
        ? replay
        : choiceOf(given.replay, ["precondition_first", "dedup_first", "marker_visible"]),
  };
}

function parseIdentity(written: Written): Identity {
  if (written.value === "none") return { kind: "none" };
  const given = membersOf(written, ["kind", "window", "duplicateMeans", "minRetryDelay"]);
  const kind = choiceOf(
    required(written, given.kind, "kind", "say what makes a second request recognizable"),
    ["none", "key", "marker", "create_once", "same_version"],
  );
  if (kind === "none") return { kind };
  if (kind === "key" && given.window === undefined) {
    refuse(
      written,
      'a key without a window promises nothing; say how long the provider remembers it (window: { for: "24h" }), or write identity: none',
    );
  }
  const means = given.duplicateMeans;
  return {
    kind,
    // What is created once, or written with the effect, is there as long as the effect is.
    window:
      given.window === undefined
        ? { opens: "first_effect", forMs: null, marginMs: 0, after: "refuses" }
        : parseWindow(given.window),
    duplicateMeans:
      means === undefined
        ? CONTRACT_DEFAULTS.duplicateMeans
        : choiceOf(means, ["effect", "effect_or_in_flight", "marker_only"]),
    ...(given.minRetryDelay === undefined ? {} : { minRetryDelayMs: positiveOf(given.minRetryDelay) }),
  };
}

function parseWindow(written: Written): Window {
  const given = membersOf(written, ["opens", "for", "margin", "after"]);
  const { opens, marginMs, after } = CONTRACT_DEFAULTS.window;
  const forWritten = required(
    written,
    given.for,
    "for",
    'say how long the provider remembers: a time such as "24h", permanent, or unknown',
  );
  const afterwards = given.after === undefined ? after : choiceOf(given.after, ["executes", "refuses"]);
  if (forWritten.value === "unknown" && afterwards === "executes") {
    refuse(
      forWritten,
      "an unknown window that executes again afterwards makes no repeat safe; find out how long it is, or write identity: none",
    );
  }
  const endless = forWritten.value === "permanent" || forWritten.value === "unknown";
  const forMs = endless ? null : positiveOf(forWritten);
  return {
    opens: given.opens === undefined ? opens : choiceOf(given.opens, ["first_send", "first_effect"]),
    forMs,
    marginMs: given.margin === undefined ? (forMs === null ? 0 : marginMs) : durationOf(given.margin),
    after: afterwards,
  };
}
