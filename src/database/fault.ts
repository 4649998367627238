import type { DatabaseError } from "pg";

/**
 * The effect of the transaction may exist, and may not: the answer to its commit was lost, late, or came with a
 * warning. Never report it as done or as not done; read again by id.
 */
export class CommitUnknown extends Error {
  override readonly name = "CommitUnknown";
}

/** The server answered, and what it answered has no exact reading here, such as a number beyond 2^53-1. Nothing of it was committed. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}

export interface RolledBackFacts {
  readonly sqlState?: string | undefined;
  readonly constraint?: string | undefined;
  readonly retryable: boolean;
  readonly cause?: unknown;
}

/** The transaction is provably not committed. `retryable` says that the same work may well succeed later. */
export class RolledBack extends Error {
  override readonly name = "RolledBack";
  /** The five characters of the server's answer; undefined when the server gave none, as when it is not there. */
  readonly sqlState: string | undefined;
  /** The constraint that was violated, when the server names one. */
  readonly constraint: string | undefined;
  readonly retryable: boolean;

  constructor(message: string, facts: RolledBackFacts) {
    super(message, { cause: facts.cause });
    this.sqlState = facts.sqlState;
    this.constraint = facts.constraint;
    this.retryable = facts.retryable;
  }
}

/** For an error of the server that ended the transaction. */
export function rolledBackBy(error: DatabaseError): RolledBack {
  return new RolledBack(error.message, {
    sqlState: error.code,
    constraint: error.constraint,
    retryable: isRetryable(error.code),
    cause: error,
  });
}

/** For a connection that broke, or never was, before a commit was sent on it. */
export function rolledBackUnsent(message: string, cause: unknown): RolledBack {
  return new RolledBack(message, { sqlState: stateOf(cause), retryable: isPassing(cause), cause });
}

/** Whether the reason that there is no connection can pass by itself: a wrong password cannot. */
export function isPassing(cause: unknown): boolean {
  const code = codeOf(cause);
  if (code === undefined) return cause instanceof Error && /terminated|timeout/.test(cause.message);
  return SOCKET.test(code) || isRetryable(code);
}

/**
 * Whether the server (or a proxy before it) ended the session with this error. Such an error says nothing of a
 * commit that is already on its way: a proxy answers in the place where its own connection broke.
 */
export function endsSession(error: DatabaseError): boolean {
  return error.severity === "FATAL" || error.severity === "PANIC";
}

/**
 * Whether an error that answers a COMMIT proves that nothing was committed. A constraint, a conflict, a cancel:
 * yes. 40003 (statement completion unknown), the connection, the session, resources, an internal error: no.
 */
export function provesRollback(error: DatabaseError): boolean {
  return !endsSession(error) && !/^(08|25P0[34]|40003|53|57P|58|F0|XX)/.test(error.code ?? "XX");
}

// 40001 and 40P01 conflicts; 25006 a demoted primary; 25P02 a neighbour's failed transaction; 53 no resources;
// 55P03 a lock not had in time; 57P shut down or starting; 08 the connection.
const RETRYABLE = /^(08|25006|25P0[234]|40001|40P01|53|55P03|57P0[123])/;

function isRetryable(state: string | undefined): boolean {
  return state !== undefined && RETRYABLE.test(state);
}

// The names of socket and resolver errors stand in the same field as an SQLSTATE.
const SOCKET = /^E[A-Z_]+$/;

function stateOf(cause: unknown): string | undefined {
  const code = codeOf(cause);
  return code === undefined || SOCKET.test(code) ? undefined : code;
}

function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
}
