// The floor: pgbench writes the same rows with one statement a commit, as a program would that wants no evidence but the rows.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { migrate } from "../../dist/database/migrate.js";
import { runScript } from "../../dist/database/script.js";
import { summary } from "./load.mjs";
import { TABLES } from "./offer.mjs";
import { ask } from "./server.mjs";

const pathOf = (name) => fileURLToPath(new URL(`floor/${name}`, import.meta.url));

/** Ordered ids where the server makes them: random ones only cost the floor more later, when the index no longer fits. */
const UUID = `create function bench_uuid() returns uuid language sql volatile as`;

/** The version of pgbench, or undefined when this machine has none. */
export function pgbenchVersion() {
  const { status, stdout } = spawnSync("pgbench", ["--version"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/** `rows`: in our own schema. `small`: three rows in a schema with nothing else, which is the least that anybody could write. */
export async function floor(server, which) {
  const url = await server.database();
  if (which === "rows") {
    await migrate(url);
    const ordered = Number.parseInt(server.settings.server_version, 10) >= 18;
    await runScript(url, `${TABLES} ${UUID} 'select ${ordered ? "uuidv7" : "gen_random_uuid"}()'`);
  } else await runScript(url, readFileSync(pathOf("small.sql"), "utf8"));
  await ask(url, "vacuum analyze");
  const file = (kind) => pathOf(which === "rows" ? `${kind}.sql` : `small-${kind}.sql`);
  return { url, run: ({ kind, callers, ms }) => run(url, file(kind), callers, ms) };
}

async function run(url, file, clients, ms) {
  const folder = mkdtempSync(join(tmpdir(), "writ-floor-"));
  const threads = String(Math.min(2, clients));
  const seconds = String(Math.max(1, Math.round(ms / 1000)));
  const args = ["-n", "-M", "prepared", "-f", file, "-c", String(clients), "-j", threads, "-T", seconds];
  try {
    const text = await output("pgbench", [...args, "-l", "--log-prefix", join(folder, "log"), url]);
    const perSecond = Number(/^tps = ([\d.]+)/m.exec(text)?.[1]);
    if (!(perSecond > 0)) throw new Error(`pgbench did not measure: ${text}`);
    const latencies = readdirSync(folder).flatMap((name) => latenciesIn(join(folder, name)));
    return { ...summary(latencies, latencies.length / perSecond), failed: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The third field of each line is the transaction's time in microseconds. */
function latenciesIn(path) {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => Number(line.split(" ")[2]) / 1000);
}

function output(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve(text) : reject(new Error(text))));
  });
}
