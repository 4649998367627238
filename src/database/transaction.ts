import type { Answer, Connection } from "./connection.ts";
import { begun, COMMIT, type Earlier, ROLLBACK, refusedBegin, rowsOf, settle } from "./flight.ts";
import { type Prepared, prepare } from "./parameter.ts";
import type { Query, Rows } from "./sql.ts";

/** A transaction in which an answer can be looked at before the next statement is sent. */
export interface Transaction {
  /** Rejects with RolledBack when the server refuses the statement: the transaction can then only roll back. */
  query<R>(query: Query): Promise<Rows<R>>;
  /** Sent together, answered together; the first error rejects, after all were answered. */
  all(queries: readonly Query[]): Promise<readonly Rows<unknown>[]>;
  /** Sends the queries and COMMIT in one flight; after it the transaction is over. */
  finish(queries: readonly Query[]): Promise<readonly Rows<unknown>[]>;
}

/**
 * Runs `work` in a transaction of this connection, which nobody else uses meanwhile. Commits when `work` returns
 * without `finish`, rolls back when it throws before. Resolves only when the commit is certain, even if `work`
 * swallowed the error of its own `finish`; the throw of a `work` that had committed already is passed on as it is.
 */
export async function transact<T>(connection: Connection, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const open = new OpenTransaction(connection);
  try {
    const value = await work(open);
    await open.end();
    return value;
  } catch (error) {
    await open.abandon();
    throw error;
  }
}

class OpenTransaction implements Transaction {
  readonly #connection: Connection;
  #begin: Promise<Answer> | undefined;
  #earlier: Earlier = { refusal: undefined, last: undefined };
  #finished: Promise<readonly Rows<unknown>[]> | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async query<R>(query: Query): Promise<Rows<R>> {
    const [rows] = await this.all([query]);
    return rows as Rows<R>;
  }

  async all(queries: readonly Query[]): Promise<readonly Rows<unknown>[]> {
    const { begin, answers } = this.#send(queries.map(prepare));
    const [began, ...answered] = await Promise.all([begin, ...answers]);
    const refusal = answered.find((answer) => answer.kind === "refused")?.error;
    this.#earlier = {
      refusal: refusal ?? this.#earlier.refusal,
      last: answered.at(-1) ?? this.#earlier.last,
    };
    if (began.kind === "refused") throw refusedBegin(began.error);
    return answered.map(rowsOf);
  }

  async finish(queries: readonly Query[]): Promise<readonly Rows<unknown>[]> {
    const prepared = queries.map(prepare);
    this.#refuseWhenOver();
    this.#finished = this.#commit(prepared);
    return this.#finished;
  }

  /** `work` has returned: the transaction is certain, or this rejects. */
  async end(): Promise<void> {
    // Nothing was asked, so there is nothing to commit.
    if (this.#finished === undefined && this.#begin === undefined) return;
    await (this.#finished ?? this.finish([]));
  }

  /** `work` has thrown. A connection whose rollback is not confirmed is never used again. */
  async abandon(): Promise<void> {
    if (this.#finished !== undefined) await this.#finished.catch(() => undefined);
    else if (this.#begin !== undefined) {
      this.#finished = Promise.reject(new Error("the transaction was rolled back"));
      this.#finished.catch(() => undefined);
      const answer = await this.#connection.ask(ROLLBACK);
      if (answer.kind !== "done") this.#connection.retire();
    }
  }

  async #commit(queries: readonly Prepared[]): Promise<readonly Rows<unknown>[]> {
    const { begin, answers } = this.#send([...queries, COMMIT]);
    const [began, ...statements] = await Promise.all([begin, ...answers]);
    const commit = statements.pop();
    if (commit === undefined) throw new TypeError("a finish has a commit");
    return settle({
      begin: began,
      statements,
      commit,
      earlier: this.#earlier,
      guarded: this.#connection.guarded,
    });
  }

  /** The begin rides with the first statements: a transaction costs no round trip of its own. */
  #send(queries: readonly Prepared[]): { begin: Promise<Answer>; answers: Promise<Answer>[] } {
    this.#refuseWhenOver();
    return this.#connection.together(() => {
      this.#begin ??= begun(this.#connection);
      return { begin: this.#begin, answers: queries.map((query) => this.#connection.ask(query)) };
    });
  }

  #refuseWhenOver(): void {
    if (this.#finished !== undefined) throw new Error("the transaction is over");
  }
}
