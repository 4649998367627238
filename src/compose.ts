import { randomBytes, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { catalog, definitionsOf, type Provider } from "./catalog/catalog.ts";
import { enrolTenants } from "./catalog/enrol.ts";
import { notifierOf, passkeysOf } from "./compose-approvals.ts";
import { providerOf, refuseBadSql } from "./compose-providers.ts";
import type { Configuration } from "./config.ts";
import type { CommonSettings, ConnectorKind } from "./connectors/define.ts";
import { guardedConnector } from "./connectors/http/egress.ts";
import { jsonAsker } from "./connectors/http/question.ts";
import type { ClosableNotifier } from "./connectors/http/webhook.ts";
import { digestOf } from "./core/digest.ts";
import type { TenantId } from "./core/ids.ts";
import type { JsonObject } from "./core/json.ts";
import type { Probe } from "./core/probe.ts";
import { Problem } from "./core/problem.ts";
import { pending } from "./database/migrate.ts";
import { connect, type Database } from "./database/pool.ts";
import { processClock } from "./host/clock.ts";
import { processEntropy } from "./host/entropy.ts";
import { buildApp } from "./http/app.ts";
import { type Examined, examineIssuer } from "./identity/examine.ts";
import { loadOrCreateKey, type SigningKey } from "./identity/keys.ts";
import { receiptSigner } from "./identity/receipts.ts";
import { type IssuerAt, type ResourceServer, resourceServer, troubleOf } from "./identity/resource-server.ts";
import { identityStore } from "./ledger/identity-store.ts";
import { type ClosableLedger, postgresLedger } from "./ledger/ledger.ts";
import { postgresPolicies } from "./ledger/policies.ts";
import { withDecisionPoint } from "./policy/authzen.ts";
import { cedarEngine, policyBench } from "./policy/cedar.ts";
import { firstPolicy } from "./policy/first.ts";
import { mistakesIn, policyDigest } from "./policy/ruleset.ts";
import { installationPolicy } from "./policy/short-form.ts";
import { applyPlan, type Offer, type Plan, planApply } from "./service/apply.ts";
import { authorityView } from "./service/authority.ts";
import { capacity } from "./service/capacity.ts";
import type { Enrolment } from "./service/ledger-port.ts";
import { lookFor } from "./service/looking.ts";
import type { PolicyText } from "./service/policy-port.ts";
import type { Connector, Log, Ports } from "./service/ports.ts";
import { probe } from "./service/probe.ts";
import type { Probing } from "./service/probe-bench.ts";
import { readiness } from "./service/readiness.ts";
import { startWorker, WORKER_BOUNDS, type Worker, type WorkerBounds } from "./worker.ts";

export interface ComposeOptions {
  readonly configuration: Configuration;
  /** A PostgreSQL of version 15 or later with every migration applied. */
  readonly databaseUrl: string;
  /** The folder of this installation's keys. */
  readonly home: string;
  readonly log: Log;
  /** Whose tokens are taken, in place of those that the configuration names. */
  readonly issuers?: readonly IssuerAt[];
  /** Kinds of connectors that come from elsewhere, made with `defineConnector`. The configuration was read with the same. */
  readonly connectors?: readonly ConnectorKind<CommonSettings>[];
  /** Names this process in claims; by default host and process. */
  readonly worker?: string;
  /**
   * Whether the configuration is put in force. `applied` (the default): it is, whatever was. `followed`: only where nothing is in force yet;
   * else this process serves when its folder is what was applied. `compared`: never.
   */
  readonly configurationIs?: "applied" | "followed" | "compared";
  /** What policy sees as `context.environment`. By default production. */
  readonly environment?: "development" | "production";
}

/** One running Writ. */
export interface Writ {
  readonly ports: Ports;
  /** What putting the configuration in force would change, for each tenant. */
  plans(): Promise<readonly Plan[]>;
  /** Puts it in force as planned; see service/apply.ts. */
  apply(plan: Plan, actor: string): Promise<void>;
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
  /** Door, workers, ledger, database, in this order; what is in hand gets `withinMs` to end. */
  close(withinMs?: number): Promise<void>;
}

export { type DevelopmentIssuer, developmentIssuer } from "./identity/dev-issuer.ts";
/** Looks at every issuer that the configuration names. */
export function examineIssuers({ issuers }: Pick<Configuration, "issuers">): Promise<readonly Examined[]> {
  return Promise.all(issuers.map((at) => examineIssuer(at, issuerConnector(at))));
}

function issuerConnector({ allowPrivate = false, ca }: IssuerAt) {
  return guardedConnector({ allowPrivate }, ISSUER_CONNECT_MS, ca);
}

export { type LocalIssuer, localIssuer } from "./identity/local-issuer.ts";
export type { Plan } from "./service/apply.ts";

/** The policy of a configuration's folder, with every mistake as `file:line: the sentence that mends it`. Needs no database. */
export function folderPolicy(configuration: Configuration): {
  readonly policy: PolicyText;
  readonly digest: string;
  readonly mistakes: readonly string[];
} {
  const policy = installationPolicy(configuration);
  return { policy, digest: policyDigest(policy), mistakes: mistakesIn(policy, configuration.tools) };
}

const CLOSE_WITHIN_MS = 10_000;
const ISSUER_CONNECT_MS = 2_000;

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
  const receipts = loadOrCreateKey(join(options.home, "keys"), "receipts");
  const providers = new Map(
    Object.entries(configuration.providers).map(([name, settings]) => [
      name,
      providerOf(settings, database, options.connectors ?? []),
    ]),
  );
  const { tools, pdp } = configuration;
  const environment = options.environment ?? "production";
  const policies = { store: postgresPolicies(database), bench: policyBench({ tools, environment, log }) };
  const how = options.configurationIs ?? "applied";
  const offer = offerOf(configuration, providers, how === "applied" ? {} : { expects: "" });
  const tenants = how === "compared" ? [] : configuration.tenants;
  const { tenantKeys, offered } = await enrolTenants(ledger, tenants, tools, offer.enrolment);
  for (const tenant of tenants) await firstPolicy({ policies, ledger, log }, tenant, offer.policy);
  const asker = pdp === undefined ? undefined : jsonAsker(pdp);
  const offers = catalog({ tools, providers, tenantKeys, ledger });
  const look = lookFor(offers, policies.store);
  const own = cedarEngine({ ...policies, tools, environment, log, look });
  const notifier = notifierOf(configuration, () => place.url, log);
  const ports: Ports = {
    ledger,
    catalog: offers,
    policy: asker === undefined ? own : withDecisionPoint(own, { ...pdp, ...asker, log }),
    policies,
    authority: authorityView(ledger, offered),
    approvals: {
      ...configuration.approvals,
      passkeys: passkeysOf(configuration, database, (tenant) => tenantKeys.get(tenant) ?? new Uint8Array()),
      notifier,
    },
    clock: processClock,
    entropy: processEntropy,
    signer: receiptSigner(receipts),
    log,
    capacity: capacity(),
    worker: options.worker ?? `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
  };
  const connectors = [...[...providers.values()].map(({ connector }) => connector), asker ?? {}];
  const place: Place = { url: configuration.publicUrl ?? addressOf(configuration.listen) };
  const callers = resourceServer({
    issuers: options.issuers ?? configuration.issuers,
    store: identityStore(database),
    clock: processClock,
    connect: issuerConnector,
    publicUrl: () => place.url,
  });
  const parts = { notifier, configuration, ports, offer, database, ledger, receipts };
  return running({ ...parts, connectors, callers, place });
}

function offerOf(
  configuration: Configuration,
  providers: ReadonlyMap<string, Provider>,
  where: Pick<Enrolment, "expects">,
): Offer {
  const settings = Object.fromEntries(
    [...providers].map(([name, { settingsDigest }]) => [name, settingsDigest]),
  );
  const rules = digestOf("writ.rules.v1", {
    settings,
    asks: configuration.approvals.role,
    pdp: configuration.pdp ?? null,
  } as JsonObject);
  return {
    definitions: definitionsOf(configuration.tools),
    enrolment: () => ({ rules, settings, lookalikeKey: randomBytes(32), ...where }),
    policy: installationPolicy(configuration),
  };
}

interface Parts {
  readonly configuration: Configuration;
  readonly ports: Ports;
  readonly offer: Offer;
  readonly database: Database;
  readonly ledger: ClosableLedger;
  readonly receipts: SigningKey;
  readonly connectors: readonly Pick<Connector, "close">[];
  readonly callers: ResourceServer;
  readonly notifier: ClosableNotifier | undefined;
  readonly place: Place;
}

/** Under which address this Writ is reached; without a configured one it is known when the door is open. */
interface Place {
  url: string;
}

function addressOf({ host, port }: Configuration["listen"]): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function running(parts: Parts): Writ {
  const { configuration, ports, offer, database, ledger, receipts, connectors, callers, place } = parts;
  const workers: Worker[] = [];
  const app = buildApp({
    ports,
    ...callers,
    jwks: { keys: [receipts.publicKey] },
    ready: () =>
      readiness({
        ports,
        tenants: configuration.tenants,
        pending: () => pending(database),
        issuers: () => troubleOf(callers),
      }),
    settings: {
      hosts: configuration.hosts,
      origins: configuration.origins,
      bounds: { bodyMax: configuration.bodyMax },
    },
  });
  return {
    ports,
    plans: () => Promise.all(configuration.tenants.map((tenant) => planApply(ports, tenant, offer))),
    apply: (plan, actor) => applyPlan(ports, plan, offer, actor),
    configuration,
    database,
    listen: async (at = configuration.listen) => {
      const url = await app.listen({ host: at.host, port: at.port });
      if (configuration.publicUrl === undefined) place.url = url;
      return { url };
    },
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
    close: async (withinMs = CLOSE_WITHIN_MS) => {
      await app.close();
      await callers.close();
      await parts.notifier?.close();
      await Promise.all(workers.map((worker) => worker.stop(withinMs)));
      await ledger.close();
      await Promise.all(connectors.map((connector) => connector.close?.()));
      await database.close();
    },
  };
}
