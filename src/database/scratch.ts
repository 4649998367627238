import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** A database of one's own on somebody's server, for as long as a story lasts. */
export interface Scratch {
  readonly url: string;
  readonly name: string;
  /** Drops it, whoever is still connected. */
  drop(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Makes an empty database beside the one that `url` names. Its role must be allowed to. */
export async function scratchDatabase(url: string): Promise<Scratch> {
  const name = `writ_scratch_${randomBytes(6).toString("hex")}`;
  await command(url, `create database ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { url: own.href, name, drop: () => command(url, `drop database if exists ${name} with (force)`) };
}

/** Outside any transaction: neither command may run in one. */
async function command(url: string, text: string): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: "writ scratch",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
