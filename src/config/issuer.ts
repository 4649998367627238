import { type TenantId, tenantId } from "../core/ids.ts";
import { parseJson } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import { itemsOf, refuse, textOf, type Written } from "../core/written.ts";
import { INSTALLATION } from "./installation-settings.ts";
import { settingsOf } from "./member.ts";
import { fileOf, type Surroundings } from "./secret.ts";

/** A public Ed25519 key as a JWK Set lists it. */
interface IssuerKey {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
  readonly kid: string;
  readonly alg: "EdDSA";
  readonly use: "sig";
}

/** Whose tokens open a session, and for which tenant. */
export interface IssuerSettings {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: { readonly keys: readonly IssuerKey[] };
  readonly tenant: TenantId | { readonly claim: string; readonly among: readonly TenantId[] };
  readonly rolesClaim: string;
}

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
  const {
    issuer = written,
    audience = written,
    keys = written,
    tenant,
    tenantClaim,
    rolesClaim,
  } = settingsOf(written, INSTALLATION, "issuers[]");
  if ((tenant === undefined) === (tenantClaim === undefined))
    refuse(written, "write either tenant or tenantClaim");
  const one = tenant === undefined ? undefined : tenantOf(tenant);
  if (tenant !== undefined && one !== undefined && !tenants.includes(one))
    refuse(tenant, `"${one}" is not among the tenants`);
  return {
    issuer: issuerNamed(issuer),
    audience: textOf(audience),
    keys: keysOf(keys, around),
    tenant: one ?? { claim: textOf(tenantClaim ?? written), among: tenants },
    rolesClaim: rolesClaim === undefined ? INSTALLATION["issuers[].rolesClaim"].default : textOf(rolesClaim),
  };
}

/** RFC 8414 2: an address without query and fragment; "#" parts issuer and subject in a principal's id. */
export function issuerNamed(written: Written): string {
  const issuer = textOf(written);
  return /^https?:\/\/[^\s?#]+$/.test(issuer)
    ? issuer
    : refuse(written, "write an address without ?… and #…");
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
  const { kty, crv, x, kid, d } = (key ?? {}) as Readonly<Record<string, unknown>>; // Asked member by member below.
  if (d !== undefined)
    refuse(written, "the file holds a private key; an issuer's private key stays with the issuer");
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string" || typeof kid !== "string") {
    refuse(
      written,
      'every key must be a public Ed25519 key with a name: {"kty": "OKP", "crv": "Ed25519", "x": …, "kid": …}',
    );
  }
  return { kty, crv, x, kid, alg: "EdDSA", use: "sig" };
}

function jsonOf(written: Written, text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof Problem) return refuse(written, `the file is not strict JSON: ${error.message}`);
    throw error;
  }
}
