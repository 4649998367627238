import { thawAction } from "../core/action.ts";
import { type HaltSubject, haltOf } from "../core/halt.ts";
import type { Instant } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import { type Standing, standingOf } from "../core/recovery.ts";
import { clientsInChain, type Session, serviceName } from "../core/session.ts";
import { agreement } from "./consent.ts";
import { decide, toolClosedBy } from "./decide.ts";
import type { OfferedTool, Ports } from "./ports.ts";

/** Who asked, as far as the ledger kept it: enough to ask policy again. */
export function sessionOf(operation: Operation): Session {
  return {
    tenantId: operation.tenantId,
    principalId: operation.principalId,
    clientId: operation.clientId,
    roles: operation.authorization?.roles ?? operation.review?.roles ?? [],
    delegation: delegationOf(operation),
    ...(serviceName(operation) === undefined ? {} : { itself: true as const }),
  };
}

function delegationOf(operation: Operation): Session["delegation"] {
  return thawAction(operation.action).delegation as unknown as Session["delegation"]; // Written by chainOf.
}

/** What a halt can name in an operation. */
export function subjectOf(operation: Operation): HaltSubject {
  const { tool, provider, principalId, clientId } = operation;
  const delegation = delegationOf(operation);
  return {
    tool,
    provider,
    principalId,
    clients: clientsInChain({ clientId, delegation }),
    delegations: delegation.map((link) => link.id),
  };
}

/** Is the provider still the one that the action pins: same settings, same credential? If not, asking it or sending to it means nothing. */
export function sameProvider(operation: Operation, offered: OfferedTool): boolean {
  return offered.settingsDigest === thawAction(operation.action).provider.settingsDigest;
}

/** The standing of an operation in doubt, with what only the ledger knows: halts, and whether authority still gives the same answer. */
export async function standingNow(
  ports: Ports,
  operation: Operation,
  offered: OfferedTool,
  clock: Instant,
): Promise<Standing> {
  const byClock = standingOf(operation, offered.tool.contract, clock);
  if (!byClock.live) return byClock;
  if (!sameProvider(operation, offered)) return { live: false, why: "revoked" };
  const authority = await ports.authority.refresh(operation.tenantId);
  if (haltOf(authority.halts, subjectOf(operation)) !== undefined) return { live: false, why: "halted" };
  if (toolClosedBy(authority, offered) !== undefined) return { live: false, why: "halted" };
  if (operation.authorization?.epoch === authority.epoch) return { live: true };
  const asker = sessionOf(operation);
  const decision = await decide(ports, asker, offered.tool, thawAction(operation.action), authority, clock);
  const agreed = await agreement(ports, { operation, asker, authority, clock }, offered.tool, decision);
  if (agreed.kind === "same") return { live: true };
  return { live: false, why: decision.reason === "expired" ? "expired" : "revoked" };
}
