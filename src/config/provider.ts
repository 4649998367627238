import { choiceOf, positiveOf, refuse, textOf, textsOf, type Written } from "../core/written.ts";
import { INSTALLATION } from "./installation-settings.ts";
import { namedOf, numberOf, orDefault, settingsOf } from "./member.ts";
import { certificatesOf, privateOf } from "./reach.ts";
import { type Surroundings, secretOf } from "./secret.ts";
import type { Setting } from "./settings.ts";

/** The credential that every request to a provider carries. */
type Credential =
  | { readonly bearer: string }
  | { readonly header: { readonly name: string; readonly value: string } }
  | { readonly basic: { readonly user: string; readonly password: string } };

/** How to reach one HTTP provider. Holds secrets: never printed, logged or answered. */
export interface HttpProvider {
  readonly base: string;
  readonly auth?: Credential;
  readonly secrets: Readonly<Record<string, string>>;
  readonly writ: Readonly<Record<string, string>>;
  readonly allowPrivate: boolean | readonly string[];
  readonly answerMaxBytes: number;
  readonly connectMs: number;
  readonly connectionsMax: number;
  readonly ca?: string;
}

/** `postgres`: the effect lives in the ledger's own database. */
export type ProviderConfiguration =
  | { readonly kind: "postgres"; readonly database: "ledger" }
  | { readonly kind: "http"; readonly http: HttpProvider };

const AT = "providers.*";
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

export function providerOf(written: Written, around: Surroundings): ProviderConfiguration {
  const given = settingsOf(written, INSTALLATION, AT);
  const kind = choiceOf(given.kind ?? written, ["postgres", "http"]);
  for (const [name, member] of Object.entries(given)) {
    const only = (INSTALLATION as Readonly<Record<string, Setting>>)[`${AT}.${name}`]?.kind;
    if (only !== undefined && only !== kind) refuse(member, `a provider of kind ${kind} has no "${name}"`);
  }
  if (kind === "http") return { kind, http: httpOf(written, given, around) };
  return { kind, database: choiceOf(byDefault(given, "database", written), ["ledger"]) };
}

function byDefault(
  given: Readonly<Record<string, Written>>,
  name: "database" | "allowPrivate" | "answerMax" | "connect" | "connections",
  written: Written,
): Written {
  return orDefault(given[name], INSTALLATION[`${AT}.${name}`].default, written.at);
}

function httpOf(
  written: Written,
  given: Readonly<Record<string, Written>>,
  around: Surroundings,
): HttpProvider {
  const { auth, base, ca, secrets, writ } = given;
  return {
    base: baseOf(base ?? written),
    ...(auth === undefined ? {} : { auth: credentialOf(auth, around) }),
    secrets: Object.fromEntries(
      secrets === undefined
        ? []
        : namedOf(secrets, NAME, "use letters, digits, - and _").map(([name, secret]) => [
            name,
            secretOf(secret, around),
          ]),
    ),
    writ: writ === undefined ? {} : textsOf(writ),
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
