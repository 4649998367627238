import type { TenantId } from "../core/ids.ts";
import type { Tool } from "../core/tool.ts";
import type { Enrolment, Ledger } from "../service/ledger-port.ts";
import { definitionsOf } from "./catalog.ts";

export interface EnrolledTenants {
  /** Keys each tenant's look-alike digests. */
  readonly tenantKeys: ReadonlyMap<TenantId, Uint8Array>;
  /** The name of what is offered to each. */
  readonly offered: ReadonlyMap<TenantId, string>;
}

/** Makes the tenants known to the ledger with what they are offered from now on. */
export async function enrolTenants(
  ledger: Pick<Ledger, "enroll">,
  tenants: readonly TenantId[],
  tools: readonly Tool[],
  /** Asked for each tenant: none shares its key with another. */
  more: () => Enrolment,
): Promise<EnrolledTenants> {
  const tenantKeys = new Map<TenantId, Uint8Array>();
  const offered = new Map<TenantId, string>();
  for (const tenant of tenants) {
    const answer = await ledger.enroll(tenant, definitionsOf(tools), more());
    tenantKeys.set(tenant, answer.lookalikeKey);
    offered.set(tenant, answer.offered);
  }
  return { tenantKeys, offered };
}
