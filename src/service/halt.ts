import type { Halt } from "../core/halt.ts";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import { lookAgain, requireUnrevoked } from "./backing.ts";
import { requireRole } from "./inspect.ts";
import type { Authority } from "./ledger-port.ts";
import type { Ports } from "./ports.ts";

export interface HaltOrder {
  readonly scope: Halt["scope"];
  readonly name?: string | undefined;
  readonly reason: string;
}

/** Stops new claims and repeats from the moment this returns. */
export async function halt(
  ports: Pick<Ports, "ledger" | "entropy" | "authority">,
  session: Session,
  order: HaltOrder,
): Promise<Halt> {
  requireRole(session, "operator");
  await requireUnrevoked(ports, session);
  if ((order.scope === "tenant") !== (order.name === undefined)) {
    throw new Problem("invalid_request", "name what is halted, unless it is the tenant", { at: "/name" });
  }
  const named = order.name === undefined ? {} : { name: order.name };
  const made = await ports.ledger.halt(session.tenantId, {
    id: `halt_${ports.entropy.uuid7().replaceAll("-", "")}`,
    scope: order.scope,
    ...named,
    reason: order.reason,
    actor: session.principalId,
  });
  await lookAgain(ports, session.tenantId);
  return made;
}

export async function lift(
  ports: Pick<Ports, "ledger" | "authority">,
  session: Session,
  haltId: string,
): Promise<void> {
  requireRole(session, "operator");
  await requireUnrevoked(ports, session);
  const lifted = await ports.ledger.lift(session.tenantId, haltId, session.principalId);
  await lookAgain(ports, session.tenantId);
  if (!lifted) throw new Problem("not_found", "no such halt stands");
}

export async function standing(ports: Pick<Ports, "ledger">, session: Session): Promise<Authority> {
  requireRole(session, "operator", "auditor", "resolver");
  return ports.ledger.authority(session.tenantId);
}
