import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EmbeddedUnavailable, type Place } from "./embedded-place.ts";

const USER = "writ";

/** What PostgreSQL's programs need of our environment: no PG… variable of the user's, and no secret. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? "",
  // Windows loads no library without it.
  ...(process.env.SystemRoot === undefined ? {} : { SystemRoot: process.env.SystemRoot }),
  LC_ALL: "C",
  TZ: "UTC",
};

/** With the password; only for the loopback address that the server listens on. */
export function urlOf(place: Place, port: number, database: string): string {
  return `postgresql://${USER}:${secretOf(place)}@127.0.0.1:${port}/${database}`;
}

/**
 * Makes the data folder when there is none, with a random password in a file that only we read. The folder
 * appears whole or not at all, so a start that was killed leaves no half of one. A folder of another major
 * version is left alone and refused.
 */
export function initialize(place: Place): void {
  if (existsSync(join(place.data, "PG_VERSION"))) {
    refuseOtherMajor(place);
    return;
  }
  const fresh = join(place.home, "postgres.new");
  const password = join(place.home, "postgres.new-password");
  const secret = `${randomBytes(24).toString("base64url")}\n`;
  try {
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { mode: 0o700 });
    rmSync(password, { force: true });
    writeFileSync(password, secret, { mode: 0o600, flag: "wx" });
    for (const path of [fresh, password])
      if (place.user !== undefined) chownSync(path, place.user.uid, place.user.gid);
    runInitdb(place, fresh, password);
  } finally {
    rmSync(password, { force: true });
  }
  rmSync(secretFile(place), { force: true });
  writeFileSync(secretFile(place), secret, { mode: 0o600, flag: "wx" });
  renameSync(fresh, place.data);
}

function refuseOtherMajor(place: Place): void {
  const major = readFileSync(join(place.data, "PG_VERSION"), "utf8").trim();
  if (major === place.major) return;
  throw new EmbeddedUnavailable(
    `${place.data} was made by PostgreSQL ${major} and this is PostgreSQL ${place.major}: move that folder away, or set DATABASE_URL to a server of version ${major}`,
  );
}

function runInitdb(place: Place, data: string, password: string): void {
  const how = [
    "-U",
    USER,
    "-A",
    "scram-sha-256",
    "--pwfile",
    password,
    "-E",
    "UTF8",
    "--locale=C",
    "--no-instructions",
  ];
  const { status, stderr, error } = spawnSync(join(place.binaries, "bin/initdb"), ["-D", data, ...how], {
    ...identity(place),
    env: ENVIRONMENT,
    cwd: "/",
    encoding: "utf8",
  });
  if (status === 0) return;
  // ENOENT of a file that is there is its loader that is not: glibc binaries on Alpine.
  throw new EmbeddedUnavailable(
    `PostgreSQL's initdb did not run here (${(error?.message ?? stderr).trim()}): set DATABASE_URL to a PostgreSQL server`,
  );
}

/** For spawn: the user that PostgreSQL runs as, when it must not be ours. */
export function identity({ user }: Place): { readonly uid?: number; readonly gid?: number } {
  return user === undefined ? {} : { uid: user.uid, gid: user.gid };
}

function secretFile(place: Place): string {
  return join(place.home, "postgres.secret");
}

function secretOf(place: Place): string {
  if (existsSync(secretFile(place))) return readFileSync(secretFile(place), "utf8").trim();
  throw new EmbeddedUnavailable(
    `${secretFile(place)}, the password of the database in ${place.data}, is gone: restore it, or remove that folder too`,
  );
}
