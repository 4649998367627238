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
  issuer: {
    takes: "an address",
    default: "https://writ.localhost",
    sentence: "The `iss` of the tokens that this installation itself gives out (`writ token`).",
    variable: "WRIT_ISSUER",
  },
  audience: {
    takes: "a text",
    default: "https://writ.localhost",
    sentence: "The `aud` of those tokens.",
    variable: "WRIT_AUDIENCE",
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
  issuers: {
    takes: "a list",
    default: null,
    sentence: "Whose tokens open a session. Besides them, this installation's own tokens do.",
  },
  "issuers[].issuer": {
    takes: "an address",
    default: null,
    must: true,
    sentence: "The token's `iss`, exactly.",
  },
  "issuers[].audience": {
    takes: "a text",
    default: null,
    must: true,
    sentence: "The token's `aud`, exactly: a token for anybody else as well is refused.",
  },
  "issuers[].keys": {
    takes: "file:PATH",
    default: null,
    must: true,
    sentence: "The issuer's public keys: a JWK Set with Ed25519 keys.",
  },
  "issuers[].tenant": {
    takes: "a name",
    default: null,
    sentence: "The tenant of all its tokens. Write this or `tenantClaim`.",
  },
  "issuers[].tenantClaim": {
    takes: "a claim's name",
    default: null,
    sentence: "The claim that names one of `tenants`.",
  },
  "issuers[].rolesClaim": {
    takes: "a claim's name",
    default: "roles",
    sentence: "The claim that lists the caller's roles.",
  },
  roles: {
    takes: "lists by name",
    default: null,
    sentence: "Which tools each role may propose. What no role names is denied.",
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
