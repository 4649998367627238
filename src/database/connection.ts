import { Client, DatabaseError, type QueryResult } from "pg";
import { endsSession } from "./fault.ts";
import type { Prepared } from "./parameter.ts";
import type { Session } from "./session.ts";

/** All that can be known of one statement. It is a value: a lost answer is no exception to the caller's plan. */
export type Answer =
  | {
      readonly kind: "done";
      readonly tag: string;
      readonly rows: readonly unknown[];
      readonly rowCount: number;
      /** The server warned while it worked on this statement. */
      readonly warned: boolean;
    }
  /** The server's error for this statement. */
  | { readonly kind: "refused"; readonly error: DatabaseError }
  /** The server did it, and we cannot read what it answered. */
  | { readonly kind: "unreadable"; readonly error: Error }
  /** No answer will come. `sent` is false when not a byte of it left us. */
  | { readonly kind: "lost"; readonly cause: Error; readonly sent: boolean };

interface Question {
  readonly answer: (answer: Answer) => void;
  warned: boolean;
}

// One turn of a loop that was held up reads what had arrived meanwhile.
const SECOND_LOOK_MS = 100;

const GOODBYE_MAX_MS = 1_000;

const READ_ONLY = "25006";
const PROBE = "select current_setting('default_transaction_read_only') = 'on' as guarded";

/**
 * One connection in pipelining mode: statements are sent at once and answered in the order of sending. It never
 * sends a statement twice and never sends a cancel. When the server is silent for longer than the deadline while
 * a question is open, the connection is destroyed and each open question is answered `lost`.
 */
export class Connection {
  readonly #client: Client;
  readonly #session: Session;
  readonly #open: Question[] = [];
  #deadline: NodeJS.Timeout | undefined;
  #overdue = false;
  #lost: Error | undefined;
  #retired = false;
  #guarded = false;

  /** Rejects with the driver's or the server's error when there is no connection to be had. */
  static async dial(session: Session): Promise<Connection> {
    const connection = new Connection(session);
    await connection.#client.connect();
    const answer = await connection.ask({ name: "", text: PROBE, values: [] });
    if (answer.kind === "done") {
      connection.#guarded = (answer.rows[0] as { guarded: boolean } | undefined)?.guarded === true;
      return connection;
    }
    const cause = answer.kind === "lost" ? answer.cause : answer.error;
    connection.#lose(cause);
    throw cause;
  }

  private constructor(session: Session) {
    this.#session = session;
    this.#client = new Client(session.client);
    this.#client.on("error", (error) => this.#lose(error));
    // Heard before the driver hears it: it would answer the open questions as if the server had.
    this.#client.connection.once("end", () => this.#lose(new Error("the connection was closed")));
    this.#client.on("notice", (notice) => {
      // Answers come in the order of the questions, so a warning belongs to the oldest one without an answer.
      const head = this.#open[0];
      if (head !== undefined && notice.code?.startsWith("01")) head.warned = true;
      const { severity = "", code = "", message = "" } = notice;
      session.onNotice({ severity, code, message });
    });
  }

  get usable(): boolean {
    return this.#lost === undefined && !this.#retired;
  }

  /** Statements that wait for their answer. */
  get load(): number {
    return this.#open.length;
  }

  /** Whether this session is known to write nothing outside of an explicit transaction. */
  get guarded(): boolean {
    return this.#guarded;
  }

  /** Whether the last transaction was left in a failed state with nothing behind it to end it. */
  get stranded(): boolean {
    return this.#open.length === 0 && (this.#client.getTransactionStatus() ?? "I") !== "I";
  }

  /** Never rejects. */
  ask(query: Prepared): Promise<Answer> {
    const { stream } = this.#client.connection;
    if (this.#lost === undefined && !stream.writable) this.#lose(new Error("the connection was closed"));
    const cause = this.#lost ?? (this.#retired ? new Error("the connection takes no more work") : undefined);
    if (cause !== undefined) return Promise.resolve({ kind: "lost", cause, sent: false });
    return new Promise((resolve) => {
      const question: Question = { answer: resolve, warned: false };
      this.#open.push(question);
      if (this.#deadline === undefined) this.#watch(this.#session.answerDeadlineMs);
      void this.#client.query(
        { name: query.name, text: query.text, values: [...query.values] },
        (error: Error | null, result: QueryResult) => this.#answered(question, error, result),
      );
    });
  }

  /** Whatever `ask` asks leaves in one piece. */
  together<T>(ask: () => T): T {
    const { stream } = this.#client.connection;
    stream.cork();
    try {
      return ask();
    } finally {
      stream.uncork();
    }
  }

  /** Takes no new work; what is open is still answered, then the connection ends. */
  retire(): void {
    if (this.#retired) return;
    this.#retired = true;
    void this.#client.end().catch(() => undefined);
  }

  /** Resolves when what is open is answered and the connection is closed. */
  async end(): Promise<void> {
    this.#retired = true;
    if (this.#lost !== undefined) return;
    // A dead peer does not answer a goodbye either.
    const impatience = setInterval(() => {
      if (this.load === 0) this.#lose(new Error("the server did not answer the goodbye"));
    }, GOODBYE_MAX_MS);
    await this.#client.end().catch(() => undefined);
    clearInterval(impatience);
  }

  #answered(question: Question, error: Error | null, result: QueryResult): void {
    if (error instanceof DatabaseError && endsSession(error)) this.#lose(error);
    // The driver answers once more what was given up as lost.
    const position = this.#open.indexOf(question);
    if (position < 0) return;
    this.#open.splice(position, 1);
    this.#watch(this.#open.length === 0 ? undefined : this.#session.answerDeadlineMs);
    // A primary that became a standby: the next dial may find the new one.
    if (error instanceof DatabaseError && error.code === READ_ONLY) this.retire();
    question.answer(read(question, error, result));
  }

  /** The deadline is for silence: any answer gives the next question the full time. */
  #watch(ms: number | undefined): void {
    if (ms !== undefined && this.#deadline !== undefined && !this.#overdue) {
      this.#deadline.refresh();
      return;
    }
    clearTimeout(this.#deadline);
    this.#overdue = false;
    this.#deadline = ms === undefined ? undefined : setTimeout(() => this.#ring(), ms);
  }

  #ring(): void {
    if (this.#overdue) {
      this.#lose(new Error(`the server did not answer for ${this.#session.answerDeadlineMs} ms`));
      return;
    }
    // Our own process may have stood still, with the answer waiting in the socket.
    this.#overdue = true;
    this.#deadline = setTimeout(() => this.#ring(), SECOND_LOOK_MS);
  }

  #lose(cause: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = cause;
    this.#watch(undefined);
    this.#client.connection.stream.destroy();
    for (const question of this.#open.splice(0)) question.answer({ kind: "lost", cause, sent: true });
  }
}

function read(question: Question, error: Error | null, result: QueryResult): Answer {
  if (error instanceof DatabaseError) return { kind: "refused", error };
  if (error !== null) return { kind: "unreadable", error };
  const { command: tag, rows, rowCount } = result;
  return { kind: "done", tag, rows, rowCount: rowCount ?? 0, warned: question.warned };
}
