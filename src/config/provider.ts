import { LEDGER, type Transport } from "../core/transport.ts";
import { choiceOf, refuse, type Written } from "../core/written.ts";
import { INSTALLATION } from "./installation-settings.ts";
import { orDefault, settingsOf } from "./member.ts";
import { type BrokerProvider, brokerOf } from "./provider-broker.ts";
import type { CommonSettings } from "./provider-common.ts";
import { type GitProvider, gitOf } from "./provider-git.ts";
import { type HttpProvider, httpOf } from "./provider-http.ts";
import { type MarkerProvider, markerOf } from "./provider-postgres.ts";
import { type SmtpProvider, smtpOf } from "./provider-smtp.ts";
import { fileOf, type Surroundings, secretOf } from "./secret.ts";
import type { Setting } from "./settings.ts";

/** What the settings of each transport are. A transport that is added stands here, in READ and among the connectors' kinds. */
export interface SettingsByTransport {
  readonly http: HttpProvider;
  readonly git: GitProvider;
  readonly smtp: SmtpProvider;
  readonly nats: BrokerProvider;
  readonly redis: BrokerProvider;
  readonly rabbitmq: BrokerProvider;
  /** Another PostgreSQL than the ledger's. */
  readonly postgres: MarkerProvider;
  readonly [LEDGER]: { readonly database: "ledger" };
}

/** A kind of provider that somebody else wrote a connector for. */
export interface ForeignKind {
  readonly kind: string;
  readonly transport: Transport;
  readonly parse?: (written: Written, reading: SettingsReading) => Partial<CommonSettings>;
}
interface SettingsReading {
  readonly secret: (written: Written) => string;
  readonly file: (written: Written) => string;
}

type Known = {
  [Name in keyof SettingsByTransport]: {
    readonly kind: Kind;
    /** What a contract for it names. */
    readonly transport: Name;
    readonly settings: SettingsByTransport[Name];
  };
}[keyof SettingsByTransport];

/** How to reach one provider. Holds secrets: never printed, logged or answered. */
export type ProviderConfiguration = Known | ForeignProvider;

interface ForeignProvider {
  /** The name that the connector was defined under; contracts for it name the same. */
  readonly kind: string;
  readonly transport: "foreign";
  readonly settings: Partial<CommonSettings>;
}

/** The transport that a contract must name to be for this provider. */
export function spokenBy(provider: ProviderConfiguration): string {
  return provider.transport === "foreign" ? provider.kind : provider.transport;
}

const AT = "providers.*";

type Given = Readonly<Record<string, Written>>;
type Read = (written: Written, given: Given, around: Surroundings) => Known;

/** Every kind that comes with Writ, by the name in `kind:`. */
const READ = {
  postgres: (written, given, around) => {
    const database = orDefault(given.database, INSTALLATION["providers.*.database"].default, written.at);
    return database.value === "ledger"
      ? { kind: "postgres", transport: LEDGER, settings: { database: "ledger" } }
      : { kind: "postgres", transport: "postgres", settings: markerOf(database, given, around) };
  },
  git: (written, given, around) => ({
    kind: "git",
    transport: "git",
    settings: gitOf(written, given, around),
  }),
  smtp: (written, given, around) => ({
    kind: "smtp",
    transport: "smtp",
    settings: smtpOf(written, given, around),
  }),
  nats: (written, given, around) => ({
    kind: "nats",
    transport: "nats",
    settings: brokerOf("nats", { written, given, around }),
  }),
  redis: (written, given, around) => ({
    kind: "redis",
    transport: "redis",
    settings: brokerOf("redis", { written, given, around }),
  }),
  rabbitmq: (written, given, around) => ({
    kind: "rabbitmq",
    transport: "rabbitmq",
    settings: brokerOf("rabbitmq", { written, given, around }),
  }),
  http: (written, given, around) => ({
    kind: "http",
    transport: "http",
    settings: httpOf(written, given, around),
  }),
} as const satisfies Readonly<Record<string, Read>>;

type Kind = "postgres" | "http" | "git" | "smtp" | "nats" | "redis" | "rabbitmq";

export function providerOf(
  written: Written,
  around: Surroundings,
  foreign: readonly ForeignKind[] = [],
): ProviderConfiguration {
  const kinds = Object.keys(READ) as readonly Kind[]; // The table above has exactly these.
  const named = foreignNamed(written, foreign);
  if (named !== undefined) return named(around);
  const given = settingsOf(written, INSTALLATION, AT);
  const kind = choiceOf(given.kind ?? written, kinds);
  for (const [name, member] of Object.entries(given)) {
    const only = (INSTALLATION as Readonly<Record<string, Setting>>)[`${AT}.${name}`]?.kinds;
    if (only !== undefined && !only.includes(kind))
      refuse(member, `a provider of kind ${kind} has no "${name}"`);
  }
  return READ[kind](written, given, around);
}

function foreignNamed(
  written: Written,
  foreign: readonly ForeignKind[],
): ((around: Surroundings) => ForeignProvider) | undefined {
  const { value } = written;
  const kind = value !== null && typeof value === "object" && "kind" in value ? value.kind : undefined;
  const found = foreign.find((candidate) => candidate.kind === kind);
  if (found === undefined) return undefined;
  return (around) => ({
    kind: found.kind,
    transport: "foreign",
    settings:
      found.parse?.(written, {
        secret: (ref) => secretOf(ref, around),
        file: (ref) => fileOf(ref, around),
      }) ?? {},
  });
}
