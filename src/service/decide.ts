import type { Action } from "../core/action.ts";
import { haltOf } from "../core/halt.ts";
import type { TenantId } from "../core/ids.ts";
import { autonomyOpinion, combine, type Decision } from "../core/policy.ts";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import type { Tool } from "../core/tool.ts";
import type { Authority, Ledger } from "./ledger-port.ts";
import type { AuthorityView, Ports } from "./ports.ts";

/** Authority is an intersection, evaluated afresh: every voice must allow, one deny is a deny. */
export async function decide(
  ports: Pick<Ports, "policy">,
  session: Session,
  tool: Tool,
  action: Action,
  authority: Authority,
): Promise<Decision> {
  const voices = await ports.policy.opinions({
    session,
    tool,
    authority,
    resource: action.resource,
    arguments: action.arguments,
    ...(action.expectedVersion === undefined ? {} : { expectedVersion: action.expectedVersion }),
  });
  // No drill has run until drills exist, so "drilled" asks a person.
  const autonomy = autonomyOpinion(tool.autonomy, false);
  return combine(
    voices.length === 0 || autonomy === undefined ? voices : [...voices, autonomy],
    ports.policy.version(authority),
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
