import type { ApprovalAnswer, ApprovalPage, DecisionBody } from "./wire/approval.ts";
import type { HaltAnswer, HaltBody, StandingAnswer } from "./wire/authority.ts";
import type {
  DelegationAnswer,
  DelegationBody,
  DelegationPage,
  RevocationAnswer,
  RevocationBody,
  RevocationPage,
} from "./wire/delegation.ts";
import type { ToolAnswer } from "./wire/offer.ts";
import type * as rules from "./wire/policy.ts";
import type { ExplanationAnswer, HistoryAnswer, ReceiptAnswer } from "./wire/record.ts";
import type { OperationAnswer, OperationPage, ProblemAnswer, ProposeBody, RulingBody } from "./wire.ts";

export interface ClientOptions {
  /** Where Writ listens, such as `http://127.0.0.1:7070`. */
  readonly url: string;
  readonly token: string;
  /** Another `fetch`, for a proxy or a test. */
  readonly fetch?: typeof fetch;
  /** The longest silence of Writ beyond the time that it was asked to wait. */
  readonly timeoutMs?: number;
  /** How often to ask when no answer comes; 4 if not said. */
  readonly triesMax?: number;
}

/** Writ's own "no" (RFC 9457). `problem.code` is stable; where an operation exists, `problem.operationId` names it. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly problem: ProblemAnswer;
  readonly retryAfterMs: number | undefined;
  constructor(problem: ProblemAnswer, retryAfterMs: number | undefined) {
    super(problem.detail);
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No answer of Writ's came. What was asked may have been done: ask again, a proposal under this same `intentKey`. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
  readonly intentKey: string | undefined;
  constructor(why: string, intentKey?: string) {
    super(why);
    this.intentKey = intentKey;
  }
}

export interface ProposeOptions {
  /** Names the intent. Made when it is not given, and sent again under the same name while no answer comes. */
  readonly intentKey?: string;
  /** How long Writ may hold the answer for the operation to settle: at most 30. */
  readonly waitSeconds?: number;
}

export interface ListOptions {
  readonly state?: OperationAnswer["state"];
  readonly tool?: string;
  readonly resource?: string;
  readonly principal?: string;
  /** Only those that need a person. */
  readonly attention?: boolean;
  readonly since?: string;
  /** How many on one page: at most 100. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** Writ over HTTP, for agents, programs and people. */
export interface Client {
  propose(body: ProposeBody, options?: ProposeOptions): Promise<OperationAnswer>;
  get(operationId: string, waitSeconds?: number): Promise<OperationAnswer>;
  /** Asks until the operation has settled or needs a person, or the time is over; then gives it as it is. */
  wait(operationId: string, timeoutMs: number): Promise<OperationAnswer>;
  list(options?: ListOptions): Promise<OperationPage>;
  explain(operationId: string): Promise<ExplanationAnswer>;
  receipt(operationId: string): Promise<ReceiptAnswer>;
  events(operationId: string): Promise<HistoryAnswer>;
  cancel(operationId: string): Promise<OperationAnswer>;
  /** Runs an operation that was proposed for later. */
  execute(operationId: string): Promise<OperationAnswer>;
  /** Asks the provider now. */
  reconcile(operationId: string): Promise<OperationAnswer>;
  /** A person's ruling on an operation in doubt. */
  resolve(operationId: string, ruling: RulingBody): Promise<OperationAnswer>;
  /** What waits for this person's decision, or for anybody's; each with the nonce of this view. */
  approvals(of?: "me" | "all", cursor?: string): Promise<ApprovalPage>;
  approval(operationId: string): Promise<ApprovalAnswer>;
  decide(operationId: string, decision: DecisionBody): Promise<OperationAnswer>;
  /** Takes one's own yes back. */
  withdraw(operationId: string): Promise<OperationAnswer>;
  halt(order: HaltBody): Promise<HaltAnswer>;
  lift(haltId: string): Promise<StandingAnswer>;
  halts(): Promise<StandingAnswer>;
  /** Gives a client a part of what this token holds. */
  delegate(body: DelegationBody): Promise<DelegationAnswer>;
  delegations(query?: { readonly holder?: string; readonly standing?: true }): Promise<DelegationPage>;
  revokeDelegation(id: string, reason: string): Promise<DelegationAnswer>;
  /** Of a person or a client. */
  revoke(body: RevocationBody): Promise<RevocationAnswer>;
  restore(revocationId: string): Promise<object>;
  revocations(): Promise<RevocationPage>;
  policies(): Promise<rules.PoliciesAnswer>;
  /** It does not stand by this: what it would change is the answer. */
  keepPolicy(body: rules.PolicyBody): Promise<rules.CandidateAnswer>;
  activatePolicy(digest: string, order: rules.ActivationBody): Promise<rules.PolicyVersionAnswer>;
  replayPolicy(digest: string, body: rules.ReplayBody): Promise<rules.ReplayAnswer>;
  tools(): Promise<readonly ToolAnswer[]>;
}

const TIMEOUT_MS = 15_000;
const TRIES_MAX = 4;
const PAUSE_MS = 250;
/** Writ holds an answer until the operation has settled; that it needs a person is noticed between two questions. */
const HOLD_MAX_SECONDS = 2;

/** A client of one Writ under one token. It opens nothing until it is asked and has nothing to close. */
export function writClient(options: ClientOptions): Client {
  const ask = <Answer>(asked: Asked): Promise<Answer> => answer<Answer>(options, asked);
  const at = (id: string, verb = ""): string => `/v1/operations/${encodeURIComponent(id)}${verb}`;
  const get: Client["get"] = (id, waitSeconds = 0) =>
    ask({ method: "GET", path: at(id), query: { wait: waitSeconds || undefined }, waitSeconds });
  const post = <Answer>(path: string): Promise<Answer> => ask({ method: "POST", path, body: {} });
  // Said twice, these would be done twice or answered otherwise: whoever asked looks before asking again.
  const once = <Answer>(path: string, body: object): Promise<Answer> =>
    ask({ method: "POST", path, body, triesMax: 1 });
  return {
    propose: (body, { intentKey = newIntentKey(), waitSeconds } = {}) =>
      ask({
        method: "POST",
        path: "/v1/operations",
        body,
        intentKey,
        ...(waitSeconds === undefined ? {} : { waitSeconds }),
      }),
    get,
    wait: (id, timeoutMs) => waitFor(get, id, timeoutMs),
    list: (query = {}) => ask({ method: "GET", path: "/v1/operations", query: { ...query } }),
    explain: (id) => ask({ method: "GET", path: at(id, "/explanation") }),
    receipt: (id) => ask({ method: "GET", path: at(id, "/receipt") }),
    events: (id) => ask({ method: "GET", path: at(id, "/events") }),
    cancel: (id) => post(at(id, "/cancel")),
    execute: (id) => post(at(id, "/execute")),
    reconcile: (id) => post(at(id, "/reconcile")),
    resolve: (id, ruling) => once(at(id, "/findings"), ruling),
    approvals: (of, cursor) => ask({ method: "GET", path: "/v1/approvals", query: { of, cursor } }),
    approval: (id) => ask({ method: "GET", path: `/v1/approvals/${encodeURIComponent(id)}` }),
    // The nonce answers once: the same answer sent again is the same answer.
    decide: (id, decision) => ask({ method: "POST", path: at(id, "/decisions"), body: decision }),
    withdraw: (id) => post(at(id, "/decisions/withdraw")),
    halt: (order) => once("/v1/halts", order),
    lift: (id) => once(`/v1/halts/${encodeURIComponent(id)}/lift`, {}),
    halts: () => ask({ method: "GET", path: "/v1/halts" }),
    policies: () => ask({ method: "GET", path: "/v1/policies" }),
    keepPolicy: (body) => ask({ method: "POST", path: "/v1/policies", body }),
    activatePolicy: (digest, order) => once(`/v1/policies/${encodeURIComponent(digest)}/activate`, order),
    replayPolicy: (digest, body) => once(`/v1/policies/${encodeURIComponent(digest)}/replay`, body),
    delegate: (body) => once("/v1/delegations", body),
    delegations: (query = {}) =>
      ask({ method: "GET", path: "/v1/delegations", query: { ...query, limit: 100 } }),
    revokeDelegation: (id, reason) =>
      ask({ method: "POST", path: `/v1/delegations/${encodeURIComponent(id)}/revoke`, body: { reason } }),
    revoke: (body) => ask({ method: "POST", path: "/v1/revocations", body }),
    restore: (id) => once(`/v1/revocations/${encodeURIComponent(id)}/lift`, {}),
    revocations: () => ask({ method: "GET", path: "/v1/revocations", query: { limit: 100 } }),
    tools: async () =>
      (await ask<{ readonly tools: readonly ToolAnswer[] }>({ method: "GET", path: "/v1/tools" })).tools,
  };
}

async function waitFor(get: Client["get"], id: string, timeoutMs: number): Promise<OperationAnswer> {
  const giveUpAt = Date.now() + timeoutMs;
  for (;;) {
    const leftMs = Math.max(0, giveUpAt - Date.now());
    const began = Date.now();
    const operation = await get(id, Math.min(HOLD_MAX_SECONDS, Math.ceil(leftMs / 1000)));
    const { state, attention } = operation;
    if (state === "succeeded" || state === "rejected" || attention !== undefined) return operation;
    if (Date.now() >= giveUpAt) return operation;
    // Writ answers early when the operation moves; a state that does not change must not become a busy loop.
    await pause(Math.min(Math.max(0, PAUSE_MS - (Date.now() - began)), giveUpAt - Date.now()));
  }
}

interface Asked {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: object;
  readonly intentKey?: string;
  readonly waitSeconds?: number;
  readonly triesMax?: number;
}

/** Silence is answered by asking again, a proposal always under the same key: it is the same intent, however often it arrives. */
async function answer<Answer>(options: ClientOptions, asked: Asked): Promise<Answer> {
  const triesMax = asked.triesMax ?? options.triesMax ?? TRIES_MAX;
  for (let tries = 1; ; tries++) {
    try {
      return (await exchange(options, asked)) as Answer; // The other side is Writ: the routes answer in the shapes of wire.ts.
    } catch (error) {
      if (!(error instanceof Unanswered) || tries >= triesMax) throw error;
      await pause(PAUSE_MS * 2 ** (tries - 1));
    }
  }
}

async function exchange(options: ClientOptions, asked: Asked): Promise<unknown> {
  const { intentKey, waitSeconds = 0 } = asked;
  const { url, request } = requestOf(options, asked);
  try {
    const signal = AbortSignal.timeout((options.timeoutMs ?? TIMEOUT_MS) + waitSeconds * 1000);
    const response = await (options.fetch ?? fetch)(url, { ...request, signal });
    const text = await response.text();
    if (response.ok) return text === "" ? undefined : parsed(text, asked);
    throw new Refused(problemOf(text, response), secondsToMs(response.headers.get("retry-after")));
  } catch (error) {
    if (error instanceof Refused || error instanceof Unanswered) throw error;
    throw new Unanswered(`${options.url} does not answer: ${causeOf(error)}`, intentKey);
  }
}

function requestOf(
  { url, token }: ClientOptions,
  { method, path, query = {}, body, intentKey, waitSeconds }: Asked,
): { readonly url: string; readonly request: RequestInit } {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  const headers: Record<string, string> = {
    authorization: `Bearer ${token}`,
    accept: "application/json, application/problem+json",
  };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (intentKey !== undefined) headers["idempotency-key"] = `"${intentKey}"`;
  if (waitSeconds !== undefined && method === "POST") headers.prefer = `wait=${waitSeconds}`;
  return {
    url: `${url.replace(/\/+$/, "")}${path}${search}`,
    request: {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A token that follows a redirect is given away.
      redirect: "error",
    },
  };
}

function parsed(text: string, asked: Asked): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unanswered("the answer is not JSON: is this Writ's address?", asked.intentKey);
  }
}

/** What is not a problem of Writ's comes from something in between; it says nothing about the operation. */
function problemOf(text: string, response: Response): ProblemAnswer {
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object" && "code" in value && "detail" in value)
      return value as ProblemAnswer; // Only Writ answers in problems that carry a code.
  } catch {
    // Not JSON: told below.
  }
  const detail = `${response.url} answered ${response.status}, and not in Writ's words`;
  return {
    type: "about:blank",
    title: response.statusText,
    status: response.status,
    detail,
    code: "internal",
  };
}

function secondsToMs(seconds: string | null): number | undefined {
  return seconds !== null && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause instanceof Error ? error.cause : error;
  const code = "code" in inner && typeof inner.code === "string" ? inner.code : inner.name;
  return code === "TimeoutError" ? "the time for an answer is over" : `${code} ${inner.message}`.trim();
}

/** 128 random bits, from the one source that every browser and every Node has. */
function newIntentKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, Math.max(0, ms)));
}
