import { canonicalJson, type JsonObject } from "../../core/json.ts";
import { Problem } from "../../core/problem.ts";
import { fingerprint } from "../fingerprint.ts";
import type { EgressRule } from "./egress.ts";
import { type SigningSettings, signingPinned } from "./sign.ts";

/** A credential of the provider, already resolved. The agent never sees it and no log, outcome or digest holds it. */
export type Credential =
  | { readonly bearer: string }
  | { readonly header: { readonly name: string; readonly value: string } }
  | { readonly basic: { readonly user: string; readonly password: string } };

/** What the operator says about one HTTP provider. */
export interface HttpSettings extends EgressRule {
  /** Scheme, host, port and path under which everything of this provider lives. `{{base}}` in templates. */
  readonly base: string;
  readonly auth?: Credential;
  /** Signs every request (RFC 9421), beside `auth` or in its place. */
  readonly sign?: SigningSettings;
  /** `{{secret:NAME}}` in headers and bodies. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** `{{writ.NAME}}` in templates: our own fixed texts, pinned by the settings' digest. */
  readonly writ?: Readonly<Record<string, string>>;
  /** A larger answer is cut off, and what it said stays unknown. */
  readonly answerMaxBytes?: number;
  readonly connectMs?: number;
  /** Connections kept open for contracts whose identity makes a repeat safe. */
  readonly connectionsMax?: number;
  /** Trusted instead of the system's roots, in PEM: for a provider with its own certificate authority. */
  readonly ca?: string;
}

/** The address that templates build on. Refuses what could be read as something else. */
export function baseOf(settings: HttpSettings): string {
  const { base } = settings;
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw wrong("base", "is not an http or https address");
  if (url.username !== "" || url.password !== "")
    throw wrong("base", "holds a credential; it belongs into auth");
  if (url.search !== "" || url.hash !== "" || base.includes("?") || base.includes("#"))
    throw wrong("base", "ends with its path; leave ?… and #… out");
  return url.origin + url.pathname.replace(/\/$/, "");
}

function wrong(member: string, says: string): Problem {
  return new Problem("invalid", `the provider's "${member}" ${says}`, { at: `/${member}` });
}

/** The header that proves who we are. */
export function credentialHeader(credential: Credential): readonly [name: string, value: string] {
  const [name, value] = written(credential);
  if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) || !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    throw wrong("auth", "cannot stand in a header: use visible ASCII without line ends");
  }
  return [name, value];
}

function written(credential: Credential): readonly [string, string] {
  if ("bearer" in credential) return ["authorization", `Bearer ${credential.bearer}`];
  if ("header" in credential) return [credential.header.name.toLowerCase(), credential.header.value];
  return ["authorization", `Basic ${basicText(credential.basic)}`];
}

function basicText({ user, password }: { readonly user: string; readonly password: string }): string {
  return Buffer.from(`${user}:${password}`, "utf8").toString("base64"); // RFC 7617.
}

/** Every text that must never be shown, in the form the provider knows it. */
export function secretsOf({
  auth,
  secrets,
  sign,
}: Pick<HttpSettings, "auth" | "secrets" | "sign">): readonly string[] {
  const named = [...Object.values(secrets ?? {}), ...(sign === undefined ? [] : [sign.privateKey])];
  if (auth === undefined) return named;
  if ("bearer" in auth) return [...named, auth.bearer];
  if ("header" in auth) return [...named, auth.header.value];
  return [...named, auth.basic.password, basicText(auth.basic)];
}

/**
 * What the action pins of a provider's settings: all that is no secret, and a fingerprint of the credential. Another credential is
 * another identity to the provider, so a repeat under it would not be recognized. Limits on size and time do not change what is sent.
 */
export function settingsDigestValue(settings: HttpSettings): JsonObject {
  const { auth, secrets, writ, allowPrivate, ca, sign } = settings;
  const who =
    auth === undefined
      ? "none"
      : "bearer" in auth
        ? "bearer"
        : "header" in auth
          ? `header ${auth.header.name.toLowerCase()}`
          : `basic ${auth.basic.user}`;
  const fingerprints = Object.entries(secrets ?? {}).map(([name, secret]) => [name, fingerprint(secret)]);
  return {
    kind: "http",
    base: baseOf(settings),
    auth: who,
    credential: auth === undefined ? null : fingerprint(canonicalJson([...credentialHeader(auth)])),
    secrets: Object.fromEntries(fingerprints),
    writ: { ...writ },
    allowPrivate: typeof allowPrivate === "object" ? [...allowPrivate] : allowPrivate === true,
    ca: ca === undefined ? null : fingerprint(ca),
    // Only where it is set: what was pinned before there was this setting stays the same.
    ...(sign === undefined ? {} : { sign: signingPinned(sign) }),
  };
}
