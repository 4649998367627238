import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** One step of the schema. Its file is never edited once it was released. */
export interface Migration {
  /** The file without `.sql`, such as 0001_operations. */
  readonly name: string;
  readonly checksum: string;
  readonly text: string;
}

/** `migrations/` at the root of the package: the same two levels up from src/database and from dist/database. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL("../../migrations/", import.meta.url));

const NAME = /^\d{4}_[a-z0-9_]+$/;

/** The migrations of a folder in order; two with one number, or a name out of the pattern, are refused. */
export async function readMigrations(folder: string): Promise<readonly Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  const names = files.map((file) => file.slice(0, -".sql".length));
  names.forEach((name, position) => {
    if (!NAME.test(name)) throw new Error(`migrations/${name}.sql: a migration is named NNNN_name.sql`);
    if (names[position - 1]?.slice(0, 4) === name.slice(0, 4))
      throw new Error(`migrations/${name}.sql: ${names[position - 1]}.sql has the same number`);
  });
  return Promise.all(names.map((name) => readMigration(folder, name)));
}

async function readMigration(folder: string, name: string): Promise<Migration> {
  // Git may write other line ends on another machine; the step is the same.
  const text = (await readFile(join(folder, `${name}.sql`), "utf8")).replaceAll("\r\n", "\n");
  return { name, text, checksum: createHash("sha256").update(text).digest("hex") };
}
