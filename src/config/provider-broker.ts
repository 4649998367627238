import { itemsOf, positiveOf, refuse, textOf, type Written } from "../core/written.ts";
import { numberOf, settingsOf } from "./member.ts";
import { type CommonSettings, certificatesOf, commonOf, privateOf } from "./provider-common.ts";
import { type Surroundings, secretOf } from "./secret.ts";
import type { Setting } from "./settings.ts";

/** The settings that only brokers have. `auth`, `ca`, `connect`, `allowPrivate`, `answerMax` and `writ` are as for others. */
export const BROKER_SETTINGS = {
  "providers.*.url": {
    takes: "an address, or a list",
    default: null,
    must: true,
    kinds: ["nats", "redis", "rabbitmq"],
    sentence:
      "Where it listens: `nats://` or `tls://`, `redis://` or `rediss://` with the database's number as path, `amqp://` or `amqps://` with the virtual host as path. Several are tried in order until one lets us in.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** How to reach one broker. Holds secrets: never printed, logged or answered. */
export interface BrokerProvider extends CommonSettings {
  readonly url: readonly string[];
  readonly auth?:
    | { readonly basic: { readonly user: string; readonly password: string } }
    | { readonly bearer: string };
  readonly allowPrivate: boolean | readonly string[];
  readonly answerMaxBytes?: number;
  readonly connectMs?: number;
  readonly ca?: string;
}

/** What is spoken to: the url's schemes say whether inside of TLS. */
const SCHEMES = { nats: /^(nats|tls):$/, redis: /^rediss?:$/, rabbitmq: /^amqps?:$/ } as const;

/** The settings of one broker of that kind. */
export function brokerOf(
  kind: keyof typeof SCHEMES,
  {
    written,
    given,
    around,
  }: {
    readonly written: Written;
    readonly given: Readonly<Record<string, Written>>;
    readonly around: Surroundings;
  },
): BrokerProvider {
  const { url = written, auth, ca, connect, allowPrivate, answerMax } = given;
  if (auth === undefined && kind === "rabbitmq")
    refuse(written, "write auth: { basic: … }: RabbitMQ lets nobody in without");
  return {
    url: itemsOf(url, true).map((one) => urlOf(one, SCHEMES[kind])),
    ...(auth === undefined ? {} : { auth: loginOf(auth, kind === "nats", around) }),
    ...commonOf(given, around),
    allowPrivate: allowPrivate === undefined ? false : privateOf(allowPrivate),
    ...(answerMax === undefined ? {} : { answerMaxBytes: numberOf(answerMax, 1_024, 67_108_864) }),
    ...(connect === undefined ? {} : { connectMs: positiveOf(connect) }),
    ...(ca === undefined ? {} : { ca: certificatesOf(ca, around) }),
  };
}

function urlOf(written: Written, schemes: RegExp): string {
  const text = textOf(written);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !schemes.test(url.protocol) || url.hostname === "")
    return refuse(written, "write an address of this kind, such as nats://host:4222");
  if (url.username !== "" || url.password !== "")
    refuse(written, "a credential is never written here; write it under auth, by reference");
  if (/[?#]/.test(text)) refuse(written, "leave ?… and #… out");
  return text;
}

const AUTH = {
  "auth.bearer": { takes: "a secret", default: null, sentence: "A token, or a NATS credentials file." },
  "auth.basic": { takes: "user and password", default: null, sentence: "The credential." },
  "auth.basic.user": { takes: "a text", default: null, must: true, sentence: "The user's name." },
  "auth.basic.password": { takes: "a secret", default: null, must: true, sentence: "The password." },
} as const satisfies Readonly<Record<string, Setting>>;

function loginOf(
  written: Written,
  tokens: boolean,
  around: Surroundings,
): NonNullable<BrokerProvider["auth"]> {
  const given = settingsOf(written, AUTH, "auth");
  const { basic, bearer } = given;
  if (Object.keys(given).length !== 1)
    refuse(written, `write exactly one of ${tokens ? "basic and bearer" : "basic"}`);
  if (bearer !== undefined)
    return tokens
      ? { bearer: secretOf(bearer, around) }
      : refuse(bearer, "only a user with a password is let in here; write basic");
  const at = basic ?? written;
  const { user = at, password = at } = settingsOf(at, AUTH, "auth.basic");
  return { basic: { user: textOf(user), password: secretOf(password, around) } };
}
