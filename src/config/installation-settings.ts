import { APPROVALS } from "./approval-settings.ts";
import { ISSUERS } from "./issuer-settings.ts";
import { PDP } from "./pdp-settings.ts";
import { PROVIDERS } from "./provider-settings.ts";
import type { Setting } from "./settings.ts";

/** Every setting of `writ.yaml`, by path. `*` is a name that the operator chooses, `[]` an item of a list. */
export const INSTALLATION = {
  database: {
    takes: "a secret",
    default: null,
    sentence:
      "The connection string of the PostgreSQL that holds the ledger. Without it: an embedded PostgreSQL under `.writ/`.",
    variable: "WRIT_DATABASE",
  },
  listen: {
    takes: "host:port",
    default: "127.0.0.1:7070",
    sentence: "Where the HTTP door listens; port 0 takes a free one.",
    variable: "WRIT_LISTEN",
  },
  hosts: {
    takes: "a list of names",
    default: null,
    sentence:
      "Other names by which the installation is reached over this machine's loopback (a proxy's, for example), each with its port if it is not the scheme's own. Over loopback any other Host is refused.",
    variable: "WRIT_HOSTS",
  },
  origins: {
    takes: "a list of origins",
    default: null,
    sentence: "Web origins other than our own whose pages may call, such as `https://console.acme.example`.",
    variable: "WRIT_ORIGINS",
  },
  publicUrl: {
    takes: "an address",
    default: null,
    sentence:
      "Under which the installation is reached, such as `https://writ.acme.example`: what proofs of possession (DPoP) and logins are made for. Without it: where it listens.",
    variable: "WRIT_PUBLIC_URL",
  },
  bodyMax: {
    takes: "a number of bytes",
    default: 262_144,
    sentence: "The largest request body; at most 4194304.",
    variable: "WRIT_BODY_MAX",
  },
  tenants: {
    takes: "a list of names",
    default: null,
    sentence: "The tenants of this installation. Without it: those that the issuers name, else `main`.",
  },
  ...ISSUERS,
  ...APPROVALS,
  ...PDP,
  roles: {
    takes: "lists by name",
    default: null,
    sentence:
      "Which tools each role may propose: the short form of a policy. What no role and no rule of `policies/*.cedar` permits is denied. Both are a tenant's first policy; later changes take effect by `writ policy activate`.",
  },
  "roles.*": {
    takes: "a list of tools",
    default: null,
    sentence: "Exact names of tools, or a beginning and `*`, such as `inventory.*`.",
  },
  providers: {
    takes: "settings by name",
    default: null,
    sentence: "The other systems, by the name that tools use.",
  },
  ...PROVIDERS,
} as const satisfies Readonly<Record<string, Setting>>;
