import type { Json } from "../core/json.ts";
import { itemsOf, refuse, textOf, textsOf, type Written } from "../core/written.ts";
import { namedOf } from "./member.ts";
import { fileOf, type Surroundings, secretOf } from "./secret.ts";

/** What every provider that is sent something may have: the texts and secrets that contracts use by name. */
export interface CommonSettings {
  readonly secrets: Readonly<Record<string, string>>;
  readonly writ: Readonly<Record<string, string>>;
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

export function commonOf(
  { secrets, writ }: Readonly<Record<string, Written>>,
  around: Surroundings,
): CommonSettings {
  const named = secrets === undefined ? [] : namedOf(secrets, NAME, "use letters, digits, - and _");
  return {
    secrets: Object.fromEntries(named.map(([name, secret]) => [name, secretOf(secret, around)])),
    writ: writ === undefined ? {} : textsOf(writ),
  };
}

/** Where it may live that is not public. */
export function privateOf(written: Written): boolean | readonly string[] {
  if (typeof written.value === "boolean") return written.value;
  if (!Array.isArray(written.value as Json))
    return refuse(written, "write true, false or a list of addresses, networks and hosts");
  return itemsOf(written).map(textOf);
}

/** Certificates in PEM form, from a file. */
export function certificatesOf(written: Written, around: Surroundings): string {
  const text = fileOf(written, around);
  if (!text.includes("-----BEGIN CERTIFICATE-----"))
    refuse(written, "the file holds no certificate in PEM form");
  return text;
}
