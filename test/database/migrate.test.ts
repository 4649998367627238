import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { MigrationMismatch, migrate, pending } from "../../src/database/migrate.ts";
import { connect } from "../../src/database/pool.ts";
import { databaseKinds, freshDatabase } from "../support/database.ts";
import { command } from "../support/template.ts";

const FIRST = { "0001_first.sql": "create table first (id int); insert into first values (1);" };
const SECOND = { "0002_second.sql": "create table second (id int);" };

describe.each(databaseKinds())("on the %s server", (kind) => {
  /** An empty database: the package's own migrations are in the template, so it is made from another one. */
  async function emptyDatabase(): Promise<string> {
    const { url } = await freshDatabase(kind);
    await command(url, (client) => client.query("drop schema public cascade; create schema public"));
    return url;
  }

  async function tables(url: string): Promise<readonly string[]> {
    const text = "select tablename from pg_tables where schemaname = 'public' order by 1";
    const { rows } = await command(url, (client) => client.query<{ tablename: string }>(text));
    return rows.map(({ tablename }) => tablename);
  }

  async function pendingOf(url: string, folder: string): Promise<readonly string[]> {
    const db = await connect({ url });
    try {
      return await pending(db, { folder });
    } finally {
      await db.close();
    }
  }

  test("each migration is applied once, in order, and a second call has nothing to do", async () => {
    const url = await emptyDatabase();
    const folder = migrations({ ...SECOND, ...FIRST });
    expect(await pendingOf(url, folder)).toEqual(["0001_first", "0002_second"]);

    expect(await migrate(url, { folder })).toEqual(["0001_first", "0002_second"]);
    expect(await migrate(url, { folder })).toEqual([]);

    expect(await pendingOf(url, folder)).toEqual([]);
    expect(await tables(url)).toEqual(["first", "second", "writ_migrations"]);
  });

  test("many migrators at once apply each migration once, and all of them succeed", async () => {
    const url = await emptyDatabase();
    const folder = migrations({ ...FIRST, ...SECOND });

    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(url, { folder })));

    expect(applied.flat().sort()).toEqual(["0001_first", "0002_second"]);
  });

  test("an applied migration whose content changed is refused, and nothing is applied", async () => {
    const url = await emptyDatabase();
    await migrate(url, { folder: migrations(FIRST) });
    const folder = migrations({ "0001_first.sql": "create table other (id int);", ...SECOND });

    await expect(migrate(url, { folder })).rejects.toThrow(MigrationMismatch);
    await expect(pendingOf(url, folder)).rejects.toThrow(
      "migration 0001_first was applied with another content",
    );

    expect(await tables(url)).toEqual(["first", "writ_migrations"]);
  });

  test("other line ends are the same migration", async () => {
    const url = await emptyDatabase();
    await migrate(url, { folder: migrations({ "0001_first.sql": "select 1;\nselect 2;\n" }) });

    const folder = migrations({ "0001_first.sql": "select 1;\r\nselect 2;\r\n" });

    expect(await migrate(url, { folder })).toEqual([]);
  });

  test("a database that is newer than the code is refused", async () => {
    const url = await emptyDatabase();
    await migrate(url, { folder: migrations({ ...FIRST, ...SECOND }) });

    const older = migrate(url, { folder: migrations(FIRST) });

    await expect(older).rejects.toThrow(MigrationMismatch);
    await expect(older).rejects.toThrow("newer than this code: it has migration 0002_second");
  });

  test("a migration that comes before an applied one is refused", async () => {
    const url = await emptyDatabase();
    await migrate(url, { folder: migrations(SECOND) });

    await expect(migrate(url, { folder: migrations({ ...FIRST, ...SECOND }) })).rejects.toThrow(
      "a later number",
    );
  });

  test("a migration that fails leaves nothing of itself, and those before it stay", async () => {
    const url = await emptyDatabase();
    const broken = { "0002_broken.sql": "create table half (id int); select 1 / 0;" };

    await expect(migrate(url, { folder: migrations({ ...FIRST, ...broken }) })).rejects.toThrow(
      "migration 0002_broken: error: division by zero",
    );

    expect(await tables(url)).toEqual(["first", "writ_migrations"]);
    expect(await migrate(url, { folder: migrations({ ...FIRST, ...SECOND }) })).toEqual(["0002_second"]);
  });

  test("a migration that ends its own transaction is refused", async () => {
    const url = await emptyDatabase();
    const folder = migrations({ "0001_first.sql": "select 1; commit;" });

    await expect(migrate(url, { folder })).rejects.toThrow("ended its own transaction");
  });

  test("the migrations of this package are all applied in a fresh database", async () => {
    const { url } = await freshDatabase(kind);

    expect(await migrate(url)).toEqual([]);
    expect(await tables(url)).toContain("writ_migrations");
  });
});

test("a file out of the pattern and two of one number are refused", async () => {
  const nowhere = "postgresql://127.0.0.1:1/none";

  await expect(migrate(nowhere, { folder: migrations({ "1_first.sql": "" }) })).rejects.toThrow(
    "NNNN_name.sql",
  );
  await expect(
    migrate(nowhere, { folder: migrations({ "0001_a.sql": "", "0001_b.sql": "" }) }),
  ).rejects.toThrow("0001_a.sql has the same number");
});

function migrations(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "writ-migrations-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}
