import { Problem } from "./problem.ts";

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** An isolated customer. ASCII, from issuer configuration only. */
export type TenantId = Branded<"tenant">;
/** `op_` and 32 lower-case hex digits of a UUIDv7, minted by Writ. */
export type OperationId = Branded<"operation">;
/** A random UUID that names one claim of one operation. */
export type ClaimId = Branded<"claim">;
/** Milliseconds since 1970-01-01T00:00:00Z on the ledger database's clock. */
export type Instant = number;

const TENANT = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const OPERATION = /^op_[0-9a-f]{32}$/;

/** Throws `invalid_request` for what could not be a tenant's name. */
export function tenantId(text: string): TenantId {
  if (!TENANT.test(text))
    throw new Problem("invalid_request", `not a tenant id: use 1-63 of a-z, 0-9, "-", "_"`);
  return text as TenantId;
}

/** Throws `not_found`: a malformed id names nothing, exactly as a foreign or an absent one does. */
export function operationId(text: string): OperationId {
  if (!OPERATION.test(text)) throw new Problem("not_found", "no such operation");
  return text as OperationId;
}

/** The id of a UUID as the database and the generator write it. */
export function operationIdOf(uuid: string): OperationId {
  return `op_${uuid.replaceAll("-", "")}` as OperationId;
}

/** What the database's `uuid` column takes. */
export function uuidOf(id: OperationId): string {
  return id.slice(3);
}
