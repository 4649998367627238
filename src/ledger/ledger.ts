import { canonicalJson, type Json } from "../core/json.ts";
import type { Operation } from "../core/operation.ts";
import { Problem } from "../core/problem.ts";
import { type Coalescer, coalesce, Overloaded } from "../database/coalesce.ts";
import { CommitUnknown, RolledBack, Unreadable } from "../database/fault.ts";
import type { Database } from "../database/pool.ts";
import type {
  ClaimAnswer,
  Claiming,
  Ledger,
  OpenAnswer,
  Opening,
  RecordAnswer,
  Recording,
} from "../service/ledger-port.ts";
import * as authority from "./authority.ts";
import { claimBatch, claimLocalBatch } from "./claim.ts";
import { postgresDelegations } from "./delegations.ts";
import { EffectRefused } from "./local.ts";
import { openBatch, openLocalBatch } from "./open.ts";
import { openingKeys, recordedOperation } from "./opening.ts";
import * as reading from "./read.ts";
import { due, postpone, recordBatch } from "./record.ts";
import { openSuperseding } from "./supersede.ts";
import { tidy } from "./tidy.ts";

/** How many items share one commit, how many commits are under way, how many callers may wait. */
export interface LedgerBounds {
  readonly batchMax: number;
  readonly inFlightMax: number;
  readonly waitingMax: number;
}
// Measured: 32-64 a batch with several in flight is the best of throughput and p99; larger batches only cost.
export const LEDGER_BOUNDS: LedgerBounds = { batchMax: 48, inFlightMax: 4, waitingMax: 10_000 };
// They all leave on one connection: measured, two on their way gather larger batches than four, and nobody waits longer.
const PIPELINED_MAX = 2;

export interface ClosableLedger extends Ledger {
  /** Waits for what was submitted. */
  close(): Promise<void>;
}

/** The Ledger port on PostgreSQL. Concurrent callers share statements and commits; each is answered for its own item. */
export function postgresLedger(database: Database, bounds: LedgerBounds = LEDGER_BOUNDS): ClosableLedger {
  const pipelined = { ...bounds, inFlightMax: Math.min(PIPELINED_MAX, bounds.inFlightMax) };
  const opening = batches(pipelined, (items: readonly Opening[]) => openBatch(database, items), openingKeys);
  const openingLocal = batches(
    bounds,
    (items: readonly Opening[]) => openLocalBatch(database, items),
    openingKeys,
  );
  const claiming = batches(
    pipelined,
    (items: readonly Claiming[]) => claimBatch(database, items),
    claimingKeys,
  );
  const claimingLocal = batches(
    bounds,
    (items: readonly Claiming[]) => claimLocalBatch(database, items),
    claimingKeys,
  );
  const recording = batches(
    pipelined,
    (items: readonly Recording[]) => recordBatch(database, items),
    recordingKeys,
  );
  return {
    delegations: postgresDelegations(database),
    open: (item) => open(item, database, item.local === undefined ? opening : openingLocal),
    claim: (item) => claim(item, database, item.local === undefined ? claiming : claimingLocal),
    record: (item) => record(item, database, recording),
    postpone: (operation, dueAt) => answered(postpone(database, operation, dueAt)),
    due: (query) => answered(due(database, query)),
    read: (tenantId, id) => answered(reading.readOne(database, tenantId, id)),
    intent: (tenantId, principalId, key) => answered(reading.intent(database, tenantId, principalId, key)),
    list: (tenantId, query) => answered(reading.list(database, tenantId, query)),
    events: (tenantId, id) => answered(reading.events(database, tenantId, id)),
    receipt: (tenantId, id) => answered(reading.receipt(database, tenantId, id)),
    tidy: () => answered(tidy(database)),
    changes: (tenantId, afterSeq, max) => answered(reading.changes(database, tenantId, afterSeq, max)),
    authority: (tenantId) => answered(authority.authority(database, tenantId)),
    halt: (tenantId, asked) => answered(authority.halt(database, tenantId, asked)),
    lift: (tenantId, haltId, actor) => answered(authority.lift(database, tenantId, haltId, actor)),
    keepProbe: (tenantId, probe, actor) => answered(authority.keepProbe(database, tenantId, probe, actor)),
    raiseEpoch: (tenantId, why, actor) => answered(authority.raiseEpoch(database, tenantId, why, actor)),
    enroll: (tenantId, definitions, more) =>
      answered(authority.enroll(database, tenantId, definitions, more)),
    inForce: (tenantId) => answered(authority.inForce(database, tenantId)),
    definition: (tenantId, digest) => answered(authority.definition(database, tenantId, digest)),
    close: async () => {
      await Promise.all(
        [opening, openingLocal, claiming, claimingLocal, recording].map((batch) => batch.close()),
      );
    },
  };
}

/** Never two items of one operation in one statement: a row takes one change at a time. */
function claimingKeys(item: Claiming): readonly string[] {
  const keys = [`id ${item.operation.id}`];
  return item.local === undefined
    ? keys
    : [...keys, `resource ${item.operation.tenantId} ${item.operation.resource}`];
}

function recordingKeys(item: Recording): readonly string[] {
  return [`id ${item.operation.id}`];
}

const TRIES_MAX = 5;

function batches<I, O>(
  bounds: LedgerBounds,
  run: (items: readonly I[]) => Promise<readonly (O | Error)[]>,
  keysOf: (item: I) => readonly string[],
): Coalescer<I, O> {
  return coalesce<I, O>({
    run,
    keysOf,
    ...bounds,
    // What was rolled back left nothing; only then is trying again the same as trying.
    // Without an answer of the server there was no connection, and each of them would wait for one in turn.
    alone: (error) =>
      (error instanceof RolledBack && error.sqlState !== undefined) ||
      error instanceof EffectRefused ||
      error instanceof Unreadable,
    again: (error, tries) =>
      error instanceof RolledBack && error.retryable && tries < TRIES_MAX
        ? // Whoever met in a conflict does not meet again: half of the wait is chance.
          20 * 2 ** tries * (0.5 + Math.random() / 2)
        : undefined,
  });
}

/** A lost answer is asked for again under the same operation id: the guard's locks make the second try see the first. */
async function open(
  item: Opening,
  database: Database,
  batch: Coalescer<Opening, OpenAnswer>,
): Promise<OpenAnswer> {
  const submit =
    item.supersede === undefined
      ? () => batch.submit(item)
      : async () => thrown(await openSuperseding(database, item));
  for (let tries = 1; ; tries++) {
    try {
      return await submit();
    } catch (error) {
      if (error instanceof RolledBack && error.constraint === "operations_compensation")
        return { kind: "already_compensated" };
      // A row under our own id: an earlier try of ours did commit.
      const mine = error instanceof RolledBack && error.constraint === "operations_pkey";
      if (tries >= TRIES_MAX || !(mine || error instanceof CommitUnknown))
        throw refusal(error, item.operation.id);
    }
  }
}

/** A claim whose answer was lost is believed only when the row carries *its* claim id. */
async function claim(
  item: Claiming,
  database: Database,
  batch: Coalescer<Claiming, ClaimAnswer>,
): Promise<ClaimAnswer> {
  try {
    return await batch.submit(item);
  } catch (error) {
    if (!(error instanceof CommitUnknown)) throw refusal(error, item.operation.id);
    const held = await answered(reading.readLocked(database, item.operation.tenantId, item.operation.id));
    // Ours, and still the one under way: a later claim is somebody else's, whatever ours became.
    const last = held?.value.attempts.at(-1);
    const mine =
      last?.claimId === item.ticket.claimId &&
      (held?.value.state === "executing" || held?.value.settledAt !== undefined);
    return held === undefined || !mine
      ? { kind: "changed" }
      : { kind: "claimed", operation: held.value, clock: held.clock };
  }
}

/** A recording whose answer was lost has happened if the next revision is the one that it would have made. */
async function record(
  item: Recording,
  database: Database,
  batch: Coalescer<Recording, RecordAnswer>,
): Promise<RecordAnswer> {
  try {
    return await batch.submit(item);
  } catch (error) {
    if (!(error instanceof CommitUnknown)) throw refusal(error, item.operation.id);
    const held = await answered(reading.readLocked(database, item.operation.tenantId, item.operation.id));
    if (held === undefined) return { kind: "changed" };
    if (held.value.revision === item.operation.revision) throw refusal(error, item.operation.id);
    const wanted = recordedOperation(
      item,
      held.value.revision,
      held.value.updatedAt,
      held.value.settledAt ?? null,
    );
    const same =
      held.value.revision === item.operation.revision + 1 &&
      canonical(wanted.attempts) === canonical(held.value.attempts);
    return same && wanted.state === held.value.state
      ? { kind: "recorded", operation: held.value }
      : { kind: "changed" };
  }
}

function canonical(attempts: Operation["attempts"]): string {
  return canonicalJson(attempts as unknown as Json); // Attempts are plain JSON.
}

function thrown<T>(value: T | Error): T {
  if (value instanceof Error) throw value;
  return value;
}

async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw refusal(error, undefined);
  }
}

/** What a caller may hear. The log hears the rest from whoever catches it. */
function refusal(error: unknown, operationId: string | undefined): unknown {
  const named = operationId === undefined ? {} : { operationId };
  if (error instanceof Overloaded) {
    return new Problem("overloaded", "too many proposals are waiting; nothing was stored", {
      retryAfterMs: 1000,
      next: "Send the same request again, with the same key.",
    });
  }
  if (error instanceof CommitUnknown || (error instanceof RolledBack && error.retryable)) {
    const problem = new Problem(
      "ledger_unavailable",
      "the ledger did not answer; whether the request was stored is not known",
      {
        ...named,
        retryAfterMs: 1000,
        next: "Send the same request again with the same key: it is stored once.",
      },
    );
    problem.cause = error;
    return problem;
  }
  return error;
}
