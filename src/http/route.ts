import { Type } from "typebox";
import { PROBLEMS, type ProblemCode } from "../core/problem.ts";
import { OperationAnswer, ProblemAnswer } from "../wire.ts";
import { PROBLEM_JSON } from "./problems.ts";

/** A query that takes nothing: an unknown parameter is refused, never ignored. */
export const NO_QUERY = Type.Object({}, { additionalProperties: false });

/** The id in the path. A malformed one names nothing, exactly as a foreign one does. */
export const OPERATION_PATH = Type.Object(
  { id: Type.String({ description: "The operation's id." }) },
  { additionalProperties: false },
);

/** Refusals that any route gives, whoever asks. */
const PUBLIC: readonly ProblemCode[] = ["invalid_request", "forbidden", "misdirected"];
/** And that any route gives which needs a session. */
const OFFER: readonly ProblemCode[] = [...PUBLIC, "unauthenticated", "internal"];
/** And that any route gives which asks the ledger. */
const SESSION: readonly ProblemCode[] = [...OFFER, "ledger_unavailable", "not_ready"];
/** And that any route gives which reads a body. */
const BODY: readonly ProblemCode[] = [...SESSION, "malformed", "too_large", "unsupported_media_type"];

/** Who uses a route decides which refusals are always possible. */
export const REFUSALS = { public: PUBLIC, offer: OFFER, session: SESSION, body: BODY } as const;

/** A success: what it means, and its schema by media type (JSON when there is only one). */
export interface Success {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers?: Readonly<Record<string, { readonly type: "string"; readonly description: string }>>;
}

export function json(description: string, schema: object): Success {
  return { description, content: { "application/json": { schema } } };
}

/** What a route says of itself in the OpenAPI document. */
export interface Described {
  /** What generated clients call it. */
  readonly name: string;
  readonly summary: string;
  readonly tag: "operations" | "authority" | "offer" | "watching" | "installation";
  readonly description?: string;
  readonly answers: Readonly<Record<number, Success>>;
  readonly refusals: readonly ProblemCode[];
}

/** The part of a Fastify schema that describes: every status with what it means. */
export interface Description {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: string[];
  readonly description?: string;
  readonly response: Readonly<Record<number, Success>>;
}

export function described({ name, summary, tag, description, answers, refusals }: Described): Description {
  return {
    operationId: name,
    summary,
    tags: [tag],
    ...(description === undefined ? {} : { description }),
    response: { ...answers, ...refusalResponses(refusals) },
  };
}

function refusalResponses(codes: readonly ProblemCode[]): Record<number, Success> {
  const byStatus = new Map<number, string[]>();
  for (const code of [...new Set(codes)])
    byStatus.set(PROBLEMS[code], [...(byStatus.get(PROBLEMS[code]) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, named]) => [
      status,
      { description: named.sort().join(", "), content: { [PROBLEM_JSON]: { schema: ProblemAnswer } } },
    ]),
  );
}

const header = (description: string) => ({ type: "string", description }) as const;
const EFFECT_HEADERS = {
  location: header("The operation."),
  etag: header("Its revision."),
  "idempotency-replayed": header("`true` when the key had been sent before."),
  "preference-applied": header("The wait that was granted."),
};

/** An operation whose effect was asked for: done, or not yet known. */
export const EFFECT_ANSWERS = {
  200: { ...json("Succeeded, now or earlier.", OperationAnswer), headers: EFFECT_HEADERS },
  202: {
    ...json("Waiting for people, authorized, executing or unknown: ask for it again.", OperationAnswer),
    headers: EFFECT_HEADERS,
  },
} as const;

/** What a rejected operation is to whoever asked for its effect. */
export const REJECTIONS: readonly ProblemCode[] = [
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
];
