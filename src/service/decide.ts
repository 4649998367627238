import type { Action } from "../core/action.ts";
import { haltOf } from "../core/halt.ts";
import type { TenantId } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import { autonomyOpinion, combine, type Decision } from "../core/policy.ts";
import { asMeasured, closedBy } from "../core/probe.ts";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import type { Tool } from "../core/tool.ts";
import type { Authority, AuthorityView, Ledger, OfferedTool, Ports } from "./ports.ts";

/** Authority is an intersection, evaluated afresh: every voice must allow, one deny is a deny. */
export function decide(
  ports: Pick<Ports, "policy">,
  session: Session,
  tool: Tool,
  action: Action,
  authority: Authority,
): Decision {
  const voices = ports.policy.opinions({
    session,
    tool,
    resource: action.resource,
    arguments: action.arguments,
  });
  // No drill has run until drills exist, so "drilled" asks a person.
  const autonomy = autonomyOpinion(tool.autonomy, false);
  return combine(
    voices.length === 0 || autonomy === undefined ? voices : [...voices, autonomy],
    ports.policy.version,
    authority.epoch,
  );
}

/** The refusal of what a halt stops now, if one does. */
export function haltedBy(authority: Authority, session: Session, tool: Tool): Problem | undefined {
  const halt = haltOf(authority.halts, {
    tool: tool.name,
    provider: tool.provider,
    principalId: session.principalId,
    clientId: session.clientId,
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

const TENANTS_MAX = 10_000;

/** Keeps the last known authority of each tenant, so that the good path reads nothing before its first write. */
export function authorityView(ledger: Pick<Ledger, "authority">): AuthorityView {
  const cache = new Map<TenantId, Authority>();
  const refresh = async (tenantId: TenantId): Promise<Authority> => {
    const authority = await ledger.authority(tenantId);
    if (cache.size >= TENANTS_MAX && !cache.has(tenantId)) cache.clear();
    cache.set(tenantId, authority);
    return authority;
  };
  return { refresh, known: async (tenantId) => cache.get(tenantId) ?? refresh(tenantId) };
}
