import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the development issuer shares with those who may ask it: by the name of a client, and `issuer` for the folder's owner. */
export type DevelopmentSecrets = Readonly<Record<string, string>>;

/** Made once for a folder, readable by its owner only. */
export function developmentSecrets(home: string, names: readonly string[]): DevelopmentSecrets {
  const folder = join(home, "keys");
  const path = join(folder, "development-secrets.json");
  const before = read(path);
  const missing = names.filter((name) => before[name] === undefined);
  if (missing.length === 0) return before;
  const fresh = missing.map((name) => [name, randomBytes(24).toString("base64url")] as const);
  const secrets = { ...before, ...Object.fromEntries(fresh) };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(path, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  return secrets;
}

function read(path: string): DevelopmentSecrets {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw error;
  }
  // Windows has no such bits; there the folder's own rights decide.
  if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0)
    throw new Error(
      `${path} holds secrets and others may read it: chmod 600 it, or remove it to have new ones made`,
    );
  return JSON.parse(text) as DevelopmentSecrets; // Written above, by this program.
}
