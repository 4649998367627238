import { onTestFinished } from "vitest";
import { RolledBack } from "../../src/database/fault.ts";
import { type ConnectOptions, connect, type Database } from "../../src/database/pool.ts";
import { type Query, sql } from "../../src/database/sql.ts";
import { type DatabaseKind, freshDatabase } from "../support/database.ts";
import { command } from "../support/template.ts";

/** A database with one small table, and a connected pool that is closed when the test ends. */
export async function noteRig(
  kind: DatabaseKind,
  options: Partial<ConnectOptions> = {},
): Promise<{ readonly url: string; readonly db: Database }> {
  const { url } = await freshDatabase(kind);
  await command(url, (client) =>
    client.query(`create table note (id int primary key, text text,
      unique (text) deferrable initially deferred)`),
  );
  const db = await connect({ url, ...options });
  onTestFinished(() => db.close());
  return { url, db };
}

export function write(id: number, text = `text ${id}`): Query {
  return sql`insert into note values (${id}, ${text})`;
}

export async function ids(db: Database): Promise<readonly number[]> {
  const { rows } = await db.read<{ id: number }>(sql`select id from note order by id`);
  return rows.map(({ id }) => id);
}

/** The RolledBack that this ends in; anything else is thrown on. */
export async function refused(promise: Promise<unknown>): Promise<RolledBack> {
  const error: unknown = await promise.then(
    () => new Error("it was not refused"),
    (reason: unknown) => reason,
  );
  if (error instanceof RolledBack) return error;
  throw error;
}
