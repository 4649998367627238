import { durationOf, itemsOf, refuse, textOf, type Written } from "../core/written.ts";
import { APPROVALS } from "./approval-settings.ts";
import { numberOf, orDefault, settingsOf } from "./member.ts";
import { privateOf } from "./reach.ts";

/** How this installation asks people, as its configuration says. */
export interface ApprovalConfiguration {
  readonly openMax: number;
  readonly role: string;
  readonly maxAgeMs?: number;
  readonly passkeys?: { readonly rpId: string; readonly origins: readonly string[] };
  readonly notify?: { readonly url: string; readonly allowPrivate: boolean | readonly string[] };
}

const OPEN_MOST = 1_000;
const AT = "/approvals";

export function approvalsOf(
  written: Written | undefined,
  publicUrl: string | undefined,
): ApprovalConfiguration {
  const { openMax, role, authenticatedWithin, passkeys, notify } =
    written === undefined ? {} : settingsOf(written, APPROVALS, "approvals");
  const site = passkeys === undefined ? siteOf(publicUrl) : passkeysOf(passkeys);
  return {
    openMax: numberOf(
      orDefault(openMax, APPROVALS["approvals.openMax"].default, `${AT}/openMax`),
      1,
      OPEN_MOST,
    ),
    role: roleOf(orDefault(role, APPROVALS["approvals.role"].default, `${AT}/role`)),
    ...(authenticatedWithin === undefined ? {} : { maxAgeMs: durationOf(authenticatedWithin) }),
    ...(site === undefined ? {} : { passkeys: site }),
    ...(notify === undefined ? {} : { notify: notifyOf(notify) }),
  };
}

function roleOf(written: Written): string {
  const role = textOf(written);
  return /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$/.test(role) ? role : refuse(written, "write one role");
}

/** WebAuthn Level 3, 5.1.3: a relying party is a domain; an address is none. */
function siteOf(publicUrl: string | undefined): ApprovalConfiguration["passkeys"] {
  if (publicUrl === undefined) return undefined;
  const { hostname, origin } = new URL(publicUrl);
  return /^\[|^[\d.]+$/.test(hostname) ? undefined : { rpId: hostname, origins: [origin] };
}

function passkeysOf(written: Written): NonNullable<ApprovalConfiguration["passkeys"]> {
  const { rpId, origins } = settingsOf(written, APPROVALS, "approvals.passkeys");
  if (rpId === undefined || origins === undefined)
    return refuse(written, "say for which site passkeys are: rpId and origins");
  const site = textOf(rpId);
  if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(site) || /^[\d.]+$/.test(site))
    refuse(rpId, "write a host in lower case, such as writ.acme.example; an address is none");
  const pages = itemsOf(origins).map((item) => originOf(item, site));
  return pages.length === 0 ? refuse(origins, "name at least one origin") : { rpId: site, origins: pages };
}

function originOf(written: Written, site: string): string {
  const origin = textOf(written);
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  const within = url !== undefined && (url.hostname === site || url.hostname.endsWith(`.${site}`));
  const safe = url?.protocol === "https:" || url?.hostname === "localhost";
  return within && safe && url?.origin === origin
    ? origin
    : refuse(written, `write an https origin of ${site}, and nothing after it`);
}

function notifyOf(written: Written): NonNullable<ApprovalConfiguration["notify"]> {
  const { url, allowPrivate } = settingsOf(written, APPROVALS, "approvals.notify");
  if (url === undefined) return refuse(written, "say who is told: url");
  const address = textOf(url);
  const parsed = URL.canParse(address) ? new URL(address) : undefined;
  const local = parsed?.protocol === "http:" && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(parsed.hostname);
  if ((parsed?.protocol !== "https:" && !local) || parsed?.username !== "")
    refuse(url, "write an https address without a user; http is for this machine's loopback only");
  return { url: address, allowPrivate: privateOf(allowPrivate) };
}
