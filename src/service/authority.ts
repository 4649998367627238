import type { TenantId } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Backing, Claimant } from "./delegation-port.ts";
import type { Authority, Ledger } from "./ledger-port.ts";
import type { AuthorityView } from "./ports.ts";

const TENANTS_MAX = 10_000;
const BACKINGS_MAX = 2_000;

interface Known {
  readonly authority: Authority;
  /** Read after the authority was: whatever ends one of them raises the epoch, so that under this one they stay as they are. */
  readonly backings: Map<string, Backing>;
}

/**
 * Keeps the last known authority of each tenant, and who has which backing under it, so that the good path reads nothing before its
 * first write. `offered` names what this process offers to each tenant: where something else is offered now, it knows the wrong tools
 * and the wrong rules, and every question is refused until it is started again.
 */
export function authorityView(
  ledger: Pick<Ledger, "authority" | "delegations">,
  offered?: ReadonlyMap<TenantId, string>,
): AuthorityView {
  const cache = new Map<TenantId, Known>();
  const outdated = new Set<TenantId>();
  const refresh = async (tenantId: TenantId): Promise<Authority> => {
    const authority = await ledger.authority(tenantId);
    const own = offered?.get(tenantId);
    if (own !== undefined && own !== authority.offered) {
      cache.delete(tenantId);
      outdated.add(tenantId);
      throw outdatedHere();
    }
    outdated.delete(tenantId);
    if (cache.size >= TENANTS_MAX && !cache.has(tenantId)) cache.clear();
    cache.set(tenantId, { authority, backings: new Map() });
    return authority;
  };
  return {
    refresh,
    known: async (tenantId) => cache.get(tenantId)?.authority ?? refresh(tenantId),
    backing: async (tenantId, claimant, { epoch }) => {
      const known = cache.get(tenantId);
      const backings = known?.authority.epoch === epoch ? known.backings : undefined;
      const key = nameOf(claimant);
      const found = backings?.get(key);
      if (found !== undefined) return found;
      const read = await ledger.delegations.backing(tenantId, claimant);
      // A record that is not there may be made at any time, without a new epoch.
      if (backings === undefined || read.links === undefined) return read;
      if (backings.size >= BACKINGS_MAX) backings.clear();
      backings.set(key, read);
      return read;
    },
    outdated: () => [...outdated],
  };
}

/** As JSON, so that no name can be written to look like two. */
function nameOf({ principalId, clientId, delegationId }: Claimant): string {
  return JSON.stringify([principalId, clientId, delegationId ?? null]);
}

function outdatedHere(): Problem {
  return new Problem(
    "not_ready",
    "another configuration is in force than the one that this process was started with; nothing was stored",
    {
      retryAfterMs: 2_000,
      next: "Ask another process, or start this one again with the configuration in force.",
    },
  );
}
