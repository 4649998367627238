import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** A database of one's own on somebody's server, for as long as a story lasts. */
export interface Scratch {
  readonly url: string;
  readonly name: string;
  /** Drops it, whoever is still connected. */
  drop(): Promise<void>;
}

const PREFIX = "writ_scratch_";
const CONNECT_TIMEOUT_MS = 5_000;
const HOUR_MS = 3_600_000;

/** Makes an empty database beside the one that `url` names; its role must be allowed to. Sweeps away what killed processes left an hour ago. */
export async function scratchDatabase(url: string): Promise<Scratch> {
  const name = `${PREFIX}${Date.now()}_${randomBytes(4).toString("hex")}`;
  await commanded(url, async (client) => {
    await dropLeftovers(client);
    await client.query(`create database ${name}`);
  });
  const own = new URL(url);
  own.pathname = `/${name}`;
  const drop = () =>
    commanded(url, async (client) => {
      await client.query(`drop database if exists ${name} with (force)`);
    });
  return { url: own.href, name, drop };
}

async function dropLeftovers(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_database d where datname ~ '^${PREFIX}[0-9]+_[0-9a-f]+$'
        and not exists (select from pg_stat_activity a where a.datname = d.datname)`,
  );
  for (const { name } of rows)
    if (Date.now() - Number(name.split("_")[2]) > HOUR_MS)
      await client.query(`drop database if exists ${name}`);
}

/** On a connection of its own, outside any transaction: `create database` may not run in one. */
async function commanded(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: "writ scratch",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
