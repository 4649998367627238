import type { Answer, Connection } from "./connection.ts";
import { fly, rowsOf } from "./flight.ts";
import { Holds } from "./holds.ts";
import { Line } from "./line.ts";
import { type Prepared, prepare } from "./parameter.ts";
import { type Notice, type Session, sessionOf } from "./session.ts";
import type { Query, Rows } from "./sql.ts";
import { type Transaction, transact } from "./transaction.ts";
import { walled } from "./wall.ts";

export type { Transaction } from "./transaction.ts";

/**
 * A PostgreSQL server. Each promise ends in one of three ways: rows, and then the commit is certain; RolledBack,
 * and then nothing was committed; CommitUnknown, and then only reading again by id tells. Nothing is sent twice
 * but a read.
 */
export interface Database {
  /** One read on the small read pool. It cannot write: its session is read only. It sees every tenant: for what serves many in one statement. */
  read<R>(query: Query): Promise<Rows<R>>;
  /** The same behind the wall of one tenant (row-level security): whatever the query says, it sees no row of another. */
  readWithin<R>(tenantId: string, query: Query): Promise<Rows<R>>;
  /**
   * begin, the queries, commit: sent in one piece on the one pipelined writer connection; all or nothing. Many
   * flights may be on their way at a time; they are done in the order of the calls, and one that fails leaves
   * the others alone.
   */
  flight(queries: readonly Query[]): Promise<readonly Rows<unknown>[]>;
  /**
   * For work that must look at an answer before the next statement; it holds one of a few writer connections.
   * Commits when `work` returns, rolls back when it throws.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Waits for what was sent. Later calls are RolledBack. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly url: string;
  readonly applicationName?: string;
  readonly readersMax?: number;
  readonly writersMax?: number;
  readonly statementTimeoutMs?: number;
  /** The longest silence of the server with a question open; more than the statement timeout, or it decides. */
  readonly answerDeadlineMs?: number;
  readonly onNotice?: (notice: Notice) => void;
}

const READERS_MAX = 4;
const WRITERS_MAX = 4;
const STATEMENT_TIMEOUT_MS = 10_000;
// Statements end by their own timeout; what is silent longer is a commit that waits for a standby, or a dead peer.
const ANSWER_DEADLINE_MS = 15_000;

/** Rejects with RolledBack when the server cannot be reached within five seconds. */
export async function connect(options: ConnectOptions): Promise<Database> {
  const session = sessionOf({
    url: options.url,
    applicationName: options.applicationName ?? "writ",
    statementTimeoutMs: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    answerDeadlineMs: options.answerDeadlineMs ?? ANSWER_DEADLINE_MS,
    onNotice: options.onNotice ?? (() => undefined),
  });
  const server = new Server(session, options.readersMax ?? READERS_MAX, options.writersMax ?? WRITERS_MAX);
  await server.open();
  return server;
}

class Server implements Database {
  readonly #pipe: Line;
  readonly #readers: readonly Line[];
  readonly #writers: Holds;

  constructor(session: Session, readersMax: number, writersMax: number) {
    const lines = (count: number): Line[] => Array.from({ length: count }, () => new Line(session));
    this.#pipe = new Line(session);
    this.#readers = lines(readersMax);
    this.#writers = new Holds(lines(writersMax), session.answerDeadlineMs);
  }

  async open(): Promise<void> {
    await this.#pipe.open();
  }

  async read<R>(query: Query): Promise<Rows<R>> {
    const prepared = prepare(query);
    let answer = await this.#ask(prepared);
    // The one statement that may be sent twice: it changes nothing, and an idle connection may have died unseen.
    if (answer.kind === "lost") answer = await this.#ask(prepared);
    return rowsOf(answer) as Rows<R>;
  }

  async readWithin<R>(tenantId: string, query: Query): Promise<Rows<R>> {
    const prepared = prepare(query);
    let answer = await walled(await this.#reader(), tenantId, prepared);
    if (answer.kind === "lost") answer = await walled(await this.#reader(), tenantId, prepared);
    return rowsOf(answer) as Rows<R>;
  }

  async flight(queries: readonly Query[]): Promise<readonly Rows<unknown>[]> {
    const prepared = queries.map(prepare);
    return fly(await this.#pipe.open(), prepared);
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#writers.lend(async (line) => transact(await line.open(), work));
  }

  async close(): Promise<void> {
    await this.#writers.close();
    await Promise.all([this.#pipe, ...this.#readers].map((line) => line.close()));
  }

  async #ask(query: Prepared): Promise<Answer> {
    return (await this.#reader()).ask(query);
  }

  /** A read goes to an idle connection, else to a new one, else behind the fewest others. */
  async #reader(): Promise<Connection> {
    const idle = this.#readers.filter((line) => line.load === 0);
    const least = this.#readers.reduce((one, other) => (other.load < one.load ? other : one));
    const line = idle.find((each) => each.up) ?? idle[0] ?? least;
    return line.open();
  }
}
