import type { Provider } from "./catalog/catalog.ts";
import type { Configuration, ProviderConfiguration, SettingsByTransport } from "./config.ts";
import type { CommonSettings, ConnectorKind } from "./connectors/define.ts";
import { KINDS, type Kind } from "./connectors/kinds.ts";
import { lintSql, postgresConnector } from "./connectors/postgres.ts";
import { digestOf } from "./core/digest.ts";
import { Problem } from "./core/problem.ts";
import { LEDGER } from "./core/transport.ts";
import type { Database } from "./database/pool.ts";

/** The connector of one configured provider, and what pins it. Part of the composition root. */
export function providerOf(
  provider: ProviderConfiguration,
  database: Pick<Database, "read">,
  foreign: readonly ConnectorKind<CommonSettings>[],
): Provider {
  switch (provider.transport) {
    case LEDGER:
      return {
        connector: postgresConnector((query) => database.read(query)),
        settingsDigest: digestOf("writ.settings.v1", { kind: "postgres", database: "ledger" }),
      };
    case "foreign": {
      const kind = foreign.find((candidate) => candidate.kind === provider.kind);
      if (kind === undefined)
        throw new Problem("invalid", `no connector of kind ${provider.kind} was given to compose`);
      return opened(kind, provider.settings);
    }
    default:
      return known(provider);
  }
}

type Settings = Omit<SettingsByTransport, typeof LEDGER>;

function known<Name extends keyof Settings>(provider: {
  readonly transport: Name;
  readonly settings: Settings[Name];
}): Provider {
  const kinds: { readonly [Each in keyof Settings]: Kind<Settings[Each]> } = KINDS;
  return opened(kinds[provider.transport], provider.settings);
}

function opened<Settings>(kind: Kind<Settings>, settings: Settings): Provider {
  return {
    connector: kind.connect(settings),
    settingsDigest: digestOf("writ.settings.v1", kind.pinned(settings)),
  };
}

/** Says what is wrong with a tool's own SQL before anything is opened. */
export function refuseBadSql({ tools, providers }: Configuration): void {
  const [complaint] = tools.filter((tool) => providers[tool.provider]?.kind === "postgres").flatMap(lintSql);
  if (complaint !== undefined) throw new Problem("invalid", complaint);
}
