import { type Static, Type } from "typebox";
import { PROBLEMS } from "./core/problem.ts";
import { anyJson, anyObject, maybe, strict, text, time, words } from "./wire/member.ts";

// The language of Writ's surfaces: what is asked and what is answered, member by member. HTTP, MCP, client and console
// speak it. Times are RFC 3339 texts on the ledger database's clock. Bodies are strict: an unknown member is refused.

export const STATES = ["proposed", "authorized", "executing", "succeeded", "rejected", "unknown"] as const;
export const REASONS = [
  "invalid",
  "denied",
  "review_denied",
  "expired",
  "revoked",
  "precondition_failed",
  "not_found",
  "provider_refused",
  "not_applied",
  "cancelled",
  "superseded",
] as const;

export const ProposeBody = Type.Object(
  {
    tool: text("The exact name of a tool."),
    arguments: anyJson("The tool's arguments: an object that its schema accepts."),
    expectedVersion: maybe(
      Type.Unsafe<string | number>({
        type: ["string", "integer"],
        maxLength: 256,
        description:
          "The version of the resource that this change was decided against; compared for equality.",
      }),
    ),
    compensates: maybe(text("The succeeded operation that this one makes good.", 64)),
    supersedes: maybe(
      text("The operation that this one takes the place of; cancelled in the same commit.", 64),
    ),
    execute: maybe(words(["now", "later"], "`later`: authorized, and executed when somebody asks for it.")),
    note: maybe(text("The agent's own words: shown apart, never trusted.", 2000)),
  },
  strict,
);
export type ProposeBody = Static<typeof ProposeBody>;

/** What a route that needs no body takes. */
export const EmptyBody = Type.Object({}, strict);

export const AttemptAnswer = Type.Object(
  {
    n: Type.Integer(),
    claimedAt: time("When it was claimed; nothing was sent before."),
    learned: words(
      ["confirmed", "refused", "absent", "lost", "nothing"],
      "What it learned by acting; `nothing` while it is under way.",
    ),
    detail: maybe(Type.String({ description: "What the provider said, or how its answer was lost." })),
    learnedAt: maybe(time("When that was learned.")),
  },
  strict,
);
export type AttemptAnswer = Static<typeof AttemptAnswer>;

export const AuthorizationAnswer = Type.Object(
  {
    policyVersion: Type.String(),
    policies: Type.Array(Type.String(), { description: "The policies that decided, by id." }),
    authorizedAt: time("When permission was given."),
    expiresAt: time("When it ends; nothing is sent afterwards."),
  },
  strict,
);

export const EvidenceAnswer = Type.Object(
  {
    kind: words(
      ["answer", "row", "lookup", "duplicate_answer", "ruling"],
      "How the effect was attributed to this operation.",
    ),
    data: anyObject("What was kept of it."),
  },
  strict,
);

export const OperationAnswer = Type.Object(
  {
    operationId: text("Minted by Writ; names this operation for ever."),
    state: words([...STATES], "What is known. `unknown`: the effect may have happened."),
    reason: maybe(words([...REASONS], "Why no effect exists or can still appear.")),
    meaning: Type.String({ description: "What the state means, in one sentence." }),
    next: Type.String({ description: "What to do now, in one sentence." }),
    how: maybe(
      words(
        ["opened", "replayed", "joined"],
        "How this call came to this operation: it opened it, sent its intent key again, or joined an equal one.",
      ),
    ),
    tool: Type.String(),
    resource: Type.String(),
    digest: Type.String({ description: "The name by content of exactly what executes." }),
    provider: Type.String(),
    principal: Type.String(),
    client: Type.String(),
    expectedVersion: maybe(Type.String()),
    currentVersion: maybe(Type.String({ description: "Where the provider said what stands there instead." })),
    attention: maybe(Type.String({ description: "Why a person is needed." })),
    authorization: maybe(AuthorizationAnswer),
    attempts: Type.Array(AttemptAnswer),
    evidence: maybe(EvidenceAnswer),
    intentKey: maybe(Type.String()),
    compensates: maybe(Type.String()),
    supersedes: maybe(Type.String()),
    note: maybe(Type.String({ description: "The agent's own words: never trusted." })),
    execute: words(["now", "later"], "Whether it runs by itself or waits to be asked."),
    createdAt: time("When it was proposed."),
    updatedAt: time("When it last changed."),
    settledAt: maybe(time("When it became succeeded or rejected.")),
    expiresAt: time("When permission, or waiting for people, ends."),
    dueAt: maybe(time("When Writ looks at it next by itself.")),
    revision: Type.Integer({ description: "Grows with every change; the ETag." }),
    links: maybe(
      Type.Object(
        {
          self: Type.String(),
          explanation: Type.String(),
          receipt: maybe(Type.String()),
          events: Type.String(),
        },
        strict,
      ),
    ),
  },
  strict,
);
export type OperationAnswer = Static<typeof OperationAnswer>;

export const OperationPage = Type.Object(
  {
    operations: Type.Array(OperationAnswer),
    cursor: maybe(Type.String({ description: "Send it back for the next page; absent on the last." })),
  },
  strict,
);
export type OperationPage = Static<typeof OperationPage>;

/** RFC 9457. Every answer that is not 2xx or 304. */
export const ProblemAnswer = Type.Object(
  {
    type: Type.String({ format: "uri" }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: "For people; the code is for programs." }),
    code: Type.Unsafe<keyof typeof PROBLEMS>({
      type: "string",
      enum: Object.keys(PROBLEMS),
      description: "Stable.",
    }),
    next: maybe(Type.String({ description: "What to do now, in one sentence." })),
    operationId: maybe(Type.String()),
    at: maybe(
      Type.String({
        description:
          "The place that is wrong: a JSON Pointer into the body, or a header's or parameter's name.",
      }),
    ),
    currentVersion: maybe(Type.String()),
    instance: maybe(Type.String({ description: "Names this one occurrence in the log." })),
  },
  strict,
);
export type ProblemAnswer = Static<typeof ProblemAnswer>;

export const RulingBody = Type.Object(
  {
    finding: words(["confirmed", "absent"], "What the person found."),
    digest: text("The digest as displayed: what is ruled on is exactly this change."),
    evidence: Type.Object(
      { reference: text("Where it can be seen.", 500), note: text("What was seen there.", 2000) },
      strict,
    ),
  },
  strict,
);
export type RulingBody = Static<typeof RulingBody>;
