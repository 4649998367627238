import { APPROVALS } from "./approval-settings.ts";
import { ISSUERS } from "./issuer-settings.ts";
import { PDP } from "./pdp-settings.ts";
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
  "providers.*.kind": {
    takes: "postgres or http",
    default: null,
    must: true,
    sentence: "What speaks to it.",
  },
  "providers.*.database": {
    takes: "ledger",
    default: "ledger",
    kind: "postgres",
    sentence: "The ledger's own database: the effect and its receipt are one commit.",
  },
  "providers.*.base": {
    takes: "an address",
    default: null,
    must: true,
    kind: "http",
    sentence: "Scheme, host and path under which everything of it lives; `{{base}}` in contracts.",
  },
  "providers.*.auth": {
    takes: "one of three",
    default: null,
    kind: "http",
    sentence: "The credential that every request carries. The agent never sees it.",
  },
  "providers.*.auth.bearer": {
    takes: "a secret",
    default: null,
    kind: "http",
    sentence: "Sent as `Authorization: Bearer …`.",
  },
  "providers.*.auth.header": {
    takes: "name and value",
    default: null,
    kind: "http",
    sentence: "Sent as a header of this name.",
  },
  "providers.*.auth.header.name": {
    takes: "a header's name",
    default: null,
    must: true,
    kind: "http",
    sentence: "Such as `X-Api-Key`.",
  },
  "providers.*.auth.header.value": {
    takes: "a secret",
    default: null,
    must: true,
    kind: "http",
    sentence: "What it holds.",
  },
  "providers.*.auth.basic": {
    takes: "user and password",
    default: null,
    kind: "http",
    sentence: "Sent as `Authorization: Basic …`.",
  },
  "providers.*.auth.basic.user": {
    takes: "a text",
    default: null,
    must: true,
    kind: "http",
    sentence: "The user's name.",
  },
  "providers.*.auth.basic.password": {
    takes: "a secret",
    default: null,
    must: true,
    kind: "http",
    sentence: "The password.",
  },
  "providers.*.secrets": {
    takes: "secrets by name",
    default: null,
    kind: "http",
    sentence: "`{{secret:NAME}}` in headers and bodies of contracts.",
  },
  "providers.*.writ": {
    takes: "texts by name",
    default: null,
    kind: "http",
    sentence: "`{{writ.NAME}}` in contracts: fixed texts of this installation.",
  },
  "providers.*.allowPrivate": {
    takes: "true, false or a list",
    default: false,
    kind: "http",
    sentence:
      "Whether it may live at an address that is not public; a list names addresses, networks and hosts.",
  },
  "providers.*.answerMax": {
    takes: "a number of bytes",
    default: 1_048_576,
    kind: "http",
    sentence: "A larger answer is cut off, and what it said stays unknown.",
  },
  "providers.*.connect": {
    takes: "a time",
    default: "5s",
    kind: "http",
    sentence: "How long a connection may take.",
  },
  "providers.*.connections": {
    takes: "a number",
    default: 16,
    kind: "http",
    sentence: "Connections kept open, at most.",
  },
  "providers.*.ca": {
    takes: "file:PATH",
    default: null,
    kind: "http",
    sentence: "Certificates (PEM) trusted instead of the system's, for a provider with its own authority.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
