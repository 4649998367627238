/**
 * Every way in which Writ tells a caller "no", with the status that HTTP gives it. Codes are stable; messages are for people.
 * `docs/problems.md` has a section for each code and a test that holds table, docs and routes together.
 */
export const PROBLEMS = {
  malformed: 400,
  invalid_request: 400,
  "idempotency-key-missing": 400,
  unauthenticated: 401,
  insufficient_user_authentication: 401,
  forbidden: 403,
  insufficient_scope: 403,
  denied: 403,
  review_denied: 403,
  revoked: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  cancelled: 409,
  superseded: 409,
  provider_refused: 409,
  not_applied: 409,
  expired: 409,
  looks_the_same: 409,
  equal_effect_in_doubt: 409,
  not_cancellable: 409,
  not_executable: 409,
  not_settled: 409,
  finding_refused: 409,
  policy_moved: 409,
  decision_refused: 409,
  key_spent: 410,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  misdirected: 421,
  invalid: 422,
  unknown_tool: 422,
  version_required: 422,
  key_reused: 422,
  limit_exceeded: 429,
  headers_too_large: 431,
  internal: 500,
  overloaded: 503,
  halted: 503,
  tool_closed: 503,
  ledger_unavailable: 503,
  not_ready: 503,
  issuer_unavailable: 503,
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** RFC 9457 3.1.1: the `type` of a problem is an absolute URI that never changes. Nobody has to be able to fetch it. */
export function problemType(code: ProblemCode): string {
  return `https://writ.dev/problems/${code}`;
}

/** The code in words: one short text for each type, never for one occurrence (RFC 9457 3.1.3). */
export function problemTitle(code: ProblemCode): string {
  const text = code.replaceAll(/[_-]/g, " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export interface ProblemDetails {
  /** One sentence: what the caller should do now. */
  readonly next?: string;
  readonly operationId?: string;
  /** JSON Pointer or parameter name of the place that is wrong. */
  readonly at?: string;
  readonly retryAfterMs?: number;
  readonly currentVersion?: string;
  /** `insufficient_scope`: every scope that the call needs. */
  readonly scopes?: readonly string[];
  /** `insufficient_user_authentication` (RFC 9470): how, and how recently, the person has to prove who they are. */
  readonly stepUp?: StepUp;
}

interface StepUp {
  readonly maxAgeS?: number;
  /** Any of these. */
  readonly acrValues?: readonly string[];
}

/** A caller's mistake, or an answer that is a refusal. What must not happen is an assertion, never a Problem. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: ProblemDetails;
  constructor(code: ProblemCode, message: string, details: ProblemDetails = {}) {
    super(message);
    this.name = "Problem";
    this.code = code;
    this.details = details;
  }
  get status(): number {
    return PROBLEMS[this.code];
  }
}
