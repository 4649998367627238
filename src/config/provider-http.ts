import { positiveOf, refuse, textOf, type Written } from "../core/written.ts";
import { INSTALLATION } from "./installation-settings.ts";
import { numberOf, orDefault, settingsOf } from "./member.ts";
import { type CommonSettings, certificatesOf, commonOf, privateOf } from "./provider-common.ts";
import { type Surroundings, secretOf } from "./secret.ts";

/** The credential that every request to a provider carries. */
type Credential =
  | { readonly bearer: string }
  | { readonly header: { readonly name: string; readonly value: string } }
  | { readonly basic: { readonly user: string; readonly password: string } };

/** How to reach one HTTP provider. Holds secrets: never printed, logged or answered. */
export interface HttpProvider extends CommonSettings {
  readonly base: string;
  readonly auth?: Credential;
  readonly sign?: { readonly keyId: string; readonly privateKey: string };
  readonly allowPrivate: boolean | readonly string[];
  readonly answerMaxBytes: number;
  readonly connectMs: number;
  readonly connectionsMax: number;
  readonly ca?: string;
}

const AT = "providers.*";

function byDefault(
  given: Readonly<Record<string, Written>>,
  name: "allowPrivate" | "answerMax" | "connect" | "connections",
  written: Written,
): Written {
  return orDefault(given[name], INSTALLATION[`${AT}.${name}`].default, written.at);
}

/** The settings of one HTTP provider. */
export function httpOf(
  written: Written,
  given: Readonly<Record<string, Written>>,
  around: Surroundings,
): HttpProvider {
  const { auth, base, ca, sign } = given;
  return {
    base: baseOf(base ?? written),
    ...(auth === undefined ? {} : { auth: credentialOf(auth, around) }),
    ...(sign === undefined ? {} : { sign: signingOf(sign, around) }),
    ...commonOf(given, around),
    allowPrivate: privateOf(byDefault(given, "allowPrivate", written)),
    answerMaxBytes: numberOf(byDefault(given, "answerMax", written), 1_024, 67_108_864),
    connectMs: positiveOf(byDefault(given, "connect", written)),
    connectionsMax: numberOf(byDefault(given, "connections", written), 1, 1_024),
    ...(ca === undefined ? {} : { ca: certificatesOf(ca, around) }),
  };
}

function baseOf(written: Written): string {
  const base = textOf(written);
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    refuse(written, "write an address that begins with https:// or http://");
  if (url.username !== "" || url.password !== "")
    refuse(written, "a credential is never written here; write it under auth, by reference");
  if (/[?#]/.test(base)) refuse(written, "leave ?… and #… out: the base ends with its path");
  return base;
}

function credentialOf(written: Written, around: Surroundings): Credential {
  const given = settingsOf(written, INSTALLATION, `${AT}.auth`);
  const { basic, bearer, header } = given;
  if (Object.keys(given).length !== 1) refuse(written, "write exactly one of bearer, header and basic");
  if (bearer !== undefined) return { bearer: secretOf(bearer, around) };
  if (header !== undefined) {
    const { name = header, value = header } = settingsOf(header, INSTALLATION, `${AT}.auth.header`);
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(textOf(name)))
      refuse(name, "this is not a header's name");
    return { header: { name: textOf(name), value: secretOf(value, around) } };
  }
  const at = basic ?? written;
  const { user = at, password = at } = settingsOf(at, INSTALLATION, `${AT}.auth.basic`);
  return { basic: { user: textOf(user), password: secretOf(password, around) } };
}

function signingOf(written: Written, around: Surroundings): NonNullable<HttpProvider["sign"]> {
  const { keyId = written, key = written } = settingsOf(written, INSTALLATION, `${AT}.sign`);
  return { keyId: textOf(keyId), privateKey: secretOf(key, around) };
}
