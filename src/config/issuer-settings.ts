import type { Setting } from "./settings.ts";

/** Every setting of an issuer. */
export const ISSUERS = {
  issuers: {
    takes: "a list",
    default: null,
    sentence: "Whose tokens open a session. Without one nobody comes in.",
  },
  "issuers[].issuer": {
    takes: "an address",
    default: null,
    must: true,
    sentence:
      "The token's `iss`, exactly: an https address, or one of this machine's loopback unless NODE_ENV is production.",
  },
  "issuers[].audience": {
    takes: "a text",
    default: null,
    must: true,
    sentence: "The token's `aud`, exactly: a token for anybody else as well is refused.",
  },
  "issuers[].algorithms": {
    takes: "a list of algorithms",
    default: null,
    sentence:
      "With which its tokens may be signed. Without it: EdDSA, Ed25519, ES256, ES384, ES512, PS256, RS256. A symmetric one never is.",
  },
  "issuers[].keys": {
    takes: "file:PATH",
    default: null,
    sentence:
      "The issuer's public keys, a JWK Set. Without it they are read from where the issuer's metadata says (RFC 8414, OpenID Connect Discovery), and read again every 10 minutes; while it does not answer, the last good ones count for one more hour.",
  },
  "issuers[].tenant": {
    takes: "a name",
    default: null,
    sentence: "The tenant of all its tokens. Write this or `tenantClaim`.",
  },
  "issuers[].tenantClaim": {
    takes: "a claim's name",
    default: null,
    sentence: "The claim that names one of the tenants.",
  },
  "issuers[].tenants": {
    takes: "a list of names",
    default: null,
    sentence: "Beside `tenantClaim`: the tenants that it may speak for. Without it: all.",
  },
  "issuers[].rolesClaim": {
    takes: "a claim's name",
    default: "roles",
    sentence: "The claim that lists the caller's roles.",
  },
  "issuers[].clients": {
    takes: "any or a list",
    default: "any",
    sentence: "The clients whose tokens are taken, by `client_id`.",
  },
  "issuers[].requireDpop": {
    takes: "true or false",
    default: false,
    sentence: "Whether its tokens must be bound to a key of their client (DPoP, RFC 9449).",
  },
  "issuers[].requireScopes": {
    takes: "true or false",
    default: false,
    sentence:
      "Whether its tokens are limited by scopes: `writ:read`, `writ:propose`, `writ:approve`, `writ:administer`.",
  },
  "issuers[].login": {
    takes: "a client",
    default: null,
    sentence:
      "The client by which people sign in here in a browser (OpenID Connect, code flow). Register `publicUrl` and `/login/callback` as its redirect.",
  },
  "issuers[].login.clientId": {
    takes: "a text",
    default: null,
    must: true,
    sentence: "Its `client_id`.",
  },
  "issuers[].login.clientSecret": {
    takes: "a secret",
    default: null,
    sentence: "Its secret, where it has one.",
  },
  "issuers[].allowPrivate": {
    takes: "true, false or a list",
    default: false,
    sentence:
      "Whether it may live at an address that is not public; a list names addresses, networks and hosts.",
  },
  "issuers[].ca": {
    takes: "file:PATH",
    default: null,
    sentence: "Certificates (PEM) trusted instead of the system's, for an issuer with its own authority.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
