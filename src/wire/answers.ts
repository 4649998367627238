import { advice, meaning } from "../core/answer.ts";
import type { Attempt } from "../core/attempt.ts";
import { contractValue } from "../core/contract.ts";
import { promise } from "../core/contract-promise.ts";
import { digestOf } from "../core/digest.ts";
import type { StoredEvent } from "../core/event.ts";
import { attemptDetail } from "../core/explain.ts";
import type { Halt } from "../core/halt.ts";
import type { Operation, Reason } from "../core/operation.ts";
import { timeText } from "../core/outlook.ts";
import { PROBLEMS, type Problem, type ProblemCode, problemTitle, problemType } from "../core/problem.ts";
import type { Tool } from "../core/tool.ts";
import type { AttemptAnswer, OperationAnswer, ProblemAnswer } from "../wire.ts";
import type { HaltAnswer } from "./authority.ts";
import type { ContractsAnswer, ToolAnswer } from "./offer.ts";
import type { EventAnswer } from "./record.ts";

/** An operation as every surface tells it. `how` says how this very call came to it. */
export function operationAnswer(operation: Operation, how?: OperationAnswer["how"]): OperationAnswer {
  return {
    operationId: operation.id,
    state: operation.state,
    ...given("reason", operation.reason),
    meaning: meaning(operation),
    next: advice(operation),
    ...given("how", how),
    tool: operation.tool,
    resource: operation.resource,
    digest: operation.digest,
    provider: operation.provider,
    principal: operation.principalId,
    client: operation.clientId,
    ...given("expectedVersion", operation.expectedVersion),
    ...given("currentVersion", operation.currentVersion),
    ...given("attention", operation.attention),
    ...authorizationAnswer(operation),
    attempts: operation.attempts.map(attemptAnswer),
    ...given("evidence", operation.evidence),
    ...given("intentKey", operation.intentKey),
    ...given("compensates", operation.compensates),
    ...given("supersedes", operation.supersedes),
    ...given("note", operation.note),
    execute: operation.execute,
    createdAt: timeText(operation.createdAt),
    updatedAt: timeText(operation.updatedAt),
    ...given("settledAt", operation.settledAt === undefined ? undefined : timeText(operation.settledAt)),
    expiresAt: timeText(operation.expiresAt),
    ...given("dueAt", operation.dueAt === undefined ? undefined : timeText(operation.dueAt)),
    revision: operation.revision,
    links: linksOf(operation),
  };
}

/** The member when it is there, and no member when it is not. */
function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [name in Name]?: Value } {
  // The computed name of one member is not inferred by the compiler.
  return value === undefined ? {} : ({ [name]: value } as { readonly [name in Name]: Value });
}

function authorizationAnswer({ authorization, state }: Operation): Pick<OperationAnswer, "authorization"> {
  // While people are asked again, what was permitted before permits nothing.
  if (authorization === undefined || state === "proposed") return {};
  const { policyVersion, policies, authorizedAt, expiresAt } = authorization;
  return {
    authorization: {
      policyVersion,
      policies: [...policies],
      authorizedAt: timeText(authorizedAt),
      expiresAt: timeText(expiresAt),
    },
  };
}

function attemptAnswer(attempt: Attempt): AttemptAnswer {
  return {
    n: attempt.n,
    claimedAt: timeText(attempt.claimedAt),
    learned: attempt.outcome?.kind ?? "nothing",
    ...given("detail", attemptDetail(attempt)),
    ...given("learnedAt", attempt.learnedAt === undefined ? undefined : timeText(attempt.learnedAt)),
  };
}

function linksOf({ id, settledAt }: Operation): NonNullable<OperationAnswer["links"]> {
  const self = `/v1/operations/${id}`;
  return {
    self,
    explanation: `${self}/explanation`,
    ...given("receipt", settledAt === undefined ? undefined : `${self}/receipt`),
    events: `${self}/events`,
  };
}

/** A refusal as RFC 9457 tells it. */
export function problemAnswer(problem: Problem, instance?: string): ProblemAnswer {
  const { next, operationId, at, currentVersion } = problem.details;
  return {
    type: problemType(problem.code),
    title: problemTitle(problem.code),
    status: PROBLEMS[problem.code],
    detail: problem.message,
    code: problem.code,
    ...given("next", next),
    ...given("operationId", operationId),
    ...given("at", at),
    ...given("currentVersion", currentVersion),
    ...given("instance", instance),
  };
}

/** Every reason for which an operation is rejected is a problem's code too. */
const codeOf = (reason: Reason): ProblemCode => reason;

/** What a rejected operation is to whoever asked for its effect. */
export function rejectionAnswer(operation: Operation): ProblemAnswer {
  const code = codeOf(operation.reason ?? "denied");
  const detail = lastDetail(operation);
  return {
    type: problemType(code),
    title: problemTitle(code),
    status: PROBLEMS[code],
    detail: detail === undefined ? meaning(operation) : `${meaning(operation)} (${detail})`,
    code,
    next: advice(operation),
    operationId: operation.id,
    ...given("currentVersion", operation.currentVersion),
  };
}

function lastDetail({ attempts }: Operation): string | undefined {
  const refused = attempts.findLast((attempt) => attempt.outcome?.kind === "refused");
  return refused === undefined ? undefined : attemptDetail(refused);
}

export function haltAnswer(halt: Halt): HaltAnswer {
  const { id, scope, name, reason, actor, at } = halt;
  return { id, scope, ...given("name", name), reason, actor, at: timeText(at) };
}

/** The stored text as a value, with the hash that names that text. */
export function eventAnswer(event: StoredEvent): EventAnswer {
  // The ledger's own statement wrote this text with exactly these members.
  const told = JSON.parse(event.body) as Omit<EventAnswer, "hash">;
  return { ...told, hash: event.hash };
}

export function toolAnswer(tool: Tool, digest: string): ToolAnswer {
  return {
    name: tool.name,
    title: tool.title,
    ...given("description", tool.description),
    provider: tool.provider,
    input: tool.input,
    resource: { type: tool.resource.type, id: tool.resource.id },
    expectedVersion: tool.expectedVersion,
    intentKey: tool.intentKey,
    reversible: tool.reversible,
    contract: tool.contract.contract,
    promise: [...promise(tool.contract)],
    digest,
  };
}

/** Contracts by content: two tools may share one, and one name may stand for two contents during a change. */
export function contractsAnswer(tools: readonly Tool[]): ContractsAnswer {
  const byDigest = new Map<string, ContractsAnswer["contracts"][number]>();
  for (const { name, contract } of tools) {
    const digest = digestOf("writ.contract.v1", contractValue(contract));
    const known = byDigest.get(digest);
    const entry = {
      contract: contract.contract,
      digest,
      transport: contract.transport,
      promise: [...promise(contract)],
    };
    byDigest.set(digest, { ...entry, tools: [...(known?.tools ?? []), name] });
  }
  return { contracts: [...byDigest.values()] };
}
