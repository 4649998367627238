import { randomBytes, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { catalog, definitionsOf, type Provider } from "./catalog/catalog.ts";
import type { Configuration, ProviderConfiguration, SettingsByTransport } from "./config.ts";
import type { CommonSettings, ConnectorKind } from "./connectors/define.ts";
import { KINDS, type Kind } from "./connectors/kinds.ts";
import { lintSql, postgresConnector } from "./connectors/postgres.ts";
import { digestOf } from "./core/digest.ts";
import type { TenantId } from "./core/ids.ts";
import type { Probe } from "./core/probe.ts";
import { Problem } from "./core/problem.ts";
import { LEDGER } from "./core/transport.ts";
import { pending } from "./database/migrate.ts";
import { connect, type Database } from "./database/pool.ts";
import { processClock } from "./host/clock.ts";
import { processEntropy } from "./host/entropy.ts";
import { buildApp } from "./http/app.ts";
import { loadOrCreateKey, type SigningKey } from "./identity/keys.ts";
import { receiptSigner } from "./identity/receipts.ts";
import { type Grant, mintToken, TENANT_CLAIM, tokenIdentity } from "./identity/tokens.ts";
import { type ClosableLedger, postgresLedger } from "./ledger/ledger.ts";
import { rolePolicy } from "./policy/roles.ts";
import { authorityView } from "./service/decide.ts";
import type { Connector, Log, Ports } from "./service/ports.ts";
import { probe } from "./service/probe.ts";
import type { Probing } from "./service/probe-bench.ts";
import type { ReadyAnswer } from "./wire/health.ts";
import { startWorker, WORKER_BOUNDS, type Worker, type WorkerBounds } from "./worker.ts";

export interface ComposeOptions {
  readonly configuration: Configuration;
  /** A PostgreSQL of version 15 or later with every migration applied. */
  readonly databaseUrl: string;
  /** The folder of this installation's keys. */
  readonly home: string;
  readonly log: Log;
  /** Kinds of connectors that come from elsewhere, made with `defineConnector`. The configuration was read with the same. */
  readonly connectors?: readonly ConnectorKind<CommonSettings>[];
  /** Names this process in claims; by default host and process. */
  readonly worker?: string;
}

/** One running Writ. */
export interface Writ {
  readonly ports: Ports;
  readonly configuration: Configuration;
  readonly database: Database;
  /** Opens the HTTP door. */
  listen(at?: { readonly host: string; readonly port: number }): Promise<{ readonly url: string }>;
  startWorker(bounds?: Partial<WorkerBounds>): Worker;
  /** Measures a tool's provider on a scratch resource. Throws `unknown_tool` for a tool that is not offered. */
  probe(
    tenantId: TenantId,
    tool: string,
    how: Omit<Probing, "offered"> & { readonly actor: string },
  ): Promise<Probe>;
  /** A token of this installation's own issuer. */
  mint(grant: Omit<Grant, "issuer" | "audience">): Promise<string>;
  /** Door, workers, ledger, database, in this order; what is in hand gets `withinMs` to end. */
  close(withinMs?: number): Promise<void>;
}

const CLOSE_WITHIN_MS = 10_000;

/** Builds every part and joins them. The only place that knows them all. */
export async function compose(options: ComposeOptions): Promise<Writ> {
  const { configuration, log } = options;
  refuseBadSql(configuration);
  const database = await connect({
    url: options.databaseUrl,
    applicationName: "writ",
    onNotice: (notice) => log.warn("database", { ...notice }),
  });
  const ledger = postgresLedger(database);
  const keys = keysOf(options.home);
  const providers = new Map(
    Object.entries(configuration.providers).map(([name, settings]) => [
      name,
      providerOf(settings, options.connectors ?? []),
    ]),
  );
  const policy = rolePolicy(configuration.roles);
  const settings = Object.fromEntries(
    [...providers].map(([name, { settingsDigest }]) => [name, settingsDigest]),
  );
  const rules = digestOf("writ.rules.v1", { policy: policy.version, settings });
  const tenantKeys = new Map<TenantId, Uint8Array>();
  for (const tenant of configuration.tenants) {
    const more = { rules, lookalikeKey: randomBytes(32) };
    tenantKeys.set(tenant, await ledger.enroll(tenant, definitionsOf(configuration.tools), more));
  }
  const ports: Ports = {
    ledger,
    catalog: catalog({ tools: configuration.tools, providers, tenantKeys, ledger }),
    policy,
    authority: authorityView(ledger),
    clock: processClock,
    entropy: processEntropy,
    signer: receiptSigner(keys.receipts),
    log,
    worker: options.worker ?? `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
  };
  const connectors = [...providers.values()].map(({ connector }) => connector);
  return running({ configuration, ports, database, ledger, keys, connectors });
}

function refuseBadSql({ tools, providers }: Configuration): void {
  const [complaint] = tools.filter((tool) => providers[tool.provider]?.kind === "postgres").flatMap(lintSql);
  if (complaint !== undefined) throw new Problem("invalid", complaint);
}

interface Parts {
  readonly configuration: Configuration;
  readonly ports: Ports;
  readonly database: Database;
  readonly ledger: ClosableLedger;
  readonly keys: Keys;
  readonly connectors: readonly Connector[];
}

function running({ configuration, ports, database, ledger, keys, connectors }: Parts): Writ {
  const workers: Worker[] = [];
  const { issuer, audience } = configuration;
  const identify = tokenIdentity({
    issuers: [
      {
        issuer,
        audience,
        keys: { keys: [keys.tokens.publicKey] },
        tenant: { claim: TENANT_CLAIM, among: configuration.tenants },
      },
      ...configuration.issuers,
    ],
    clock: () => ports.clock.wallMs(),
  });
  const app = buildApp({
    ports,
    identify,
    jwks: { keys: [keys.receipts.publicKey] },
    ready: async () => ready(database),
    settings: {
      hosts: configuration.hosts,
      origins: configuration.origins,
      bounds: { bodyMax: configuration.bodyMax },
    },
  });
  return {
    ports,
    configuration,
    database,
    listen: async (at = configuration.listen) => ({
      url: await app.listen({ host: at.host, port: at.port }),
    }),
    startWorker: (bounds = {}) => {
      const worker = startWorker(ports, { ...WORKER_BOUNDS, ...bounds });
      workers.push(worker);
      return worker;
    },
    probe: async (tenantId, name, { actor, ...how }) => {
      const offered = ports.catalog.tool(tenantId, name);
      if (offered === undefined) throw new Problem("unknown_tool", `there is no tool named "${name}"`);
      return probe(ports, tenantId, { ...how, offered }, actor);
    },
    mint: (grant) => mintToken({ ...grant, issuer, audience }, keys.tokens, ports.clock.wallMs()),
    close: async (withinMs = CLOSE_WITHIN_MS) => {
      await app.close();
      await Promise.all(workers.map((worker) => worker.stop(withinMs)));
      await ledger.close();
      await Promise.all(connectors.map((connector) => connector.close?.()));
      await database.close();
    },
  };
}

async function ready(database: Database): Promise<ReadyAnswer> {
  const check = (name: string, ok: boolean, says?: string) => ({
    name,
    ok,
    ...(says === undefined ? {} : { says }),
  });
  try {
    const missing = await pending(database);
    const migrated =
      missing.length === 0
        ? check("migrations", true)
        : check("migrations", false, `missing: ${missing.join(", ")}`);
    return { ready: migrated.ok, checks: [check("database", true), migrated] };
  } catch {
    return { ready: false, checks: [check("database", false, "the ledger's database does not answer")] };
  }
}

function providerOf(
  provider: ProviderConfiguration,
  foreign: readonly ConnectorKind<CommonSettings>[],
): Provider {
  switch (provider.transport) {
    case LEDGER:
      return {
        connector: postgresConnector(),
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

interface Keys {
  readonly tokens: SigningKey;
  readonly receipts: SigningKey;
}

function keysOf(home: string): Keys {
  const folder = join(home, "keys");
  return {
    tokens: loadOrCreateKey(folder, "tokens"),
    receipts: loadOrCreateKey(folder, "receipts"),
  };
}
