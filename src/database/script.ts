import { Client } from "pg";

const CONNECT_TIMEOUT_MS = 5_000;

/** Runs a file of SQL as one transaction: all of it, or none. For tables that are not the ledger's own. */
export async function runScript(url: string, text: string): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: "writ script",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    // A query of several statements and without parameters is one implicit transaction.
    await client.query(text);
  } finally {
    await client.end();
  }
}
