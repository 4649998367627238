import type { TenantId } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Ledger } from "../service/ledger-port.ts";
import { digestOfVersion, type Policies, type PolicyText } from "../service/policy-port.ts";
import type { Log } from "../service/ports.ts";

interface FirstParts {
  readonly policies: Policies;
  readonly ledger: Pick<Ledger, "authority">;
  readonly log: Log;
}

/**
 * Where no policy ever stood for a tenant, the configuration's own does from now on. Afterwards a folder that says something else changes
 * nothing by itself: what stands is only said. Throws `invalid` with every mistake of the folder's policy.
 */
export async function firstPolicy(
  { policies: { store, bench }, ledger, log }: FirstParts,
  tenantId: TenantId,
  written: PolicyText,
): Promise<void> {
  const mistakes = bench.check(written);
  if (mistakes.length > 0) throw new Problem("invalid", mistakes.join("\n"));
  const digest = bench.digest(written);
  const { policyVersion } = await ledger.authority(tenantId);
  if (policyVersion === "") {
    await store.keep(tenantId, digest, written, "configuration");
    // Another process may be as far: then its policy stands, and this one's is compared with it at the next start.
    const reason = "the first policy of this tenant";
    await store.activate(tenantId, { digest, expects: "", actor: "configuration", reason });
  } else if (digestOfVersion(policyVersion) !== digest) {
    log.warn("policy", {
      tenant: tenantId,
      what: "another policy stands than the folder's",
      standing: policyVersion,
    });
  }
}
