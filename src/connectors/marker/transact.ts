import type { Json, JsonObject } from "../../core/json.ts";
import type { Exchange, Sending } from "../exchange.ts";
import type { Effect, Marker, MarkerAsk } from "./ask.ts";
import { Gone, openSession, Refused, type Session } from "./session.ts";
import type { MarkerSettings } from "./settings.ts";

/**
 * Until COMMIT is sent the transaction ends with its connection, and with it all that it did: `before_commit` proves that nothing
 * happened. `at_commit`: the server may have committed.
 */
type MarkerPhase = "before_commit" | "at_commit";

/**
 * What the database has for an answer, in numbers that contracts know: 200 done, or found · 208 done by us before · 404 not there · 409
 * our marker names another action · 410 a tombstone stands in its place · 412 another version · 422 refused for good · 503 not now.
 */
type Status = 200 | 208 | 404 | 409 | 410 | 412 | 422 | 503;

/** How the transaction ends without a COMMIT. */
class Ended extends Error {
  override readonly name = "Ended";
  readonly exchange: Exchange;
  constructor(exchange: Exchange) {
    super("the transaction ends here");
    this.exchange = exchange;
  }
}

interface Course {
  readonly session: Session;
  readonly sending: Sending;
  readonly signal: AbortSignal;
  phase: MarkerPhase | undefined;
}

/** One message, in one transaction, on a connection of its own. */
export async function transact(
  settings: MarkerSettings,
  ask: MarkerAsk,
  sending: Sending,
): Promise<Exchange> {
  const lifeMs = Math.max(1, Math.ceil(sending.lifeMs));
  const signal = AbortSignal.any([sending.signal, AbortSignal.timeout(lifeMs)]);
  let course: Course | undefined;
  try {
    const session = await openSession(settings, signal);
    course = { session, sending, signal, phase: undefined };
    passGate(course);
    course.phase = "before_commit";
    await session.ask(begin(lifeMs));
    return await inTransaction(course, ask);
  } catch (error) {
    if (error instanceof Ended) return error.exchange;
    if (error instanceof Refused) return refusal(error, course?.phase);
    if (!(error instanceof Gone)) throw error;
    const phase = course?.phase;
    return phase === undefined
      ? { kind: "unsent", why: error.message }
      : { kind: "silent", cause: error.message, phase };
  } finally {
    course?.session.end();
  }
}

/** What nobody answers any more must not hold its locks for longer than it may act. */
function begin(lifeMs: number): string {
  const bounds = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];
  return [
    "begin isolation level read committed read write",
    ...bounds.map((name) => `set local ${name} = ${lifeMs}`),
  ].join("; ");
}

function passGate({ signal, sending }: Course): void {
  if (signal.aborted) throw new Ended({ kind: "unsent", why: "its time was over before it was sent" });
  if (!sending.gate()) throw new Ended({ kind: "unsent", why: "the send gate was closed" });
}

async function inTransaction(course: Course, ask: MarkerAsk): Promise<Exchange> {
  switch (ask.kind) {
    case "perform": {
      if (!(await insert(course.session, ask.marker, "applied"))) return already(course.session, ask.marker);
      const row = await perform(course.session, ask.effect);
      await commit(course);
      return answered(200, row === undefined ? {} : { row });
    }
    case "bar":
      if (!(await insert(course.session, ask.marker, "barred"))) return already(course.session, ask.marker);
      await commit(course);
      return answered(200, { state: "barred", digest: ask.marker.digest });
    case "find":
      return find(course.session, ask.marker);
  }
}

function answered(status: Status, body: JsonObject): Exchange {
  return { kind: "answered", reply: { status, headers: {}, body, at: Date.now() } };
}

/** True when the row is ours now. Waits for a transaction that is writing the same row, so that its end is known. */
async function insert({ ask }: Session, marker: Marker, state: "applied" | "barred"): Promise<boolean> {
  const text = `insert into writ_operations (tenant_id, operation_id, digest, state) values ($1, $2, $3, $4) on conflict do nothing`;
  const { rowCount } = await ask(text, [marker.tenant, marker.operation, marker.digest, state]);
  return rowCount === 1;
}

interface Row {
  readonly digest: string;
  readonly state: string;
  readonly at: string;
}

/** The row that stands there, locked: what it says is committed. */
async function standing({ ask }: Session, { tenant, operation }: Marker): Promise<Row | undefined> {
  const text = `select digest, state, to_json(at) #>> '{}' as at from writ_operations where tenant_id = $1 and operation_id = $2 for share`;
  const { rows } = await ask(text, [tenant, operation]);
  return rows[0] as Row | undefined; // Named by the statement.
}

async function already(session: Session, marker: Marker): Promise<Exchange> {
  const row = await standing(session, marker);
  if (row === undefined) return answered(503, { message: "the marker row went away meanwhile" });
  if (row.digest !== marker.digest)
    return answered(409, { ...row, message: "the marker row of this operation names another action" });
  return row.state === "applied"
    ? answered(208, { ...row })
    : answered(410, { ...row, message: "a tombstone stands in this operation's place" });
}

/**
 * A plain read, and a locking one too, passes over a row that another transaction has written and not yet committed. An insert of the same
 * row waits for it; it is rolled back, so that asking leaves nothing.
 */
async function find(session: Session, marker: Marker): Promise<Exchange> {
  if (await insert(session, marker, "applied")) return answered(404, { state: "none" });
  const row = await standing(session, marker);
  return row === undefined ? answered(503, { state: "moving" }) : answered(200, { ...row });
}

/** The tool's statement, which changes exactly one row, or none. Gives what it returned. */
async function perform(
  { ask }: Session,
  { perform: statement, read, version }: Effect,
): Promise<JsonObject | undefined> {
  const { rowCount, rows } = await ask(statement.text, statement.values);
  if (rowCount === 1) return rows[0] === undefined ? undefined : plain(rows[0]);
  if (rowCount !== 0)
    throw new Ended(
      answered(422, {
        message: `the tool's SQL touched ${rowCount ?? "no countable"} rows, and may touch 1`,
      }),
    );
  const found = read === undefined ? undefined : await ask(read.text, read.values);
  const there = found?.rows[0];
  if (version === undefined || (found !== undefined && there === undefined))
    throw new Ended(answered(404, { message: "no row matched" }));
  const current = there === undefined ? undefined : plain(there).version;
  throw new Ended(
    answered(412, {
      version: current ?? null,
      message: `version ${version} is not the current one${current === undefined ? "" : `, which is ${String(current)}`}`,
    }),
  );
}

/** Rows of a driver hold dates and the like. */
function plain(row: unknown): JsonObject {
  return JSON.parse(JSON.stringify(row)) as Record<string, Json>; // A row is an object of columns.
}

async function commit(course: Course): Promise<void> {
  passGate(course);
  course.phase = "at_commit";
  const { tag, warned } = await course.session.ask("commit");
  if (tag === "ROLLBACK")
    throw new Ended(answered(503, { message: "the database rolled the transaction back" }));
  // Under synchronous replication a cancelled wait commits here and perhaps nowhere else: WARNING 01000.
  if (tag !== "COMMIT" || warned)
    throw new Ended({
      kind: "silent",
      cause: `the database answered the commit with ${tag} and a warning`,
      phase: "at_commit",
    });
}

// Conflicts, locks and cancels, a demoted primary, a missing table or right that its owner can mend.
const PASSING = /^(25006|40|42501|42P01|55P03|57014)/;

function refusal({ message, sqlState, open }: Refused, phase: MarkerPhase | undefined): Exchange {
  // 42P01 and 42501 of the tool's own SQL are not told apart from the marker's: both are for the operator to mend.
  if (!open) return answered(PASSING.test(sqlState) ? 503 : 422, { sqlState, message });
  const cause = `${sqlState}: ${message}`;
  return phase === undefined ? { kind: "unsent", why: cause } : { kind: "silent", cause, phase };
}
