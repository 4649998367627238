import type { JsonObject } from "../../core/json.ts";
import { Problem } from "../../core/problem.ts";
import { fingerprint } from "../fingerprint.ts";
import { checkAddress } from "./address.ts";

/** How a connection is protected: from its first byte, after STARTTLS, or not at all. */
type Protection = "implicit" | "starttls" | "none";

/** Where the copies of our letters can be read again. */
export interface ArchiveSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: Protection;
  readonly user: string;
  readonly password: string;
  readonly mailbox: string;
  readonly ca?: string;
}

/** What the operator says about one mail server. Arguments name the addressee and nothing else of the envelope. */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: Protection;
  readonly user?: string;
  readonly password?: string;
  /** The sender of every letter, in the envelope and in the letter. */
  readonly from: string;
  /** Shown beside the sender's address. */
  readonly fromName?: string;
  /** Gets a copy of every letter, in the same envelope. */
  readonly archiveAddress: string;
  /** How we call ourselves, and the right half of every Message-ID. */
  readonly domain: string;
  readonly imap?: ArchiveSettings;
  /** Certificates (PEM) trusted instead of the system's. */
  readonly ca?: string;
  readonly connectMs?: number;
  /** `{{writ.NAME}}` in contracts. */
  readonly writ?: Readonly<Record<string, string>>;
}

const DOMAIN =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** Throws `invalid` for settings that cannot be used as they stand. */
export function checkSettings(settings: SmtpSettings): void {
  const { user, password, from, fromName, archiveAddress, domain, imap } = settings;
  for (const [member, address] of [
    ["from", from],
    ["archive", archiveAddress],
  ] as const)
    if (checkAddress(address) !== undefined) throw wrong(member, "is one plain mail address");
  if (!DOMAIN.test(domain)) throw wrong("domain", "is a domain name in ASCII");
  if (fromName !== undefined && /\p{Cc}/u.test(fromName))
    throw wrong("fromName", "holds no control characters");
  if ((user === undefined) !== (password === undefined))
    throw wrong("user", "stands together with a password");
  if (user !== undefined && settings.tls === "none")
    throw wrong("tls", "must protect the password: implicit or starttls");
  if (imap !== undefined && imap.tls === "none" && !/^(127\.0\.0\.1|::1|localhost)$/.test(imap.host))
    throw wrong("imap", "must protect its password: tls: implicit or starttls");
}

function wrong(member: string, says: string): Problem {
  return new Problem("invalid", `the provider's "${member}" ${says}`, { at: `/${member}` });
}

/** Every text that must never be shown, in the forms that a server may echo. */
export function secretsOf({ user, password, imap }: SmtpSettings): readonly string[] {
  return [
    ...(password === undefined ? [] : [password, plainCredential(user ?? "", password)]),
    ...(imap === undefined ? [] : [imap.password]),
  ];
}

/** RFC 4616: nothing, a NUL, the user, a NUL, the password. */
export function plainCredential(user: string, password: string): string {
  return Buffer.from(`\0${user}\0${password}`, "utf8").toString("base64");
}

/** What the action pins: all that is no secret, and fingerprints of the credentials. */
export function settingsDigestValue(settings: SmtpSettings): JsonObject {
  const { host, port, tls, user, password, from, fromName, archiveAddress, domain, imap, ca, writ } =
    settings;
  return {
    kind: "smtp",
    host,
    port,
    tls,
    user: user ?? null,
    credential: mark(password),
    from,
    fromName: fromName ?? null,
    archive: archiveAddress,
    domain,
    ca: mark(ca),
    imap:
      imap === undefined
        ? null
        : {
            host: imap.host,
            port: imap.port,
            tls: imap.tls,
            user: imap.user,
            credential: mark(imap.password),
            mailbox: imap.mailbox,
            ca: mark(imap.ca),
          },
    writ: { ...writ },
  };
}

function mark(secret: string | undefined): string | null {
  return secret === undefined ? null : fingerprint(secret);
}
