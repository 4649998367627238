import assert from "node:assert/strict";
import type { Outcome } from "../core/attempt.ts";
import { type Instant, operationIdOf } from "../core/ids.ts";
import { settled as isSettled, type Operation } from "../core/operation.ts";
import type { Database, Transaction } from "../database/pool.ts";
import type { Query, Rows } from "../database/sql.ts";
import type { LimitReached, OpenAnswer, Opening, Recording } from "../service/ledger-port.ts";
import { lockAuthority, lockIntents } from "./guard.ts";
import { fullRooms, reserveQueries, settleReservations } from "./limits.ts";
import { knownOutcome, type LocalClaim, performAll } from "./local.ts";
import { type Admission, admitQuery, openQuery, type Stored, storeQuery } from "./open-sql.ts";
import { candidateItem, openedOperation, openingItem, recordedOperation, settledItem } from "./opening.ts";
import { readMany } from "./read.ts";

/** Decides and stores many proposals in one commit and one flight. Answers in order. */
export async function openBatch(
  database: Database,
  openings: readonly Opening[],
): Promise<readonly (OpenAnswer | Error)[]> {
  const answers = await database.flight([
    ...lockQueries(openings),
    openQuery(JSON.stringify(openings.map(openingItem))),
  ]);
  return admissionAnswers(database, openings, admittedBy(answers));
}

/** The same for effects in our own database: admitted, performed and settled in one transaction. */
export async function openLocalBatch(
  database: Database,
  openings: readonly Opening[],
): Promise<readonly (OpenAnswer | Error)[]> {
  try {
    return await performBatch(database, openings, undefined);
  } catch (error) {
    const known = knownOutcome(error);
    if (known === undefined || openings.length !== 1) throw error;
    // The effect was rolled back with its claim. What it learned is stored without trying again.
    return performBatch(database, openings, known);
  }
}

async function performBatch(
  database: Database,
  openings: readonly Opening[],
  known: Outcome | undefined,
): Promise<readonly (OpenAnswer | Error)[]> {
  const settled = new Map<number, Recording>();
  let storedAt = new Map<number, Instant>();
  const admitted = await database.transaction(async (tx) => {
    const admissions = await admit(tx, openings);
    const claims = claimsOf(openings, admissions.rows);
    const recordings =
      known === undefined
        ? await performAll(tx, [...claims.values()])
        : [...claims.values()].map((claim) => claim.work.settle(claim.claimed, known, claim.clock));
    for (const [index, ord] of [...claims.keys()].entries()) settled.set(ord, recordings[index] as Recording); // One recording for each claim.
    storedAt = await store(tx, openings, settled, known === undefined);
    return admissions;
  });
  const stored = new Map<number, Operation>();
  for (const [ord, at] of storedAt) {
    const recording = settled.get(ord);
    assert(recording !== undefined, "what was stored was settled");
    stored.set(ord, recordedOperation(recording, 1, at, isSettled(recording.progress) ? at : null));
  }
  return admissionAnswers(database, openings, admitted, stored);
}

async function admit(tx: Transaction, openings: readonly Opening[]): Promise<Admitted> {
  return admittedBy(
    await tx.all([...lockQueries(openings), admitQuery(JSON.stringify(openings.map(candidateItem)))]),
  );
}

/** What decides about the items, and which of them met a full room. */
interface Admitted {
  readonly rows: readonly Admission[];
  readonly full: ReadonlyMap<number, LimitReached>;
}

/** The locks of one batch, in their order; the last of them reserves, where anything is limited. */
function lockQueries(openings: readonly Opening[]): readonly Query[] {
  const drawings = openings.flatMap(({ operation, claim }, ord) =>
    claim?.draws === undefined ? [] : [{ ord, operation, draws: claim.draws }],
  );
  return [lockAuthority(tenantsOf(openings)), ...lockIntents(openings), ...reserveQueries(drawings)];
}

/** The last statement decided; the one before it reserved, if anything was drawn. */
function admittedBy(answers: readonly Rows<unknown>[]): Admitted {
  const rows = (answers.at(-1)?.rows ?? []) as readonly Admission[]; // The columns of VERDICTS.
  const limited = rows.some(({ verdict }) => verdict === "limit_reached");
  return { rows, full: limited ? fullRooms(answers.at(-2)) : new Map() };
}

async function store(
  tx: Transaction,
  openings: readonly Opening[],
  settled: ReadonlyMap<number, Recording>,
  guarded: boolean,
): Promise<Map<number, Instant>> {
  if (settled.size === 0) {
    await tx.finish([]);
    return new Map();
  }
  const items: object[] = [];
  const events: object[] = [];
  for (const [ord, recording] of settled) {
    const opening = openings[ord];
    assert(opening !== undefined, "a recording belongs to an opening of this batch");
    const freshUntil =
      guarded && recording.progress.state === "succeeded"
        ? recording.operation.authorization?.expiresAt
        : undefined;
    const settling = settledItem(opening, recording, ord, freshUntil);
    items.push(settling.item);
    events.push(...settling.events);
  }
  const [stored] = await tx.finish([
    storeQuery(JSON.stringify(items), JSON.stringify(events)),
    ...settleReservations([...settled.values()]),
  ]);
  const rows = (stored?.rows ?? []) as readonly Stored[]; // STORE's own columns.
  return new Map(rows.map((row) => [row.ord, row.stored_ms]));
}

function claimsOf(
  openings: readonly Opening[],
  admissions: readonly Admission[],
): ReadonlyMap<number, LocalClaim> {
  const claims = new Map<number, LocalClaim>();
  for (const admission of admissions) {
    const opening = openings[admission.ord];
    if (admission.verdict !== "open" || opening?.local === undefined) continue;
    claims.set(admission.ord, {
      claimed: openedOperation(opening, admission.at_ms),
      work: opening.local,
      clock: admission.at_ms,
    });
  }
  return claims;
}

function tenantsOf(openings: readonly Opening[]): readonly string[] {
  return openings.map((opening) => opening.operation.tenantId);
}

/** Admissions as answers. Only what was not opened needs another read; `stored` are those that went on from there. */
export async function admissionAnswers(
  database: Database,
  openings: readonly Opening[],
  { rows: admissions, full }: Admitted,
  stored: ReadonlyMap<number, Operation> = new Map(),
): Promise<readonly (OpenAnswer | Error)[]> {
  assert(admissions.length === openings.length, "every opening is answered");
  const others = admissions.flatMap((admission) => otherOf(admission, openings[admission.ord]));
  const known = await readMany(database, others);
  return admissions.map((admission) => {
    const opening = openings[admission.ord];
    assert(opening !== undefined, "an answer belongs to an opening of this batch");
    const reached = full.get(admission.ord);
    if (admission.verdict === "limit_reached" && reached !== undefined) return reached;
    return answerOf(admission, opening, known, stored.get(admission.ord));
  });
}

function otherOf(
  admission: Admission,
  opening: Opening | undefined,
): readonly { tenantId: string; uuid: string }[] {
  if (opening === undefined) return [];
  const uuid = admission.verdict === "mine" ? opening.operation.id.slice(3) : admission.other;
  const wanted =
    admission.verdict === "mine" || admission.verdict === "replayed" || admission.verdict === "joined";
  return wanted && uuid !== null ? [{ tenantId: opening.operation.tenantId, uuid }] : [];
}

function answerOf(
  admission: Admission,
  opening: Opening,
  known: Awaited<ReturnType<typeof readMany>>,
  stored: Operation | undefined,
): OpenAnswer {
  const other = admission.other === null ? undefined : operationIdOf(admission.other);
  switch (admission.verdict) {
    case "open": {
      const operation = stored ?? openedOperation(opening, admission.at_ms);
      return { kind: "opened", operation, clock: admission.at_ms };
    }
    case "mine": {
      const operation = known.get(opening.operation.id);
      assert(operation !== undefined, "an operation that is there can be read");
      return { kind: "opened", operation, clock: admission.at_ms };
    }
    case "replayed":
    case "joined": {
      const operation = other === undefined ? undefined : known.get(other);
      // Pruned between the statement and the read: its key is spent.
      return operation === undefined ? { kind: "key_spent" } : { kind: admission.verdict, operation };
    }
    case "looks_the_same":
    case "equal_effect_in_doubt":
      return other === undefined ? { kind: admission.verdict } : { kind: admission.verdict, other };
    case "stale_authority":
      return { kind: "stale_authority", epoch: admission.epoch };
    case "key_spent":
    case "key_reused":
    case "not_settled":
    case "too_many_waiting":
      return { kind: admission.verdict };
    case "limit_reached":
      // A room that another item of this very batch filled a moment ago.
      return { kind: "limit_reached", limit: "", clock: admission.at_ms };
  }
}
