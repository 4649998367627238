import type { TenantId } from "../core/ids.ts";
import type { Current, Recent } from "../core/policy.ts";
import type { PolicyStore } from "./policy-port.ts";
import type { Catalog, PolicyQuestion } from "./ports.ts";

const RECENT_MS = 24 * 3_600_000;

/** What policy may look up beside the action: the resource as it stands, and what was refused on it in the last day. */
export function lookFor(
  catalog: Pick<Catalog, "tool">,
  store: Pick<PolicyStore, "recent">,
): {
  current(question: PolicyQuestion, signal: AbortSignal): Promise<Current | undefined>;
  recent(tenantId: TenantId, resource: string): Promise<Recent>;
} {
  return {
    current: async ({ session, tool, resource, arguments: args }, signal) => {
      const connector = catalog.tool(session.tenantId, tool.name)?.connector;
      const asked = { tenantId: session.tenantId, resource, arguments: args, tool, signal };
      return connector?.current === undefined ? undefined : within(connector.current(asked), signal);
    },
    recent: (tenantId, resource) => store.recent(tenantId, resource, RECENT_MS),
  };
}

/** Whatever the connector makes of the signal, the decision waits no longer. */
export function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error("it did not answer in time"));
    if (signal.aborted) return late();
    signal.addEventListener("abort", late, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", late));
  });
}
