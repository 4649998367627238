import { join } from "node:path";
import type { JsonObject } from "../../core/json.ts";
import { Problem } from "../../core/problem.ts";
import { fingerprint } from "../fingerprint.ts";

/** What the operator says about one git remote. Arguments never name a remote, a person or an option. */
export interface GitSettings {
  /** `https://…`, `ssh://user@host/…`, `git://…`; `file:///…` only with `allowFile`. */
  readonly remote: string;
  /** Who stands in every commit, as author and as committer. */
  readonly author: { readonly name: string; readonly email: string };
  /** For https: a user with a token or password, or a bearer token. */
  readonly auth?: { readonly user: string; readonly password: string } | { readonly bearer: string };
  /** For ssh: the files of our key and of the hosts' keys. Unknown hosts are refused. */
  readonly ssh?: { readonly key: string; readonly knownHosts: string };
  readonly allowFile?: boolean;
  /** The branches that may be written; all when absent. */
  readonly branches?: readonly string[];
  /** The files (`a/b.json`) and folders (`a/`) that may be written; all when absent. */
  readonly paths?: readonly string[];
  /** Certificates (PEM) trusted instead of the system's. */
  readonly ca?: string;
  /** `{{writ.NAME}}` in contracts. */
  readonly writ?: Readonly<Record<string, string>>;
  /** Where scratch clones live while they are needed. */
  readonly folder: string;
  /** What a server may send for one scratch clone. */
  readonly cloneMaxBytes?: number;
}

/** Where the certificates lie beside a scratch clone: git takes them from a file only. */
export const CA_FILE = "ca.pem";

const CLONE_MAX_BYTES = 512 * 1024 * 1024;
const SCHEMES = ["https", "ssh", "git", "file"] as const;
type Scheme = (typeof SCHEMES)[number];

/** The scheme of the remote. Throws `invalid` for an address that git could read as a helper, an option or a path. */
function schemeOf({ remote, allowFile }: GitSettings): Scheme {
  const url = URL.canParse(remote) ? new URL(remote) : undefined;
  const scheme = SCHEMES.find((one) => url?.protocol === `${one}:`);
  // `ext::…` runs commands, `host:path` and plain paths are addresses too: nothing of it begins with one of our schemes.
  if (url === undefined || scheme === undefined || !remote.startsWith(`${scheme}://`))
    throw wrong("remote", "begins with https://, ssh://, git:// or file://");
  if (!/^[\x21-\x7e]+$/.test(remote) || remote.includes("\\"))
    throw wrong("remote", "is visible ASCII without spaces");
  if (url.password !== "" || (scheme !== "ssh" && url.username !== ""))
    throw wrong("remote", "holds no credential; that belongs into auth");
  if (url.search !== "" || url.hash !== "") throw wrong("remote", "ends with its path");
  if (url.hostname.startsWith("-") || url.username.startsWith("-"))
    throw wrong("remote", "names a host that begins with a dash");
  if (scheme === "file" && allowFile !== true)
    throw wrong("remote", "may be a folder only when allowFile says so");
  return scheme;
}

/** Throws `invalid` for settings that cannot be used as they stand. */
export function checkSettings(settings: GitSettings): void {
  const scheme = schemeOf(settings);
  const { author, auth, ssh } = settings;
  // A commit's header ends a name at "<", an address at ">", and itself at a line end.
  for (const text of [author.name, author.email])
    if (!text.isWellFormed() || /^\s*$|[<>]|\p{Cc}|^\s|\s$/u.test(text))
      throw wrong("author", "has a name and an email without <, >, line ends or spaces around them");
  if (auth !== undefined && scheme !== "https") throw wrong("auth", "is for https only");
  if (ssh !== undefined && scheme !== "ssh") throw wrong("ssh", "is for ssh only");
  // git hands the ssh command to a shell: our own words and these two paths are all that stands in it.
  for (const path of ssh === undefined ? [] : [ssh.key, ssh.knownHosts])
    if (!/^\/[A-Za-z0-9._/-]+$/.test(path))
      throw wrong("ssh", "names files by absolute paths of plain characters");
}

function wrong(member: string, says: string): Problem {
  return new Problem("invalid", `the provider's "${member}" ${says}`, { at: `/${member}` });
}

export function cloneMaxBytes(settings: GitSettings): number {
  return settings.cloneMaxBytes ?? CLONE_MAX_BYTES;
}

/** Every text that must never be shown. */
export function secretsOf({ auth }: Pick<GitSettings, "auth">): readonly string[] {
  if (auth === undefined) return [];
  return "bearer" in auth ? [auth.bearer] : [auth.password, basicText(auth)];
}

function basicText({ user, password }: { readonly user: string; readonly password: string }): string {
  return Buffer.from(`${user}:${password}`, "utf8").toString("base64"); // RFC 7617.
}

/** What the action pins: all that is no secret, and a fingerprint of the credential. */
export function settingsDigestValue(settings: GitSettings): JsonObject {
  const { remote, author, auth, ssh, branches, paths, ca, writ } = settings;
  const credential =
    auth === undefined ? null : "bearer" in auth ? `bearer ${auth.bearer}` : `basic ${basicText(auth)}`;
  return {
    kind: "git",
    remote,
    author: { ...author },
    credential: credential === null ? null : fingerprint(credential),
    ssh: ssh === undefined ? null : { ...ssh },
    branches: branches === undefined ? null : [...branches],
    paths: paths === undefined ? null : [...paths],
    ca: ca === undefined ? null : fingerprint(ca),
    writ: { ...writ },
  };
}

/**
 * The whole environment of every git process. Nothing of the system's, the user's or a repository's configuration is read, nobody is
 * asked for anything, no hook or helper runs, no redirect is followed, and only the remote's own scheme is spoken.
 */
export function environmentOf(settings: GitSettings, home: string): Readonly<Record<string, string>> {
  const scheme = schemeOf(settings);
  const configuration = [
    ["protocol.allow", "never"],
    [`protocol.${scheme}.allow`, "always"],
    ["core.hooksPath", "/dev/null"],
    ["core.fsmonitor", "false"],
    ["core.protectHFS", "true"],
    ["core.protectNTFS", "true"],
    ["core.askPass", ""],
    ["credential.helper", ""],
    ["gc.auto", "0"],
    ["maintenance.auto", "false"],
    ["http.followRedirects", "false"],
    ["http.proxy", ""],
    ["push.gpgSign", "false"],
    ["push.followTags", "false"],
    ["push.recurseSubmodules", "no"],
    ["fetch.recurseSubmodules", "no"],
    ...(settings.ca === undefined ? [] : [["http.sslCAInfo", join(home, CA_FILE)]]),
    ...headerOf(settings),
  ];
  const entries = configuration.flatMap(([key = "", value = ""], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...Object.fromEntries(entries),
    GIT_CONFIG_COUNT: String(configuration.length),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_SSH_COMMAND: sshCommand(settings),
    HOME: home,
    LC_ALL: "C",
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    TZ: "UTC",
  };
}

/** In the environment, not in the arguments: those are for every user of the machine to read. */
function headerOf({ auth }: GitSettings): readonly (readonly string[])[] {
  if (auth === undefined) return [];
  const value = "bearer" in auth ? `Bearer ${auth.bearer}` : `Basic ${basicText(auth)}`;
  return [["http.extraHeader", `Authorization: ${value}`]];
}

function sshCommand({ ssh }: GitSettings): string {
  const common = "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=yes -o ForwardAgent=no";
  return ssh === undefined
    ? `${common} -o IdentitiesOnly=yes`
    : `${common} -o IdentitiesOnly=yes -i ${ssh.key} -o UserKnownHostsFile=${ssh.knownHosts}`;
}
