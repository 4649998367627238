import { isAbsolute, join } from "node:path";
import { choiceOf, itemsOf, refuse, textOf, type Written } from "../core/written.ts";
import { flagOf, numberOf, orDefault, settingsOf } from "./member.ts";
import { type CommonSettings, commonOf } from "./provider-common.ts";
import { fileOf, type Surroundings, secretOf } from "./secret.ts";
import type { Setting } from "./settings.ts";

const AT = "providers.*";
const CLONE_MAX = 536_870_912;

/** The settings that only git remotes have. `auth`, `ca` and `writ` are as for others. */
export const GIT_SETTINGS = {
  "providers.*.remote": {
    takes: "an address",
    default: null,
    must: true,
    kinds: ["git"],
    sentence: "`https://…`, `ssh://user@host/…` or `git://…`; `file:///…` only with `allowFile`.",
  },
  "providers.*.author": {
    takes: "name and email",
    default: null,
    must: true,
    kinds: ["git"],
    sentence: "Who stands in every commit.",
  },
  "providers.*.author.name": {
    takes: "a text",
    default: null,
    must: true,
    kinds: ["git"],
    sentence: "The name.",
  },
  "providers.*.author.email": {
    takes: "a text",
    default: null,
    must: true,
    kinds: ["git"],
    sentence: "The address.",
  },
  "providers.*.ssh": {
    takes: "two files",
    default: null,
    kinds: ["git"],
    sentence: "For ssh: our key and the keys of hosts, by absolute paths. An unknown host is refused.",
  },
  "providers.*.ssh.key": {
    takes: "a path",
    default: null,
    must: true,
    kinds: ["git"],
    sentence: "The file of the private key.",
  },
  "providers.*.ssh.knownHosts": {
    takes: "a path",
    default: null,
    must: true,
    kinds: ["git"],
    sentence: "The file of the hosts' public keys, as OpenSSH writes it.",
  },
  "providers.*.allowFile": {
    takes: "true or false",
    default: false,
    kinds: ["git"],
    sentence: "Whether the remote may be a folder of this machine.",
  },
  "providers.*.branches": {
    takes: "a list of names",
    default: null,
    kinds: ["git"],
    sentence: "The branches that may be written; without it all.",
  },
  "providers.*.paths": {
    takes: "a list of paths",
    default: null,
    kinds: ["git"],
    sentence: "The files (`a/b.json`) and folders (`a/`) that may be written; without it all.",
  },
  "providers.*.scratch": {
    takes: "a path",
    default: ".writ/scratch",
    kinds: ["git"],
    sentence: "Where scratch clones live while they are needed; relative to the folder.",
  },
  "providers.*.cloneMax": {
    takes: "a number of bytes",
    default: CLONE_MAX,
    kinds: ["git"],
    sentence: "What a server may send for one scratch clone.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

type Credential = { readonly user: string; readonly password: string } | { readonly bearer: string };

/** How to reach one git remote. Holds secrets: never printed, logged or answered. */
export interface GitProvider extends CommonSettings {
  readonly remote: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly auth?: Credential;
  readonly ssh?: { readonly key: string; readonly knownHosts: string };
  readonly allowFile: boolean;
  readonly branches?: readonly string[];
  readonly paths?: readonly string[];
  readonly ca?: string;
  readonly folder: string;
  readonly cloneMaxBytes: number;
}

const DEFAULTS = {
  allowFile: GIT_SETTINGS["providers.*.allowFile"].default,
  scratch: GIT_SETTINGS["providers.*.scratch"].default,
  cloneMax: GIT_SETTINGS["providers.*.cloneMax"].default,
};

/** The settings of one git remote. */
export function gitOf(
  written: Written,
  given: Readonly<Record<string, Written>>,
  around: Surroundings,
): GitProvider {
  const { remote = written, author = written, auth, ssh, branches, paths, ca } = given;
  const byDefault = (name: keyof typeof DEFAULTS) => orDefault(given[name], DEFAULTS[name], written.at);
  const scratch = textOf(byDefault("scratch"));
  const who = settingsOf(author, GIT_SETTINGS, `${AT}.author`);
  return {
    remote: textOf(remote),
    author: { name: textOf(who.name ?? author), email: textOf(who.email ?? author) },
    ...(auth === undefined ? {} : { auth: credentialOf(auth, around) }),
    ...(ssh === undefined ? {} : { ssh: sshOf(ssh) }),
    allowFile: flagOf(byDefault("allowFile")),
    ...(branches === undefined ? {} : { branches: itemsOf(branches).map(textOf) }),
    ...(paths === undefined ? {} : { paths: itemsOf(paths).map(textOf) }),
    ...(ca === undefined ? {} : { ca: fileOf(ca, around) }),
    folder: isAbsolute(scratch) ? scratch : join(around.folder, scratch),
    cloneMaxBytes: numberOf(byDefault("cloneMax"), 1_048_576, 1_099_511_627_776),
    ...commonOf(given, around),
  };
}

function credentialOf(written: Written, around: Surroundings): Credential {
  const given = Object.entries(written.value ?? {});
  const [[kind, value] = ["", null], ...more] = given;
  choiceOf({ value: kind, at: written.at }, ["bearer", "basic"]);
  if (more.length > 0) refuse(written, "write either bearer or basic");
  const inner: Written = { value, at: `${written.at}/${kind}` };
  if (kind === "bearer") return { bearer: secretOf(inner, around) };
  const { user = inner, password = inner } = settingsOf(inner, BASIC, "basic");
  return { user: textOf(user), password: secretOf(password, around) };
}

const BASIC = {
  "basic.user": { takes: "a text", default: null, must: true, sentence: "The user's name." },
  "basic.password": { takes: "a secret", default: null, must: true, sentence: "The password or token." },
} as const satisfies Readonly<Record<string, Setting>>;

function sshOf(written: Written): NonNullable<GitProvider["ssh"]> {
  const { key = written, knownHosts = written } = settingsOf(written, GIT_SETTINGS, `${AT}.ssh`);
  return { key: textOf(key), knownHosts: textOf(knownHosts) };
}
