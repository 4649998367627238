import type { TenantId } from "../core/ids.ts";
import { itemsOf, refuse, textOf, type Written } from "../core/written.ts";
import { type ApprovalConfiguration, approvalsOf } from "./approvals.ts";
import { INSTALLATION } from "./installation-settings.ts";
import { type IssuerSettings, issuersOf } from "./issuer.ts";
import { namedOf, numberOf, orDefault, settingsOf } from "./member.ts";
import { overridden } from "./override.ts";
import { type PdpConfiguration, pdpOf } from "./pdp.ts";
import { type ForeignKind, type ProviderConfiguration, providerOf } from "./provider.ts";
import { type Surroundings, secretOf } from "./secret.ts";

/** Everything that `writ.yaml` and the environment say. */
export interface Installation {
  /** The ledger's connection string. Absent: an embedded PostgreSQL. */
  readonly database?: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  /** Under which it is reached, without a slash at the end. Absent: where it listens. */
  readonly publicUrl?: string;
  readonly bodyMax: number;
  readonly tenants: readonly TenantId[];
  readonly issuers: readonly IssuerSettings[];
  readonly roles: Readonly<Record<string, readonly string[]>>;
  readonly providers: Readonly<Record<string, ProviderConfiguration>>;
  readonly approvals: ApprovalConfiguration;
  /** A decision point that is asked beside our own policy. */
  readonly pdp?: PdpConfiguration;
}

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,62}$/;
const HOW = "use a letter, then letters, digits, - . and _";
const BODY_LEAST = 1_024;
const BODY_MOST = 4_194_304;

export function installationOf(
  written: Written,
  around: Surroundings,
  kinds: readonly ForeignKind[] = [],
): Installation {
  const file = settingsOf(written, INSTALLATION, "");
  const given = (name: "database" | "listen" | "hosts" | "origins" | "publicUrl" | "bodyMax") =>
    overridden(name, file[name], around.environment);
  const database = given("database");
  const { issuers, providers, roles, tenants } = file;
  const publicUrl = given("publicUrl");
  return {
    ...(database === undefined ? {} : { database: databaseOf(database, around) }),
    listen: addressOf(orDefault(given("listen"), INSTALLATION.listen.default, "/listen")),
    hosts: listOf(
      given("hosts"),
      /^(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/,
      "write a name in lower case, perhaps with :port",
    ),
    origins: listOf(
      given("origins"),
      /^https?:\/\/[a-z0-9.-]+(?::\d{1,5})?$/,
      "write scheme and host, perhaps with :port, and nothing after it",
    ),
    ...(publicUrl === undefined ? {} : { publicUrl: baseOf(publicUrl) }),
    bodyMax: numberOf(
      orDefault(given("bodyMax"), INSTALLATION.bodyMax.default, "/bodyMax"),
      BODY_LEAST,
      BODY_MOST,
    ),
    approvals: approvalsOf(file.approvals, publicUrl === undefined ? undefined : baseOf(publicUrl)),
    ...(file.pdp === undefined ? {} : { pdp: pdpOf(file.pdp, around) }),
    ...issuersOf(issuers, tenants, around),
    roles: Object.fromEntries(
      roles === undefined
        ? []
        : namedOf(roles, NAME, HOW).map(([name, tools]) => [name, itemsOf(tools).map(patternOf)]),
    ),
    providers: Object.fromEntries(
      providers === undefined
        ? []
        : namedOf(providers, NAME, HOW).map(([name, provider]) => [
            name,
            providerOf(provider, around, kinds),
          ]),
    ),
  };
}

/** An address to whose end paths are added. */
function baseOf(written: Written): string {
  const base = textOf(written).replace(/\/$/, "");
  return /^https?:\/\/[^\s?#@]+$/.test(base) && URL.canParse(base)
    ? base
    : refuse(written, "write an address such as https://writ.acme.example, without ?… and #…");
}

/** A variable is already a place where secrets may be: it holds the string itself, or a reference. */
function databaseOf(written: Written, around: Surroundings): string {
  const { variable } = INSTALLATION.database;
  const direct = written.at === variable && !/^(?:env|file):/.test(textOf(written));
  const secret = direct ? textOf(written) : secretOf(written, around);
  if (!/^postgres(?:ql)?:\/\//.test(secret))
    refuse(written, "the connection string must begin with postgres://");
  return secret;
}

function addressOf(written: Written): Installation["listen"] {
  const found = /^(\[[0-9A-Fa-f:.]+\]|[^\s:[\]]+):(\d{1,5})$/.exec(textOf(written));
  const port = Number(found?.[2]);
  if (found === null || port > 65_535)
    refuse(written, "write host:port, such as 127.0.0.1:7070 or [::1]:7070");
  return { host: (found[1] ?? "").replace(/^\[|\]$/g, ""), port };
}

function listOf(written: Written | undefined, form: RegExp, how: string): readonly string[] {
  if (written === undefined) return [];
  return itemsOf(written).map((item) => (form.test(textOf(item)) ? textOf(item) : refuse(item, how)));
}

function patternOf(written: Written): string {
  const pattern = textOf(written);
  return /^(?:\*|[A-Za-z][A-Za-z0-9_.-]*\*?)$/.test(pattern)
    ? pattern
    : refuse(written, "write a tool's name, or a beginning and *, such as inventory.*");
}
