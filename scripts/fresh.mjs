// `npm run fresh`: what a newcomer sees. The last commit is laid into an empty folder, with an empty home and an
// environment of PATH and HOME; `npm start`, the command that it prints, and `npm test` must work there, for root
// (when root asks) and for an ordinary user.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const START_TIMEOUT_MS = 300_000;
const CURL_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;
const TEST_TIMEOUT_MS = 1_200_000;
// Where npm finds its registry on this machine: a newcomer's npm knows that too. The other npm_config_ variables
// are set by the npm that runs this script, and name its own folders.
const CARRIED = new RegExp(
  "^(npm_config_(registry|replace_registry_host|ca|cafile|strict_ssl|proxy|https_proxy|globalconfig|prefer_offline)" +
    "|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|HTTPS?_PROXY|NO_PROXY)$",
  "i",
);

const people = userInfo().uid === 0 ? [userInfo(), nobody()] : [userInfo()];
const rows = [];
const table = {};
for (const person of people) rows.push(await fresh(person));
for (const { faults, ...row } of rows) table[row.who] = { ...row, held: faults.length === 0 };
console.table(table, ["result after", "stopped in", "tests took", "tests said", "held"]);
for (const { who, faults } of rows) for (const fault of faults) console.error(`${who}: ${fault}`);
process.exitCode = rows.some(({ faults }) => faults.length > 0) ? 1 : 0;

async function fresh({ username, uid, gid }) {
  const row = { who: username, faults: [] };
  const base = mkdtempSync(join(tmpdir(), "writ-fresh-"));
  const began = Date.now();
  try {
    const as = checkout(base, { uid, gid });
    await firstResult(as, row, began);
    if (row.faults.length === 0) await tests(as, row);
  } catch (error) {
    row.faults.push(error.message);
  }
  for (const pid of processesIn(base)) {
    row.faults.push(`process ${pid} was left running`);
    process.kill(pid, "SIGKILL");
  }
  if (row.faults.length === 0) rmSync(base, { recursive: true, force: true });
  else row.faults.push(`the folder is kept: ${base}`);
  return row;
}

/** The last commit, in a folder that belongs to this person; what is run there is run as them. */
function checkout(base, { uid, gid }) {
  const cwd = join(base, "writ");
  const home = join(base, "home");
  chmodSync(base, 0o755);
  for (const folder of [cwd, home]) mkdirSync(folder);
  must(
    spawnSync("bash", ["-c", 'set -o pipefail; git archive HEAD | tar -x -C "$0"', cwd], {
      cwd: ROOT,
      encoding: "utf8",
    }),
  );
  must(spawnSync("chown", ["-R", `${uid}:${gid}`, cwd, home], { encoding: "utf8" }));
  const carried = Object.entries(process.env).filter(([name, value]) => CARRIED.test(name) && value);
  return { cwd, env: { ...Object.fromEntries(carried), PATH: process.env.PATH, HOME: home }, uid, gid };
}

async function firstResult(as, row, began) {
  const server = started(as, ["start"]);
  try {
    const command = await printedCommand(server);
    const { stdout, stderr } = spawnSync("bash", ["-c", command], {
      ...as,
      encoding: "utf8",
      env: { PATH: as.env.PATH, HOME: as.env.HOME },
      timeout: CURL_TIMEOUT_MS,
    });
    if (!succeeded(stdout))
      row.faults.push(`the printed command gave no "succeeded":\n${command}\n${stdout}${stderr}`);
    row["result after"] = since(began);
  } catch (error) {
    row.faults.push(`npm start: ${error.message}\n${server.output}`);
  }
  await stop(server, row);
}

async function tests(as, row) {
  const began = Date.now();
  const run = started(as, ["test"]);
  const status = await Promise.race([run.ended, after(TEST_TIMEOUT_MS)]);
  row["tests took"] = since(began);
  row["tests said"] = run.output.match(/^\d+ passed, \d+ failed.*$/m)?.[0] ?? "none";
  if (status !== 0) row.faults.push(`npm test: ${status ?? "no end"}\n${run.output.slice(-8_000)}`);
  if (status === undefined) run.signal("SIGKILL");
}

/** A process group of its own, because Ctrl-C in a terminal reaches npm and all that it started. */
function started(as, args) {
  const child = spawn("npm", args, { ...as, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const run = { output: "", signal: (name) => process.kill(-child.pid, name) };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      run.output += stripVTControlCharacters(text);
    });
  }
  run.ended = new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(code ?? signal));
  });
  return run;
}

async function printedCommand(server) {
  const giveUpAt = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < giveUpAt) {
    const command = server.output.match(/^[ \t]*(curl (?:.*\\\r?\n)*.*)\r?\n/m)?.[1];
    if (command !== undefined && /https?:\/\/\S+/.test(server.output)) return command;
    const status = await Promise.race([server.ended, after(100)]);
    if (status !== undefined) throw new Error(`ended with ${status} before it printed a URL and a command`);
  }
  throw new Error(`printed no URL and command within ${START_TIMEOUT_MS / 1000} s`);
}

function succeeded(text) {
  try {
    return JSON.stringify(JSON.parse(text)).includes('"state":"succeeded"');
  } catch {
    return false;
  }
}

async function stop(server, row) {
  const began = Date.now();
  try {
    server.signal("SIGINT");
  } catch {
    return;
  }
  const status = await Promise.race([server.ended, after(STOP_TIMEOUT_MS)]);
  row["stopped in"] = since(began);
  if (status !== undefined) return;
  server.signal("SIGKILL");
  await Promise.race([server.ended, after(STOP_TIMEOUT_MS)]);
  row.faults.push(`npm start did not stop within ${STOP_TIMEOUT_MS / 1000} s of Ctrl-C`);
}

/** A database that outlives its owner stands in its data folder. Only Linux can be asked this way. */
function processesIn(folder) {
  const pids = process.platform === "linux" ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
  return pids.map(Number).filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`);
    } catch {
      return false;
    }
  });
}

function nobody() {
  const id = (flag) => Number(must(spawnSync("id", [flag, "nobody"], { encoding: "utf8" })).stdout);
  return { username: "nobody", uid: id("-u"), gid: id("-g") };
}

function must(result) {
  if (result.status === 0) return result;
  throw new Error(`${result.stderr ?? ""}${result.error?.message ?? ""}`.trim());
}

function after(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

function since(began) {
  return `${((Date.now() - began) / 1000).toFixed(1)} s`;
}
