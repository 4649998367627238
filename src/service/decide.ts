import type { Action } from "../core/action.ts";
import { impossible } from "../core/approval.ts";
import { haltOf } from "../core/halt.ts";
import type { Instant } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import { autonomyOpinion, combine, type Decision } from "../core/policy.ts";
import { asMeasured, closedBy } from "../core/probe.ts";
import { Problem } from "../core/problem.ts";
import { clientsInChain, type Session } from "../core/session.ts";
import type { Tool } from "../core/tool.ts";
import { voices } from "./backing.ts";
import type { Authority } from "./ledger-port.ts";
import type { OfferedTool, Ports } from "./ports.ts";

/**
 * Authority is an intersection, evaluated afresh: nobody in the chain is revoked, every link stands and covers it, and policy allows it to
 * the principal and to each client of the chain. One deny is a deny. `clock`: the database's, where it is known better than from the ledger's
 * last answer; a link that ended meanwhile is met by the statement that stores the permission.
 */
export async function decide(
  ports: Pick<Ports, "policy" | "approvals" | "authority">,
  session: Session,
  tool: Tool,
  action: Action,
  authority: Authority,
  clock: Instant = 0,
): Promise<Decision> {
  const request = { tool: tool.name, resource: action.resource, arguments: action.arguments };
  const chain = await voices(ports, session, request, authority, clock);
  if (chain.some(({ effect }) => effect === "deny"))
    return combine(chain, ports.policy.version(authority), authority.epoch);
  const rules = await ports.policy.opinions({
    session,
    tool,
    authority,
    resource: action.resource,
    arguments: action.arguments,
    ...(action.expectedVersion === undefined ? {} : { expectedVersion: action.expectedVersion }),
  });
  // No drill has run until drills exist, so "drilled" asks a person.
  const autonomy = autonomyOpinion(tool.autonomy, false, ports.approvals.role);
  const decision = combine(
    // A chain gives what policy allows: where policy is silent, so is the whole.
    rules.length === 0 ? [] : [...chain, ...rules, ...(autonomy === undefined ? [] : [autonomy])],
    ports.policy.version(authority),
    authority.epoch,
  );
  return answerable(ports, session, tool, decision);
}

/** A review that nobody could satisfy is a no, said at once. */
function answerable(
  { approvals }: Pick<Ports, "approvals">,
  session: Session,
  { contract }: Tool,
  decision: Decision,
): Decision {
  if (decision.effect !== "review") return decision;
  const why = impossible(decision.requirements, {
    itself: session.itself === true,
    passkeys: approvals.passkeys !== undefined,
    sendMs: contract.maxPauseMs + contract.requestLifeMs,
  });
  return why === undefined
    ? decision
    : { ...decision, effect: "deny", why: `nobody could approve this: ${why}` };
}

/** The refusal of what a halt stops now, if one does. */
export function haltedBy(authority: Authority, session: Session, tool: Tool): Problem | undefined {
  const halt = haltOf(authority.halts, {
    tool: tool.name,
    provider: tool.provider,
    principalId: session.principalId,
    clients: clientsInChain(session),
    delegations: session.delegation.map((link) => link.id),
  });
  if (halt === undefined) return undefined;
  const what = halt.scope === "tenant" ? "everything" : `${halt.scope} ${halt.name ?? ""}`;
  return new Problem("halted", `${what} is halted: ${halt.reason}`, {
    retryAfterMs: 30_000,
    next: "Nothing was stored. Ask again when the halt is lifted.",
  });
}

/** The refusal of a tool whose last probe found its contract untrue, under exactly this definition and these settings. */
export function toolClosedBy(authority: Authority, offered: OfferedTool): Problem | undefined {
  const why = closedBy(authority.probes, offered);
  if (why === undefined) return undefined;
  return new Problem("tool_closed", `${offered.tool.name} is closed: ${why}`, {
    next: "Nothing was stored. An operator has to mend the contract, or to probe again.",
  });
}

/** The tool with its contract as far as it was measured. */
export function asProbed(offered: OfferedTool, { probes }: Authority): OfferedTool {
  const contract = asMeasured(offered.tool.contract, probes, offered);
  return contract === offered.tool.contract ? offered : { ...offered, tool: { ...offered.tool, contract } };
}

/** The tool that an operation pinned, as it may be used now. */
export async function pinnedNow(
  { catalog, authority }: Pick<Ports, "catalog" | "authority">,
  { tenantId, toolDigest }: Pick<Operation, "tenantId" | "toolDigest">,
): Promise<OfferedTool | undefined> {
  const offered = await catalog.pinned(tenantId, toolDigest);
  return offered === undefined ? undefined : asProbed(offered, await authority.known(tenantId));
}
