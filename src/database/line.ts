import { setTimeout as pause } from "node:timers/promises";
import { Connection } from "./connection.ts";
import { isPassing, RolledBack, rolledBackUnsent } from "./fault.ts";
import type { Session } from "./session.ts";

const BACK_OFF_MIN_MS = 25;
const BACK_OFF_MAX_MS = 500;

/**
 * The place of one connection. It is dialled when it is first wanted and again when it was lost; all that want
 * it meanwhile wait for the same dial.
 */
export class Line {
  readonly #session: Session;
  #connection: Connection | undefined;
  #dial: Promise<Connection> | undefined;
  #waiting = 0;
  #closed = false;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Statements without an answer here, and callers that wait for the dial. */
  get load(): number {
    return (this.#connection?.load ?? 0) + this.#waiting;
  }

  /** Whether there is a connection already, so that work starts without a dial. */
  get up(): boolean {
    return this.#connection?.usable === true;
  }

  /** Rejects with RolledBack when no connection is had within the deadline: nothing was sent. */
  open(): Promise<Connection> {
    if (this.#closed) return Promise.reject(new RolledBack("the database is closed", { retryable: false }));
    if (this.#connection?.usable === true) return Promise.resolve(this.#connection);
    this.#waiting += 1;
    this.#dial ??= this.#redial().finally(() => {
      this.#dial = undefined;
      this.#waiting = 0;
    });
    return this.#dial;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#dial?.catch(() => undefined);
    await this.#connection?.end();
  }

  /** A server that restarts is back in about a second: the callers who wait need not know. */
  async #redial(): Promise<Connection> {
    const giveUpAt = performance.now() + this.#session.connectDeadlineMs;
    for (let backOffMs = BACK_OFF_MIN_MS; ; backOffMs = Math.min(backOffMs * 2, BACK_OFF_MAX_MS)) {
      try {
        const connection = await Connection.dial(this.#session);
        this.#connection = connection;
        return connection;
      } catch (error) {
        if (this.#closed || !isPassing(error) || performance.now() + backOffMs > giveUpAt)
          throw this.#unreached(error);
        await pause(backOffMs);
      }
    }
  }

  #unreached(cause: unknown): RolledBack {
    const reason =
      cause instanceof Error ? cause.message || String(Reflect.get(cause, "code")) : String(cause);
    return rolledBackUnsent(`no connection to ${this.#session.place}: ${reason}`, cause);
  }
}
