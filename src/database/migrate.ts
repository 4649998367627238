import { Client, DatabaseError } from "pg";
import { MIGRATIONS_FOLDER, type Migration, readMigrations } from "./migration-file.ts";
import type { Database } from "./pool.ts";
import { sql } from "./sql.ts";

/** The database and the migrations of this code do not belong together; nothing was changed. */
export class MigrationMismatch extends Error {
  override readonly name = "MigrationMismatch";
}

export interface MigrateOptions {
  /** Another folder than the package's own. */
  readonly folder?: string;
}

// As long as the other migrator may take before we give up.
const LOCK_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Brings the database to the state of this code and names the migrations that it applied: none on the second
 * call. Each is one transaction; one migrator works at a time and the others wait for it. Throws
 * MigrationMismatch when an applied migration was edited since, or when the database is newer than the code.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<readonly string[]> {
  const migrations = await readMigrations(options.folder ?? MIGRATIONS_FOLDER);
  const client = new Client({
    connectionString: url,
    application_name: "writ migrate",
    lock_timeout: LOCK_TIMEOUT_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // A broken connection also rejects the statement that waits; without a listener it would end the process.
  client.on("error", () => undefined);
  await client.connect();
  try {
    await makeTable(client);
    const applied: string[] = [];
    for (;;) {
      const name = await applyNext(client, migrations);
      if (name === undefined) return applied;
      applied.push(name);
    }
  } finally {
    await client.end();
  }
}

/** Names of the migrations that the database still needs; throws MigrationMismatch as `migrate` does. */
export async function pending(db: Database, options: MigrateOptions = {}): Promise<readonly string[]> {
  const migrations = await readMigrations(options.folder ?? MIGRATIONS_FOLDER);
  const table = await db.read<{ there: boolean }>(
    sql`select to_regclass('writ_migrations') is not null as there`,
  );
  if (table.rows[0]?.there !== true) return migrations.map((migration) => migration.name);
  const { rows } = await db.read<Applied>(sql`select name, checksum from writ_migrations order by name`);
  return unapplied(migrations, rows).map((migration) => migration.name);
}

interface Applied {
  readonly name: string;
  readonly checksum: string;
}

function unapplied(migrations: readonly Migration[], applied: readonly Applied[]): readonly Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { name, checksum } of applied) {
    const migration = known.get(name);
    if (migration === undefined)
      throw new MigrationMismatch(
        `the database is newer than this code: it has migration ${name}, which this version of Writ does not know; use the version that made it`,
      );
    if (migration.checksum !== checksum)
      throw new MigrationMismatch(
        `migration ${name} was applied with another content; restore the file and write a new migration instead`,
      );
    known.delete(name);
  }
  const rest = [...known.values()];
  const [first] = rest;
  const last = applied.at(-1)?.name ?? "";
  if (first !== undefined && first.name < last)
    throw new MigrationMismatch(
      `migration ${first.name} comes before ${last}, which is applied already; give it a later number`,
    );
  return rest;
}

/** `if not exists` is no protection against another migrator that creates it at this moment. */
async function makeTable(client: Client): Promise<void> {
  try {
    await client.query(`create table if not exists writ_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`);
  } catch (error) {
    const justCreated =
      error instanceof DatabaseError && ["23505", "42P07", "42710"].includes(error.code ?? "");
    if (!justCreated) throw error;
  }
}

/** The lock keeps other migrators out until the commit, and no reader: what is pending is asked for again inside. */
async function applyNext(client: Client, migrations: readonly Migration[]): Promise<string | undefined> {
  await client.query("begin isolation level read committed read write");
  try {
    await client.query("lock table writ_migrations in share row exclusive mode");
    const { rows } = await client.query<Applied>("select name, checksum from writ_migrations order by name");
    const [next] = unapplied(migrations, rows);
    if (next !== undefined) await apply(client, next);
    const { command } = await client.query("commit");
    if (command !== "COMMIT") throw new Error(`the server answered the commit with ${command}`);
    return next?.name;
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

async function apply(client: Client, { name, checksum, text }: Migration): Promise<void> {
  try {
    await client.query(text);
  } catch (error) {
    throw new Error(`migration ${name}: ${String(error)}`, { cause: error });
  }
  if (client.getTransactionStatus() !== "T") throw new Error(`migration ${name} ended its own transaction`);
  await client.query("insert into writ_migrations (name, checksum) values ($1, $2)", [name, checksum]);
}
