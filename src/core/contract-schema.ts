import { OUTCOME_MEANINGS } from "./contract.ts";
import { CONTRACT_DEFAULTS } from "./contract-defaults.ts";
import type { JsonObject } from "./json.ts";
import { TRANSPORTS, type Transports } from "./transport.ts";

/**
 * The written form of contracts as a JSON Schema (draft 2020-12), for editors: names, choices and what each member means. The parser is
 * stricter, and the linter stricter still; what this refuses, they refuse too. A test holds its members and choices to the parser's.
 */
export function contractSchema(transports: Transports = TRANSPORTS): JsonObject {
  const names = Object.keys(transports);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A contract of Writ: what one operation of one provider guarantees",
    ...object({
      contract: told({ type: "string" }, "Name and version, such as shop.set_available/v1."),
      transport: told({ enum: names }, "The kind of connector that speaks to the provider."),
      requestLife: told(TIME, "A request is aborted at this age."),
      maxPause: told(TIME, "The longest time between starting a claim and the first byte leaving."),
      lease: told(TIME, "How long a claim lasts; at least maxPause + requestLife."),
      attemptsMax: told(COUNT, "At most so many attempts."),
      backoff: told(
        object({ first: TIME, max: TIME }),
        "Waits between attempts, doubling from first to max.",
      ),
      settle: told(SETTLE, "How long a sent request may still act. unbounded: for ever."),
      precondition: told(orNone(PRECONDITION), "The condition that the provider checks before it writes."),
      identity: told(orNone(IDENTITY), "What makes a second request recognizable as the same."),
      lookup: told({ type: "array", items: LOOKUP }, "Questions that name our operation."),
      barrier: told(orNone(BARRIER), "A write that can only prevent: it makes a late attempt fail for ever."),
      outcomes: told({ type: "array", items: OUTCOME }, "What answers mean; the first that matches decides."),
      completion: told(
        COMPLETION,
        "For what is accepted now and finished later: what to ask, and what ends it.",
      ),
      read: told(READ, "How the resource and its version are fetched."),
      request: told(ANY, "The one message that has the effect."),
      vars: told(TEXTS, "Texts built from variables, for use as {{vars.NAME}}."),
      unclearMax: told(COUNT, "Unclear lookups in a row after which a person is asked."),
    }),
    required: ["contract", "transport"],
    allOf: Object.entries(transports).flatMap(([name, { message }]) =>
      message.schema === undefined ? [] : [speaking(name, message.schema)],
    ),
  };
}

/** Under this transport every message has this form. */
function speaking(name: string, message: JsonObject): JsonObject {
  const holder = { type: "object", properties: { request: message } };
  return {
    if: { properties: { transport: { const: name } }, required: ["transport"] },
    // biome-ignore lint/suspicious/noThenProperty: it is a word of JSON Schema, and this value is never awaited.
    then: {
      properties: {
        request: message,
        lookup: { items: holder },
        barrier: { anyOf: [{ const: "none" }, holder] },
        completion: holder,
        read: holder,
      },
    },
  };
}

function told(schema: JsonObject, description: string): JsonObject {
  return { ...schema, description };
}

function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return {
    type: "object",
    additionalProperties: false,
    properties,
    ...(required.length === 0 ? {} : { required }),
  };
}

function orNone(form: JsonObject): JsonObject {
  return { anyOf: [{ const: "none" }, form] };
}

function choice(choices: readonly string[], description: string, byDefault?: string): JsonObject {
  return { enum: choices, description, ...(byDefault === undefined ? {} : { default: byDefault }) };
}

const ANY: JsonObject = { type: "object" };
const COUNT: JsonObject = { type: "integer", minimum: 1, maximum: 100 };
const TIME: JsonObject = { type: "string", pattern: "^\\d+(\\.\\d{1,3})?(ms|s|m|h|d)$", examples: ["30s"] };
const TEXTS: JsonObject = { type: "object", additionalProperties: { type: "string" } };
const TEXT_OR_TEXTS: JsonObject = {
  anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
};
const PICKS = told(TEXTS, "Evidence by name: a JSON Pointer, or header:Name; a name with ? may be missing.");

const SETTLE: JsonObject = { anyOf: [{ const: "unbounded" }, object({ bounded: TIME }, ["bounded"])] };

const { precondition: PRE, window: WINDOW_DEFAULTS, duplicateMeans } = CONTRACT_DEFAULTS;

const PRECONDITION = object(
  {
    kind: choice(["none", "etag", "version", "cas", "sequence", "git_ref"], "What is compared."),
    atomic: choice(["claimed", "probed"], "Somebody's word, or measured by `writ probe`.", PRE.atomic),
    versions: choice(["never_return", "may_return"], "Whether an old version can come back.", PRE.versions),
    replay: choice(
      ["precondition_first", "dedup_first", "marker_visible"],
      "What a request that took effect is answered by when it comes again.",
      PRE.replay,
    ),
  },
  ["kind"],
);

const WINDOW = object(
  {
    opens: choice(["first_send", "first_effect"], "From when the provider counts.", WINDOW_DEFAULTS.opens),
    for: told(
      { anyOf: [{ enum: ["permanent", "unknown"] }, TIME] },
      "How long it remembers; unknown only where it refuses afterwards.",
    ),
    margin: told(TIME, "Kept away from the end of the window."),
    after: choice(["executes", "refuses"], "What an old repeat does.", WINDOW_DEFAULTS.after),
  },
  ["for"],
);

const IDENTITY = object(
  {
    kind: choice(["none", "key", "marker", "create_once", "same_version"], "What is recognized."),
    window: told(WINDOW, "How long. A key must have one; everything else lasts as long as the effect."),
    duplicateMeans: choice(
      ["effect", "effect_or_in_flight", "marker_only"],
      'What "seen before" proves.',
      duplicateMeans,
    ),
    minRetryDelay: told(TIME, "A repeat sooner than this after the last attempt is not recognized."),
  },
  ["kind"],
);

const CONDITIONS: JsonObject = {
  status: told(
    { anyOf: [status(), { type: "array", items: status() }] },
    "Exact statuses, or classes such as 5xx.",
  ),
  headers: told(TEXTS, "Headers with exactly these values."),
  body: told(
    { type: "object", propertyNames: { pattern: "^/" }, minProperties: 1 },
    "Values by JSON Pointer; { present: true } asks only for presence.",
  ),
  contains: told(TEXT_OR_TEXTS, "Texts that stand somewhere in the body, for what is not JSON."),
};

function status(): JsonObject {
  return {
    anyOf: [
      { type: "integer", minimum: 200, maximum: 599 },
      { type: "string", pattern: "^[1-5]xx$" },
    ],
  };
}

const MATCH: JsonObject = { ...object(CONDITIONS), minProperties: 1 };
const WHEN: JsonObject = {
  ...object({
    ...CONDITIONS,
    phase: told(TEXT_OR_TEXTS, "Where an answer stayed out: one of the transport's phases. Stands alone."),
  }),
  minProperties: 1,
};

const LOOKUP = object(
  {
    name: told({ type: "string" }, "Findings are recorded under it."),
    strength: choice(["positive", "authoritative"], "Whether finding nothing proves something.", "positive"),
    lag: told(TIME, "How long an effect may stay invisible; must be said where it is authoritative."),
    horizon: told(TIME, "After the last send plus this, asking again teaches nothing."),
    request: told(ANY, "The question. It names our operation."),
    each: told({ type: "string" }, 'Where a list stands to look through; "" where the answer is the list.'),
    found: told(MATCH, "What shows our operation."),
    absent: told(MATCH, "What shows that nothing is there. Everything else is unclear."),
    digestAt: told({ type: "string" }, "Where the digest stands: another one than ours is a conflict."),
    digestIs: told({ type: "string" }, 'What ours looks like there, such as "{{b64 op.digest}}".'),
    barrier: told(MATCH, "What shows our own barrier. Asked first."),
    receipt: PICKS,
  },
  ["name", "request", "found", "absent"],
);

const BARRIER = object(
  {
    kind: choice(["none", "tombstone", "cancel_by_key", "fence"], "What prevents."),
    request: told(ANY, "The message that raises it."),
    raised: told(MATCH, "What shows that it stands."),
  },
  ["kind"],
);

const OUTCOME = object(
  {
    when: told(WHEN, "Which answer."),
    is: choice(OUTCOME_MEANINGS, "What it means. What no rule matches is unknown."),
    receipt: PICKS,
  },
  ["when", "is"],
);

const COMPLETION = object(
  {
    request: told(ANY, "The question whether it has finished. It names our operation."),
    every: told(TIME, "Between two questions."),
    done: told(MATCH, "What shows the effect."),
    refused: told(MATCH, "What shows that it will never happen."),
    receipt: PICKS,
  },
  ["request", "done", "refused"],
);

const READ = object(
  {
    request: told(ANY, "How the resource is fetched."),
    version: {
      ...object({ header: { type: "string" }, body: { type: "string" } }),
      description: "Where the version stands: { header: ETag } or { body: /version }.",
      minProperties: 1,
      maxProperties: 1,
    },
    require: choice(["strong", "opaque"], "strong refuses weak validators.", "strong"),
  },
  ["request", "version"],
);
