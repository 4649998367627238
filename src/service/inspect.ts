import { brokenLink, type StoredEvent } from "../core/event.ts";
import type { OperationId } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import { settled } from "../core/operation.ts";
import { Problem } from "../core/problem.ts";
import { next, type Plan } from "../core/recovery.ts";
import type { Session } from "../core/session.ts";
import type { ListQuery, Read } from "./ledger-port.ts";
import type { OfferedTool, Ports } from "./ports.ts";
import { standingNow } from "./standing.ts";

/** Roles that see every operation of their tenant; everybody else sees their own. */
const SEEING_ROLES = ["operator", "resolver", "approver", "auditor"];

export function seesAll(session: Session): boolean {
  return session.roles.some((role) => SEEING_ROLES.includes(role));
}

/** Does what people are asked about it name a role that this session holds? Known without asking policy. */
export function asksRole({ review }: Operation, { roles }: Session): boolean {
  return review?.requirements.some(({ role }) => roles.includes(role)) === true;
}

export function requireRole(session: Session, ...roles: readonly string[]): void {
  if (session.roles.some((role) => roles.includes(role))) return;
  throw new Problem("forbidden", `this needs the role ${roles.join(" or ")}`);
}

/** To see an operation is no right to move it: an auditor only reads. */
export function requireMover(session: Session, operation: Operation, ...roles: readonly string[]): void {
  const may = ["operator", ...roles];
  if (operation.principalId === session.principalId || session.roles.some((role) => may.includes(role)))
    return;
  throw new Problem(
    "forbidden",
    `only the principal who proposed it, or the role ${may.join(" or ")}, may do that`,
    {
      operationId: operation.id,
    },
  );
}

/** Throws `not_found` for what is absent, foreign or somebody else's: the three read exactly alike. */
export async function visible(
  ports: Pick<Ports, "ledger">,
  session: Session,
  id: OperationId,
): Promise<Read<Operation>> {
  const read = await ports.ledger.read(session.tenantId, id);
  const mine =
    read !== undefined &&
    (seesAll(session) || read.value.principalId === session.principalId || asksRole(read.value, session));
  if (!mine) throw new Problem("not_found", "no such operation");
  return read;
}

export async function list(
  ports: Pick<Ports, "ledger">,
  session: Session,
  query: ListQuery,
): Promise<readonly Operation[]> {
  return ports.ledger.list(
    session.tenantId,
    seesAll(session) ? query : { ...query, principalId: session.principalId },
  );
}

export async function history(
  ports: Pick<Ports, "ledger">,
  session: Session,
  id: OperationId,
): Promise<readonly StoredEvent[]> {
  await visible(ports, session, id);
  return ports.ledger.events(session.tenantId, id);
}

/** The signed receipt. Throws `not_settled` while there is none. */
export async function receipt(
  ports: Pick<Ports, "ledger">,
  session: Session,
  id: OperationId,
): Promise<string> {
  const { value } = await visible(ports, session, id);
  const jws = await ports.ledger.receipt(session.tenantId, id);
  if (jws === undefined)
    throw new Problem(
      "not_settled",
      `there is a receipt once the operation has settled; it is ${value.state}`,
      { operationId: id },
    );
  return jws;
}

/** Everything `explain` needs, read once. */
export interface Dossier {
  readonly operation: Operation;
  readonly offered: OfferedTool | undefined;
  readonly events: readonly StoredEvent[];
  readonly chainBroken: string | undefined;
  readonly plan: Plan | undefined;
  readonly clock: number;
}

export async function dossier(ports: Ports, session: Session, id: OperationId): Promise<Dossier> {
  const { value: operation, clock } = await visible(ports, session, id);
  const offered = await ports.catalog.pinned(operation.tenantId, operation.toolDigest);
  const events = await ports.ledger.events(session.tenantId, id);
  const doubtful =
    offered !== undefined &&
    !settled(operation) &&
    operation.attempts.length > 0 &&
    operation.state !== "executing";
  const plan = doubtful
    ? next(offered.tool.contract, operation, await standingNow(ports, operation, offered, clock), clock)
    : undefined;
  return { operation, offered, events, chainBroken: brokenLink(events), plan, clock };
}
