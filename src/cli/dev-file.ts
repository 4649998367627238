import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Who a development token speaks for. */
export const PEOPLE = ["agent", "approver", "resolver", "operator"] as const;
export type Person = (typeof PEOPLE)[number];

/** Where the running `writ dev` of a folder is, and the tokens that it made. */
export interface DevFile {
  readonly url: string;
  readonly pid: number;
  readonly tokens: Readonly<Record<Person, string>>;
  readonly issuer?: DevIssuerFile;
  /** Where the example's simulated providers listen: `GET /__writ/journal` counts their effects. */
  readonly providers?: Readonly<Record<string, string>>;
}

/** The development issuer, and the secrets of its clients; `secrets.issuer` is this folder's own. */
export interface DevIssuerFile {
  readonly url: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly people: Readonly<Record<string, { readonly roles: readonly string[]; readonly client: string }>>;
}

export function devFilePath(folder: string): string {
  return join(folder, ".writ", "dev.json");
}

export function readDevFile(folder: string): DevFile | undefined {
  try {
    return JSON.parse(readFileSync(devFilePath(folder), "utf8")) as DevFile; // Written below, by this program.
  } catch {
    return undefined;
  }
}

/** Readable by its owner only, from its first moment: it holds tokens. */
export function writeDevFile(folder: string, file: DevFile): void {
  const path = devFilePath(folder);
  mkdirSync(join(folder, ".writ"), { recursive: true });
  const fresh = `${path}.${process.pid}`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  // The mode at creation is narrowed by the umask only; this says it whatever the umask.
  chmodSync(fresh, 0o600);
  renameSync(fresh, path);
}

/** Only the process that wrote it takes it away. */
export function removeDevFile(folder: string): void {
  if (readDevFile(folder)?.pid === process.pid) rmSync(devFilePath(folder), { force: true });
}
