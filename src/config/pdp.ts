import { refuse, textOf, type Written } from "../core/written.ts";
import { namedOf, settingsOf } from "./member.ts";
import { PDP } from "./pdp-settings.ts";
import { certificatesOf, privateOf } from "./reach.ts";
import { type Surroundings, secretOf } from "./secret.ts";

/** A policy decision point of somebody else's, as the configuration says. It holds a secret. */
export interface PdpConfiguration {
  readonly base: string;
  readonly token?: string;
  readonly allowPrivate: boolean | readonly string[];
  readonly ca?: string;
  readonly templates: Readonly<Record<string, string>>;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$/;

export function pdpOf(written: Written, around: Surroundings): PdpConfiguration {
  const { base, token, allowPrivate, ca, templates } = settingsOf(written, PDP, "pdp");
  if (base === undefined) return refuse(written, "say where it is: base");
  return {
    base: baseOf(base),
    ...(token === undefined ? {} : { token: secretOf(token, around) }),
    allowPrivate: privateOf(allowPrivate),
    ...(ca === undefined ? {} : { ca: certificatesOf(ca, around) }),
    templates: Object.fromEntries(
      templates === undefined
        ? []
        : namedOf(templates, NAME, "use letters, digits, - . : and _").map(([name, role]) => [
            name,
            roleOf(role),
          ]),
    ),
  };
}

function baseOf(written: Written): string {
  const text = textOf(written).replace(/\/$/, "");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url !== undefined && url.username === "" && url.search === "" && url.hash === "";
  return plain && (url.protocol === "https:" || url.protocol === "http:")
    ? text
    : refuse(written, "write an address without a user, ?… and #…");
}

function roleOf(written: Written): string {
  return NAME.test(textOf(written)) ? textOf(written) : refuse(written, "write one role");
}
