import type { TenantId } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { type Tool, toolDigest } from "../core/tool.ts";
import type { Definition, Ledger } from "../service/ledger-port.ts";
import type { Catalog, Connector, OfferedTool } from "../service/ports.ts";
import { schemaValidator } from "./schema.ts";

/** A configured provider: how to reach it, and what its settings are called by content. */
export interface Provider {
  readonly connector: Connector;
  readonly settingsDigest: string;
}

export interface CatalogSource {
  readonly tools: readonly Tool[];
  readonly providers: ReadonlyMap<string, Provider>;
  /** Keys each tenant's look-alike digests: the same on every host, so it is kept in the ledger. */
  readonly tenantKeys: ReadonlyMap<TenantId, Uint8Array>;
  readonly ledger: Pick<Ledger, "definition">;
}

const PINNED_MAX = 2_000;

/** What is offered now, and what operations pinned earlier: by name for proposals, by digest for everything after. */
export function catalog(source: CatalogSource): Catalog {
  const offered = source.tools.map((tool) => offer(tool, source));
  const byName = new Map(offered.map((entry) => [entry.tool.name, entry]));
  const byDigest = new Map(offered.map((entry) => [entry.digest, entry]));
  return {
    tool: (_tenantId, name) => byName.get(name),
    offered: () => offered,
    pinned: async (tenantId, digest) => {
      const known = byDigest.get(digest);
      if (known !== undefined) return known;
      const kept = await source.ledger.definition(tenantId, digest);
      if (kept === undefined) return undefined;
      const entry = offer(kept.tool, source, WITHOUT);
      if (byDigest.size >= PINNED_MAX) byDigest.clear();
      byDigest.set(digest, entry);
      return entry;
    },
    tenantKey: (tenantId) => {
      const key = source.tenantKeys.get(tenantId);
      if (key === undefined) throw new Error(`the tenant ${tenantId} was never enrolled`);
      return key;
    },
  };
}

/** Everything a tenant's operations may pin from now on. */
export function definitionsOf(tools: readonly Tool[]): readonly Definition[] {
  return tools.map((tool) => ({ digest: toolDigest(tool), tool }));
}

/** Stands in for a provider that is not configured any more: it reaches nobody, and no action pins its settings. */
const WITHOUT: Provider = {
  settingsDigest: "none",
  connector: {
    kind: "none",
    perform: async () => ({ kind: "absent", why: "the provider is not configured any more" }),
    lookUp: async () => ({ kind: "unclear", why: "the provider is not configured any more" }),
    bar: async () => ({ raised: false, why: "the provider is not configured any more" }),
  },
};

function offer(tool: Tool, source: CatalogSource, otherwise?: Provider): OfferedTool {
  const provider = source.providers.get(tool.provider) ?? otherwise;
  if (provider === undefined)
    throw new Problem(
      "invalid",
      `${tool.name} names the provider "${tool.provider}", which is not configured`,
    );
  return {
    tool,
    digest: toolDigest(tool),
    settingsDigest: provider.settingsDigest,
    connector: provider.connector,
    validate: schemaValidator(tool.input),
  };
}
