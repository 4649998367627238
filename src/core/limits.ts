import type { Instant, OperationId } from "./ids.ts";
import { type JsonObject, pointed } from "./json.ts";
import { Problem } from "./problem.ts";

/** How much may happen in a while. Counted apart for each combination of what it is `by`; by nothing is for the whole tenant. */
export interface Limit {
  readonly name: string;
  readonly by: readonly ("principal" | "client" | "resource")[];
  /** Operations, or the sum of the numbers at this JSON Pointer (RFC 6901) of their arguments. */
  readonly of: "operations" | { readonly sum: string };
  readonly max: number;
  readonly window: LimitWindow;
}
/** `sliding`: in any stretch of that length. `fixed`: in each stretch between two multiples of it since 1970. `ever`: all in all. */
type LimitWindow = { readonly kind: "sliding" | "fixed"; readonly forMs: number } | { readonly kind: "ever" };

/** What one operation takes of one room. */
export interface Draw {
  /** Names the limit to people. */
  readonly name: string;
  /** What shares the limit, within its tenant. */
  readonly room: string;
  readonly amount: number;
  readonly max: number;
  readonly window: LimitWindow;
}

/** What one operation takes of a limit: one reservation, from its first claim on, however often it is attempted. */
export interface Reservation {
  readonly operationId: OperationId;
  readonly amount: number;
  readonly reservedAt: Instant;
  /** Absent while the outcome is not known: until then the effect may happen at any moment. */
  readonly settledAt?: Instant;
}

export type Reserved =
  | { readonly ok: true; readonly reservation: Reservation }
  /** `retryAt`: when there is room again. Absent: time alone makes none, because the amount is too large or others are in doubt. */
  | { readonly ok: false; readonly retryAt?: Instant };

/**
 * Room for one operation under a limit, given all that is held of it. Twice is once: an operation that holds its reservation keeps it,
 * whatever else came since.
 */
export function reserve(
  limit: Limit,
  held: readonly Reservation[],
  wanted: { readonly operationId: OperationId; readonly amount: number },
  clock: Instant,
): Reserved {
  const before = held.find((reservation) => reservation.operationId === wanted.operationId);
  if (before !== undefined) return { ok: true, reservation: before };
  const fitsAt = (at: Instant): boolean => fits(limit, held, wanted.amount, at);
  if (fitsAt(clock)) return { ok: true, reservation: { ...wanted, reservedAt: clock } };
  // Room only grows when a reservation ends to count, so the first end with enough room is the first moment at all.
  const retryAt = held
    .flatMap((reservation) => endOf(limit.window, reservation) ?? [])
    .filter((end) => end > clock)
    .sort((a, b) => a - b)
    .find(fitsAt);
  return retryAt === undefined ? { ok: false } : { ok: false, retryAt };
}

/** What is held after an operation has settled: what had no effect gives its reservation back, what had one counts from then on. */
export function settleReservation(
  held: readonly Reservation[],
  operationId: OperationId,
  settled: { readonly state: "succeeded" | "rejected"; readonly at: Instant },
): readonly Reservation[] {
  return held.flatMap((reservation) => {
    if (reservation.operationId !== operationId) return [reservation];
    if (settled.state === "rejected") return [];
    return [{ ...reservation, settledAt: reservation.settledAt ?? settled.at }];
  });
}

/** What an operation with these arguments takes. Throws `invalid`: an amount that is missing or negative would make room. */
export function amountOf(limit: Limit, args: JsonObject): number {
  if (limit.of === "operations") return 1;
  const value = pointed(args, limit.of.sum);
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw new Problem(
    "invalid",
    `the limit "${limit.name}" needs a number that is not negative at ${limit.of.sum}`,
    {
      at: `/arguments${limit.of.sum}`,
    },
  );
}

/** All that an operation of a tool with these limits draws. Throws `invalid` like `amountOf`. */
export function drawsOf(
  limits: readonly Limit[],
  operation: {
    readonly tool: string;
    readonly principalId: string;
    readonly clientId: string;
    readonly resource: string;
    readonly arguments: JsonObject;
  },
): readonly Draw[] {
  return limits.map((limit) => ({
    name: limit.name,
    room: roomOf(limit, operation),
    amount: amountOf(limit, operation.arguments),
    max: limit.max,
    window: limit.window,
  }));
}

function roomOf(
  { name, by }: Limit,
  operation: {
    readonly tool: string;
    readonly principalId: string;
    readonly clientId: string;
    readonly resource: string;
  },
): string {
  const sharer = {
    principal: operation.principalId,
    client: operation.clientId,
    resource: operation.resource,
  };
  // As JSON, so that no name can be written to look like two.
  return JSON.stringify([operation.tool, name, ...by.map((one) => [one, sharer[one]])]);
}

function fits(limit: Limit, held: readonly Reservation[], amount: number, at: Instant): boolean {
  const counting = held.filter((reservation) => (endOf(limit.window, reservation) ?? at + 1) > at);
  return atMost([...counting.map((reservation) => reservation.amount), amount], limit.max);
}

/** From when on a reservation does not count any more. An effect happened at the latest when it was known: it counts as if then. */
function endOf(window: LimitWindow, { settledAt }: Reservation): Instant | undefined {
  if (settledAt === undefined || window.kind === "ever") return undefined;
  const { kind, forMs } = window;
  return kind === "sliding" ? settledAt + forMs : (Math.floor(settledAt / forMs) + 1) * forMs;
}

/** Is the sum of these decimals at most `max`? Exact: as doubles, 0.1 and 0.2 are more than 0.3. */
function atMost(amounts: readonly number[], max: number): boolean {
  const decimals = [...amounts, max].map(decimalOf);
  const places = Math.max(...decimals.map((decimal) => decimal.places));
  const [limit = 0n, ...rest] = decimals
    .reverse()
    .map((decimal) => decimal.digits * 10n ** BigInt(places - decimal.places));
  return rest.reduce((sum, digits) => sum + digits, 0n) <= limit;
}

/** The shortest decimal that names the double, as a whole number and how many of its digits stand behind the point. */
function decimalOf(value: number): { readonly digits: bigint; readonly places: number } {
  const [mantissa = "0", exponent = "0"] = String(value).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 };
}
