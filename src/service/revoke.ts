import type { Delegation } from "../core/delegation.ts";
import { Problem } from "../core/problem.ts";
import type { Revocation } from "../core/revocation.ts";
import type { Session } from "../core/session.ts";
import { storable } from "../core/storable.ts";
import { lookAgain, requireUnrevoked } from "./backing.ts";
import { requireRole, seesAll } from "./inspect.ts";
import type { Ports } from "./ports.ts";

export interface RevocationOrder {
  readonly scope: Revocation["scope"];
  readonly name: string;
  readonly reason: string;
}

/**
 * Ends a delegation, and with it all below it, from the moment this returns: no new claim and no repeat under it. Its delegator may,
 * whoever stands above it in its chain, and an operator. Twice is once.
 */
export async function revokeDelegation(
  ports: Pick<Ports, "ledger" | "authority">,
  session: Session,
  id: string,
  reason: string,
): Promise<Delegation> {
  await requireUnrevoked(ports, session);
  const links = await ports.ledger.delegations.chain(session.tenantId, id);
  const record = links.at(-1);
  if (record === undefined || !(seesAll(session) || concerns(session, links)))
    throw new Problem("not_found", "no such delegation");
  if (!session.roles.includes("operator") && !standsAbove(session, links))
    throw new Problem(
      "forbidden",
      "only its delegator, whoever stands above it, or an operator may revoke it",
    );
  const ended = await ports.ledger.delegations.end(session.tenantId, id, {
    by: session.principalId,
    reason: storable(reason),
  });
  await lookAgain(ports, session.tenantId);
  return ended ?? record;
}

/** The principal whose authority it is, in a session that is under no delegation; or a client, for that principal, that gave one of the links. */
function standsAbove(session: Session, links: readonly Delegation[]): boolean {
  return links.some((link) => {
    switch (link.by) {
      case "operator":
        return link.delegator === session.principalId && underNone(session);
      case "principal":
        return link.principalId === session.principalId && underNone(session);
      case "client":
        return (
          link.principalId === session.principalId &&
          (link.delegator === session.clientId || (link.depth === 0 && underNone(session)))
        );
    }
  });
}

function concerns(session: Session, links: readonly Delegation[]): boolean {
  const last = links.at(-1);
  const holder = last?.holder === session.clientId && last.principalId === session.principalId;
  return holder || standsAbove(session, links);
}

function underNone({ delegationId, delegation }: Session): boolean {
  return delegationId === undefined && delegation.length === 0;
}

/** A person or a client may do nothing any more, from the moment this returns. Twice is once. */
export async function revoke(
  ports: Pick<Ports, "ledger" | "authority" | "entropy">,
  session: Session,
  order: RevocationOrder,
): Promise<Revocation> {
  requireRole(session, "operator");
  await requireUnrevoked(ports, session);
  const made = await ports.ledger.delegations.revoke(session.tenantId, {
    id: `rev_${ports.entropy.uuid7().replaceAll("-", "")}`,
    ...order,
    reason: storable(order.reason),
    actor: session.principalId,
  });
  await lookAgain(ports, session.tenantId);
  return made;
}

/** Lets a person or a client act again. What was rejected meanwhile stays so. */
export async function restore(
  ports: Pick<Ports, "ledger" | "authority">,
  session: Session,
  id: string,
): Promise<void> {
  requireRole(session, "operator");
  await requireUnrevoked(ports, session);
  const lifted = await ports.ledger.delegations.restore(session.tenantId, id, session.principalId);
  await lookAgain(ports, session.tenantId);
  if (!lifted) throw new Problem("not_found", "no such revocation stands");
}

/** What stands, newest first. */
export async function revocations(
  ports: Pick<Ports, "ledger">,
  session: Session,
  query: { readonly before?: string; readonly max: number },
): Promise<readonly Revocation[]> {
  requireRole(session, "operator", "auditor");
  return ports.ledger.delegations.revocations(session.tenantId, query);
}
