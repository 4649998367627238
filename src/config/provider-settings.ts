import { BROKER_SETTINGS } from "./provider-broker.ts";
import { GIT_SETTINGS } from "./provider-git.ts";
import { SMTP_SETTINGS } from "./provider-smtp.ts";
import type { Setting } from "./settings.ts";

/** Every setting of a provider in `writ.yaml`. A kind of provider adds its rows in a file of its own. */
export const PROVIDERS = {
  "providers.*.kind": {
    takes: "postgres, http, git, smtp, nats, redis or rabbitmq",
    default: null,
    must: true,
    sentence: "What speaks to it.",
  },
  "providers.*.database": {
    takes: "ledger or a secret",
    default: "ledger",
    kinds: ["postgres"],
    sentence:
      "`ledger`: the ledger's own database, where the effect and its receipt are one commit. Else the connection string of another, by reference.",
  },
  "providers.*.base": {
    takes: "an address",
    default: null,
    must: true,
    kinds: ["http"],
    sentence: "Scheme, host and path under which everything of it lives; `{{base}}` in contracts.",
  },
  "providers.*.auth": {
    takes: "one of three",
    default: null,
    kinds: ["http", "git", "smtp", "nats", "redis", "rabbitmq"],
    sentence: "The credential that every request carries. The agent never sees it.",
  },
  "providers.*.auth.bearer": {
    takes: "a secret",
    default: null,
    kinds: ["http", "git", "nats"],
    sentence: "Sent as `Authorization: Bearer …`; to NATS a token, or a whole credentials file.",
  },
  "providers.*.auth.header": {
    takes: "name and value",
    default: null,
    kinds: ["http"],
    sentence: "Sent as a header of this name.",
  },
  "providers.*.auth.header.name": {
    takes: "a header's name",
    default: null,
    must: true,
    kinds: ["http"],
    sentence: "Such as `X-Api-Key`.",
  },
  "providers.*.auth.header.value": {
    takes: "a secret",
    default: null,
    must: true,
    kinds: ["http"],
    sentence: "What it holds.",
  },
  "providers.*.auth.basic": {
    takes: "user and password",
    default: null,
    kinds: ["http", "git", "smtp", "nats", "redis", "rabbitmq"],
    sentence: "Sent as `Authorization: Basic …`, or as its transport logs in.",
  },
  "providers.*.auth.basic.user": {
    takes: "a text",
    default: null,
    must: true,
    kinds: ["http", "git", "smtp", "nats", "redis", "rabbitmq"],
    sentence: "The user's name.",
  },
  "providers.*.auth.basic.password": {
    takes: "a secret",
    default: null,
    must: true,
    kinds: ["http", "git", "smtp", "nats", "redis", "rabbitmq"],
    sentence: "The password.",
  },
  "providers.*.sign": {
    takes: "a key",
    default: null,
    kinds: ["http"],
    sentence: "Signs every request (RFC 9421): method, address, content type and the digest of the body.",
  },
  "providers.*.sign.keyId": {
    takes: "a text",
    default: null,
    must: true,
    kinds: ["http"],
    sentence: "The name under which the provider knows the public key.",
  },
  "providers.*.sign.key": {
    takes: "a secret",
    default: null,
    must: true,
    kinds: ["http"],
    sentence: "The private key in PEM form (PKCS #8): Ed25519, or ECDSA on P-256.",
  },
  "providers.*.secrets": {
    takes: "secrets by name",
    default: null,
    kinds: ["http"],
    sentence: "`{{secret:NAME}}` in headers and bodies of contracts.",
  },
  "providers.*.writ": {
    takes: "texts by name",
    default: null,
    kinds: ["http", "git", "smtp", "postgres", "nats", "redis", "rabbitmq"],
    sentence: "`{{writ.NAME}}` in contracts: fixed texts of this installation.",
  },
  "providers.*.allowPrivate": {
    takes: "true, false or a list",
    default: false,
    kinds: ["http", "nats", "redis", "rabbitmq"],
    sentence:
      "Whether it may live at an address that is not public; a list names addresses, networks and hosts.",
  },
  "providers.*.answerMax": {
    takes: "a number of bytes",
    default: 1_048_576,
    kinds: ["http", "nats", "redis", "rabbitmq"],
    sentence: "A larger answer is cut off, and what it said stays unknown.",
  },
  "providers.*.connect": {
    takes: "a time",
    default: "5s",
    kinds: ["http", "smtp", "postgres", "nats", "redis", "rabbitmq"],
    sentence: "How long a connection may take.",
  },
  "providers.*.connections": {
    takes: "a number",
    default: 16,
    kinds: ["http"],
    sentence: "Connections kept open, at most.",
  },
  "providers.*.ca": {
    takes: "file:PATH",
    default: null,
    kinds: ["http", "git", "smtp", "nats", "redis", "rabbitmq"],
    sentence: "Certificates (PEM) trusted instead of the system's, for a provider with its own authority.",
  },
  ...BROKER_SETTINGS,
  ...GIT_SETTINGS,
  ...SMTP_SETTINGS,
} as const satisfies Readonly<Record<string, Setting>>;
