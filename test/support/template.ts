import { Client } from "pg";
import { migrate } from "../../src/database/migrate.ts";

export type DatabaseKind = "embedded" | "server";

/** A server on which tests make their databases. */
export interface TestServer {
  readonly kind: DatabaseKind;
  readonly url: string;
  /** The database with every migration applied that the others are copies of. */
  readonly template: string;
  /** Of the embedded server. */
  readonly folder?: string;
}

const DAY_MS = 86_400_000;

/** A name that says when it was made, so that a later run knows what a killed one left on a lasting server. */
export function freshName(what: "template" | "test"): string {
  const unique = Math.random().toString(36).slice(2, 8);
  return `writ_${what}_${Date.now()}_${process.pid}_${unique}`;
}

export async function makeTemplate(server: Omit<TestServer, "template">): Promise<TestServer> {
  const template = freshName("template");
  await command(server.url, async (client) => {
    await dropLeftovers(client);
    await client.query(`create database ${template}`);
  });
  await migrate(withDatabase(server.url, template));
  return { ...server, template };
}

export async function dropTemplate({ url, template }: TestServer): Promise<void> {
  await command(url, (client) => client.query(`drop database if exists ${template} with (force)`));
}

export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** One short connection to the server itself. */
export async function command<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: "writ test" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function dropLeftovers(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select datname as name from pg_database where datname ~ '^writ_(template|test)_[0-9]+_'",
  );
  for (const { name } of rows)
    if (Date.now() - Number(name.split("_")[2]) > DAY_MS)
      await client.query(`drop database if exists ${name} with (force)`);
}
