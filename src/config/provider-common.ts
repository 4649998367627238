import { textsOf, type Written } from "../core/written.ts";
import { namedOf } from "./member.ts";
import { type Surroundings, secretOf } from "./secret.ts";

export { certificatesOf, privateOf } from "./reach.ts";

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
