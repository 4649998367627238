import type { DatabaseError } from "pg";
import type { Answer, Connection } from "./connection.ts";
import {
  CommitUnknown,
  provesRollback,
  RolledBack,
  rolledBackBy,
  rolledBackUnsent,
  Unreadable,
} from "./fault.ts";
import type { Prepared } from "./parameter.ts";
import type { Rows } from "./sql.ts";

// Both are said in full: no default of the role or the database may change what a transaction of ours means.
const BEGIN = command("begin isolation level read committed read write");
export const COMMIT = command("commit");
export const ROLLBACK = command("rollback");

/** Nameless and without values, so it goes as a simple query, which costs less than a plan. */
function command(text: string): Prepared {
  return { name: "", text, values: [] };
}

/** begin, the statements and commit leave in one piece: between them stands nothing of another caller. */
export async function fly(
  connection: Connection,
  queries: readonly Prepared[],
): Promise<readonly Rows<unknown>[]> {
  const flying = connection.together(() => ({
    begin: begun(connection),
    statements: Promise.all(queries.map((query) => connection.ask(query))),
    commit: connection.ask(COMMIT),
  }));
  const [begin, statements, commit] = await Promise.all([flying.begin, flying.statements, flying.commit]);
  return settle({ begin, statements, commit, guarded: connection.guarded });
}

/** Opens a transaction. A server that refuses it may have become a standby: the next dial may find the primary. */
export async function begun(connection: Connection): Promise<Answer> {
  if (connection.stranded) void connection.ask(ROLLBACK);
  const answer = await connection.ask(BEGIN);
  if (answer.kind === "refused") connection.retire();
  return answer;
}

/** A begin is never refused for the sake of the work. */
export function refusedBegin(error: DatabaseError): RolledBack {
  return new RolledBack(`begin: ${error.message}`, { sqlState: error.code, retryable: true, cause: error });
}

/** What was heard of a transaction whose commit was sent. */
export interface Flown {
  readonly begin: Answer;
  /** Of the statements that were answered before the last flight, if the transaction had such. */
  readonly earlier?: Earlier;
  /** Of the statements that were sent together with the commit. */
  readonly statements: readonly Answer[];
  readonly commit: Answer;
  readonly guarded: boolean;
}

export interface Earlier {
  readonly refusal: DatabaseError | undefined;
  readonly last: Answer | undefined;
}

/**
 * Judges a transaction by its answers: the rows when it is committed for certain, else a throw of RolledBack
 * when it provably is not, and of CommitUnknown in every other case.
 */
export function settle(flown: Flown): readonly Rows<unknown>[] {
  const { begin, commit } = flown;
  if (begin.kind === "refused" && !saysRollback(commit)) throw unbegun(begin.error, flown);
  switch (commit.kind) {
    case "done":
      return committed(flown);
    case "refused":
      if (provesRollback(commit.error)) throw rolledBackBy(commit.error);
      throw hadFailed(flown) ?? new CommitUnknown(`commit: ${commit.error.message}`, { cause: commit.error });
    case "unreadable":
      throw new CommitUnknown(`commit: ${commit.error.message}`, { cause: commit.error });
    case "lost":
      if (!commit.sent) throw rolledBackUnsent(`before the commit: ${commit.cause.message}`, commit.cause);
      throw (
        hadFailed(flown) ??
        new CommitUnknown(`the answer to the commit was lost: ${commit.cause.message}`, {
          cause: commit.cause,
        })
      );
  }
}

function committed(flown: Flown): readonly Rows<unknown>[] {
  const { begin, commit, statements } = flown;
  const refusal = statements.find((answer) => answer.kind === "refused")?.error;
  if (saysRollback(commit)) {
    if (begin.kind === "refused") throw refusedBegin(begin.error);
    const reason = refusal ?? flown.earlier?.refusal;
    if (reason !== undefined) throw rolledBackBy(reason);
    throw new RolledBack("the server answered the commit with ROLLBACK", { retryable: true });
  }
  if (begin.kind !== "done" || commit.kind !== "done" || commit.tag !== "COMMIT")
    throw new CommitUnknown("the answers are not those of a begin and a commit");
  if (refusal !== undefined)
    throw new CommitUnknown(`committed in spite of an error: ${refusal.message}`, { cause: refusal });
  if (commit.warned) throw new CommitUnknown("committed with a warning: a standby may not have it");
  return statements.map((answer) => {
    if (answer.kind === "done") return { rows: answer.rows, rowCount: answer.rowCount };
    const cause = answer.kind === "lost" ? answer.cause : answer.error;
    throw new CommitUnknown(`committed, but an answer cannot be read: ${cause.message}`, { cause });
  });
}

/**
 * PostgreSQL does not commit a failed transaction, so when its last statement was refused the answer that is
 * missing is known. An earlier refusal proves nothing: the work may have gone back to a savepoint since.
 */
function hadFailed({ begin, earlier, statements }: Flown): RolledBack | undefined {
  const last = statements.at(-1) ?? earlier?.last;
  if (begin.kind !== "done" || last?.kind !== "refused") return undefined;
  return rolledBackBy(statements.find((answer) => answer.kind === "refused")?.error ?? last.error);
}

/** COMMIT of a failed transaction is no error: it succeeds, with the tag ROLLBACK. */
function saysRollback(commit: Answer): boolean {
  return commit.kind === "done" && commit.tag === "ROLLBACK";
}

/** Without a begin each statement stood alone, and the read-only default of the session kept it from writing. */
function unbegun(error: DatabaseError, flown: Flown): RolledBack | CommitUnknown {
  if (flown.guarded) return refusedBegin(error);
  return new CommitUnknown(`begin was refused, the statements were not: ${error.message}`, { cause: error });
}

/** The rows of a statement whose commit, if it has one, was not sent yet: what is lost is not committed. */
export function rowsOf(answer: Answer): Rows<unknown> {
  switch (answer.kind) {
    case "done":
      return { rows: answer.rows, rowCount: answer.rowCount };
    case "refused":
      throw rolledBackBy(answer.error);
    case "unreadable":
      throw new Unreadable(answer.error.message, { cause: answer.error });
    case "lost":
      throw rolledBackUnsent(`the answer was lost: ${answer.cause.message}`, answer.cause);
  }
}
