import type { JsonObject } from "../../core/json.ts";
import { Problem } from "../../core/problem.ts";
import { fingerprint } from "../fingerprint.ts";

/** What the operator says about a PostgreSQL that is not the ledger's. */
export interface MarkerSettings {
  /** `postgres://user:password@host:port/database`, with what the driver takes after "?". A secret as a whole. */
  readonly url: string;
  readonly connectMs?: number;
  /** `{{writ.NAME}}` in contracts. */
  readonly writ?: Readonly<Record<string, string>>;
}

/** Throws `invalid` for a connection string that names no one database. */
export function addressOf({ url }: Pick<MarkerSettings, "url">): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^postgres(ql)?:$/.test(address.protocol))
    throw wrong("is a connection string that begins with postgres://");
  if (address.hostname === "" || address.hostname.includes(","))
    throw wrong("names exactly one host: an effect that could go to either of two cannot be looked up");
  if (address.username === "" || address.pathname.length < 2) throw wrong("names a user and a database");
  return address;
}

function wrong(says: string): Problem {
  return new Problem("invalid", `the provider's "database" ${says}`, { at: "/database" });
}

/** Every text that must never be shown. */
export function secretsOf(settings: MarkerSettings): readonly string[] {
  const { password } = addressOf(settings);
  return password === "" ? [settings.url] : [settings.url, password, decodeURIComponent(password)];
}

/** What the action pins: where it is and who we are there, and a fingerprint of the password. */
export function settingsDigestValue(settings: MarkerSettings): JsonObject {
  const { hostname, port, username, pathname, password, searchParams } = addressOf(settings);
  return {
    kind: "postgres",
    host: hostname,
    port: port === "" ? "5432" : port,
    database: decodeURIComponent(pathname.slice(1)),
    user: decodeURIComponent(username),
    credential: fingerprint(password),
    // TLS and the like. A password may stand there too.
    options: fingerprint(
      [...searchParams]
        .map(([name, value]) => `${name}=${value}`)
        .sort()
        .join("&"),
    ),
    writ: { ...settings.writ },
  };
}
