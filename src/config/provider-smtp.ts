import { choiceOf, positiveOf, refuse, textOf, type Written } from "../core/written.ts";
import { numberOf, orDefault, settingsOf } from "./member.ts";
import { type CommonSettings, commonOf } from "./provider-common.ts";
import { fileOf, type Surroundings, secretOf } from "./secret.ts";
import type { Setting } from "./settings.ts";

const AT = "providers.*";
const PROTECTIONS = ["implicit", "starttls", "none"] as const;
type Protection = (typeof PROTECTIONS)[number];

const text = { takes: "a text", default: null, kinds: ["smtp"] } as const;

/** The settings that only mail servers have. `auth`, `ca`, `connect` and `writ` are as for others. */
export const SMTP_SETTINGS = {
  "providers.*.submission": {
    ...text,
    takes: "host, port, tls",
    must: true,
    sentence: "The server that takes our letters (SMTP).",
  },
  "providers.*.submission.host": { ...text, must: true, sentence: "Its name or address." },
  "providers.*.submission.port": {
    ...text,
    takes: "a number",
    must: true,
    sentence: "465 with `implicit`, 587 with `starttls`, as a rule.",
  },
  "providers.*.submission.tls": {
    ...text,
    takes: "implicit, starttls or none",
    must: true,
    sentence: "Protected from the first byte, after STARTTLS, or not at all.",
  },
  "providers.*.from": { ...text, must: true, sentence: "The sender of every letter." },
  "providers.*.fromName": { ...text, sentence: "Shown beside the sender's address." },
  "providers.*.domain": {
    ...text,
    must: true,
    sentence: "How we call ourselves, and the right half of every Message-ID.",
  },
  "providers.*.archive": {
    ...text,
    takes: "address and mailbox",
    must: true,
    sentence: "Where a copy of every letter goes, and how it is found there again.",
  },
  "providers.*.archive.address": { ...text, must: true, sentence: "Gets the copies." },
  "providers.*.archive.host": {
    ...text,
    sentence: "The server that shows the archive (IMAP). Without it a lost answer is for a person.",
  },
  "providers.*.archive.port": { ...text, takes: "a number", sentence: "993 with `implicit`, as a rule." },
  "providers.*.archive.tls": {
    ...text,
    takes: "implicit, starttls or none",
    default: "implicit",
    sentence: "As above. `none` only on this machine.",
  },
  "providers.*.archive.user": { ...text, sentence: "Who reads it." },
  "providers.*.archive.password": { ...text, takes: "a secret", sentence: "The password." },
  "providers.*.archive.mailbox": { ...text, default: "INBOX", sentence: "Where the copies lie." },
} as const satisfies Readonly<Record<string, Setting>>;

/** How to reach one mail server. Holds secrets: never printed, logged or answered. */
export interface SmtpProvider extends CommonSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: Protection;
  readonly user?: string;
  readonly password?: string;
  readonly from: string;
  readonly fromName?: string;
  readonly archiveAddress: string;
  readonly domain: string;
  readonly imap?: Imap;
  readonly ca?: string;
  readonly connectMs?: number;
}

interface Imap {
  readonly host: string;
  readonly port: number;
  readonly tls: Protection;
  readonly user: string;
  readonly password: string;
  readonly mailbox: string;
  readonly ca?: string;
}

/** The settings of one mail server. */
export function smtpOf(
  written: Written,
  given: Readonly<Record<string, Written>>,
  around: Surroundings,
): SmtpProvider {
  const { submission = written, archive = written, from = written, domain = written } = given;
  const server = settingsOf(submission, SMTP_SETTINGS, `${AT}.submission`);
  const { address = archive } = settingsOf(archive, SMTP_SETTINGS, `${AT}.archive`);
  const ca = given.ca === undefined ? {} : { ca: fileOf(given.ca, around) };
  const imap = imapOf(archive, around);
  return {
    host: textOf(server.host ?? submission),
    port: portOf(server.port ?? submission),
    tls: choiceOf(server.tls ?? submission, PROTECTIONS),
    ...(given.auth === undefined ? {} : credentialOf(given.auth, around)),
    from: textOf(from),
    ...(given.fromName === undefined ? {} : { fromName: textOf(given.fromName) }),
    archiveAddress: textOf(address),
    domain: textOf(domain),
    ...(imap === undefined ? {} : { imap: { ...imap, ...ca } }),
    ...ca,
    ...(given.connect === undefined ? {} : { connectMs: positiveOf(given.connect) }),
    ...commonOf(given, around),
  };
}

function imapOf(archive: Written, around: Surroundings): Imap | undefined {
  const given = settingsOf(archive, SMTP_SETTINGS, `${AT}.archive`);
  const { host, port = archive, user = archive, password = archive } = given;
  if (host === undefined) {
    const alone = given.port ?? given.tls ?? given.user ?? given.password ?? given.mailbox;
    return alone === undefined
      ? undefined
      : refuse(alone, 'this is about a "host", which is missing beside it');
  }
  const tls = SMTP_SETTINGS["providers.*.archive.tls"].default;
  const mailbox = SMTP_SETTINGS["providers.*.archive.mailbox"].default;
  return {
    host: textOf(host),
    port: portOf(port),
    tls: choiceOf(orDefault(given.tls, tls, archive.at), PROTECTIONS),
    user: textOf(user),
    password: secretOf(password, around),
    mailbox: textOf(orDefault(given.mailbox, mailbox, archive.at)),
  };
}

function portOf(written: Written): number {
  return numberOf(written, 1, 65_535);
}

function credentialOf(
  written: Written,
  around: Surroundings,
): { readonly user: string; readonly password: string } {
  const { basic = written } = settingsOf(written, CREDENTIAL, "auth");
  const { user = basic, password = basic } = settingsOf(basic, CREDENTIAL, "auth.basic");
  return { user: textOf(user), password: secretOf(password, around) };
}

const CREDENTIAL = {
  "auth.basic": { takes: "user and password", default: null, must: true, sentence: "The credential." },
  "auth.basic.user": { takes: "a text", default: null, must: true, sentence: "The user's name." },
  "auth.basic.password": { takes: "a secret", default: null, must: true, sentence: "The password." },
} as const satisfies Readonly<Record<string, Setting>>;
