// The PostgreSQL that everything in one run shares: one of our own, or the one that WRIT_BENCH_DATABASE_URL names.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { discard, start } from "../../dist/database/embedded.js";
import { scratchDatabase } from "../../dist/database/scratch.js";

/** Room for a run without a checkpoint in the middle; nothing that a server that keeps its promises would not have. */
const SETTINGS = {
  shared_buffers: "512MB",
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
  max_connections: "200",
  jit: "off",
};

/** Throws when the server does not sync every commit: then there would be nothing to compare. */
export async function benchServer() {
  const own = process.env.WRIT_BENCH_DATABASE_URL === undefined ? await embedded() : undefined;
  const url = own?.url ?? process.env.WRIT_BENCH_DATABASE_URL;
  const client = new pg.Client({ connectionString: url, application_name: "writ bench" });
  await client.connect();
  const query = async (text) => (await client.query(text)).rows;
  const names = ["server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_sync_method"];
  const [settings] = await query(
    `select ${names.map((name) => `current_setting('${name}') ${name}`).join()}`,
  );
  for (const name of ["fsync", "synchronous_commit", "full_page_writes"])
    if (settings[name] !== "on") throw new Error(`the server has ${name}=${settings[name]}`);
  const scratches = [];
  return {
    settings: { ...settings, ours: own !== undefined },
    query,
    /** An empty database. */
    database: async () => {
      const scratch = await scratchDatabase(url);
      scratches.push(scratch);
      return scratch.url;
    },
    /** Any process of the server, if it runs on this machine. */
    backend: (await query("select pg_backend_pid() as pid, inet_server_addr() as at"))[0],
    close: async () => {
      for (const scratch of scratches) await scratch.drop();
      await client.end();
      await own?.stop();
    },
  };
}

async function embedded() {
  // As root, PostgreSQL runs as another user, who must get there.
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "writ-bench-"));
  chmodSync(folder, 0o755);
  const server = await start({ folder, settings: SETTINGS });
  const stop = async () => {
    await server.stop();
    await discard(folder);
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: server.url, stop };
}

/** One query on a connection of its own. */
export async function ask(url, text) {
  const client = new pg.Client({ connectionString: url, application_name: "writ bench" });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
