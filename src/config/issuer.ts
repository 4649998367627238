import { type TenantId, tenantId } from "../core/ids.ts";
import { type JsonObject, parseJson } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import { choiceOf, itemsOf, refuse, textOf, type Written } from "../core/written.ts";
import { INSTALLATION } from "./installation-settings.ts";
import { flagOf, settingsOf } from "./member.ts";
import { certificatesOf, privateOf } from "./reach.ts";
import { fileOf, type Surroundings, secretOf } from "./secret.ts";

/** A public key as a JWK Set lists it. */
type IssuerKey = { readonly kty: string } & JsonObject;

/** Whose tokens open a session, for which tenant, and how it is spoken with. May hold a secret: never printed, logged or answered. */
export interface IssuerSettings {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: { readonly keys: readonly IssuerKey[] } | "discovered";
  readonly algorithms: readonly (typeof ALGORITHMS)[number][];
  readonly tenant: TenantId | { readonly claim: string; readonly among: readonly TenantId[] };
  readonly rolesClaim: string;
  readonly clients: readonly string[] | "any";
  readonly requireDpop: boolean;
  readonly requireScopes: boolean;
  readonly login?: { readonly clientId: string; readonly clientSecret?: string };
  readonly allowPrivate: boolean | readonly string[];
  readonly ca?: string;
}

/** Asymmetric, all of them: whoever can check a token must not be able to make one. */
const ALGORITHMS = ["EdDSA", "Ed25519", "ES256", "ES384", "ES512", "PS256", "RS256"] as const;
const NO_TENANT = "write either tenant or tenantClaim";

/** Those that are written, and the tenants: given, or those that the issuers name, or one. */
export function issuersOf(
  issuers: Written | undefined,
  tenants: Written | undefined,
  around: Surroundings,
): { readonly issuers: readonly IssuerSettings[]; readonly tenants: readonly TenantId[] } {
  const items = issuers === undefined ? [] : itemsOf(issuers);
  const named = items.flatMap((item) => {
    const { tenant } = settingsOf(item, INSTALLATION, "issuers[]");
    return tenant === undefined ? [] : [tenantOf(tenant)];
  });
  const all = tenants === undefined ? [...new Set(named)] : itemsOf(tenants).map(tenantOf);
  if (tenants !== undefined && all.length === 0) refuse(tenants, "name at least one tenant");
  const known = all.length === 0 ? [tenantId("main")] : all;
  const read = items.map((item) => issuerOf(item, known, around));
  const twice = read.findIndex(({ issuer }, index) =>
    read.some((other, before) => before < index && other.issuer === issuer),
  );
  if (twice >= 0) refuse(items[twice] ?? { value: null, at: "" }, "this issuer stands there twice");
  return { issuers: read, tenants: known };
}

function tenantOf(written: Written): TenantId {
  try {
    return tenantId(textOf(written));
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid_request")
      return refuse(written, 'a tenant\'s name is 1-63 of a-z, 0-9, "-" and "_"');
    throw error;
  }
}

function issuerOf(written: Written, tenants: readonly TenantId[], around: Surroundings): IssuerSettings {
  const given = settingsOf(written, INSTALLATION, "issuers[]");
  const { issuer = written, audience = written, keys, rolesClaim, algorithms, clients, login, ca } = given;
  const named = issuerNamed(issuer, around);
  const tenant = tenantRule(written, given, tenants);
  return {
    issuer: named,
    audience: textOf(audience),
    keys: keys === undefined ? "discovered" : keysOf(keys, around),
    algorithms:
      algorithms === undefined
        ? ALGORITHMS
        : itemsOf(algorithms, true).map((item) => choiceOf(item, ALGORITHMS)),
    tenant,
    rolesClaim: rolesClaim === undefined ? INSTALLATION["issuers[].rolesClaim"].default : textOf(rolesClaim),
    clients: clients === undefined || clients.value === "any" ? "any" : itemsOf(clients).map(textOf),
    requireDpop: given.requireDpop === undefined ? false : flagOf(given.requireDpop),
    requireScopes: given.requireScopes === undefined ? false : flagOf(given.requireScopes),
    ...(login === undefined ? {} : { login: loginOf(login, around) }),
    // What is configured by this machine's own address is meant to be there.
    allowPrivate: isLoopback(named)
      ? [new URL(named).hostname.replace(/^\[|\]$/g, ""), "127.0.0.0/8", "::1"]
      : privateOf(given.allowPrivate),
    ...(ca === undefined ? {} : { ca: certificatesOf(ca, around) }),
  };
}

function tenantRule(
  written: Written,
  { tenant, tenantClaim, tenants: own }: Readonly<Record<string, Written>>,
  tenants: readonly TenantId[],
): IssuerSettings["tenant"] {
  const known = (each: Written): TenantId => {
    const one = tenantOf(each);
    return tenants.includes(one) ? one : refuse(each, `"${one}" is not among the tenants`);
  };
  if (tenant !== undefined && tenantClaim === undefined) {
    if (own !== undefined) refuse(own, "this stands beside tenantClaim; an issuer of one tenant has no list");
    return known(tenant);
  }
  if (tenant !== undefined || tenantClaim === undefined) return refuse(written, NO_TENANT);
  return { claim: textOf(tenantClaim), among: own === undefined ? tenants : itemsOf(own).map(known) };
}

function loginOf(written: Written, around: Surroundings): NonNullable<IssuerSettings["login"]> {
  const { clientId = written, clientSecret } = settingsOf(written, INSTALLATION, "issuers[].login");
  return {
    clientId: textOf(clientId),
    ...(clientSecret === undefined ? {} : { clientSecret: secretOf(clientSecret, around) }),
  };
}

const LOOPBACK = /^http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?=[:/]|$)/;

function isLoopback(issuer: string): boolean {
  return LOOPBACK.test(issuer);
}

/** RFC 8414 2: an address without query and fragment; "#" parts issuer and subject in a principal's id. */
function issuerNamed(written: Written, { environment }: Surroundings): string {
  const issuer = textOf(written);
  if (!/^https?:\/\/[^\s?#@]+$/.test(issuer) || !URL.canParse(issuer))
    return refuse(written, "write an address without ?… and #…");
  if (issuer.startsWith("https:")) return issuer;
  if (!isLoopback(issuer))
    return refuse(written, "write an https address: what comes over http can be anybody's");
  return environment.NODE_ENV === "production"
    ? refuse(written, "in production an issuer has an https address")
    : issuer;
}

function keysOf(written: Written, around: Surroundings): { readonly keys: readonly IssuerKey[] } {
  const value = jsonOf(written, fileOf(written, around));
  // What the JSON parser gives is a tree of plain values; the shape is asked member by member.
  const keys = (value as { readonly keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys) || keys.length === 0)
    refuse(written, 'the file is not a JWK Set: write {"keys": [...]}');
  return { keys: keys.map((key: unknown) => keyOf(written, key)) };
}

function keyOf(written: Written, key: unknown): IssuerKey {
  const members = (key ?? {}) as JsonObject; // Asked member by member below.
  const { kty, kid, d, k } = members;
  if (d !== undefined || k !== undefined)
    refuse(written, "the file holds a private key; an issuer's private key stays with the issuer");
  if ((kty !== "OKP" && kty !== "EC" && kty !== "RSA") || typeof kid !== "string") {
    refuse(
      written,
      'every key must be a public one with a name: {"kty": "OKP", "EC" or "RSA", "kid": …, and what belongs to it}',
    );
  }
  return { ...members, kty };
}

function jsonOf(written: Written, text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof Problem) return refuse(written, `the file is not strict JSON: ${error.message}`);
    throw error;
  }
}
