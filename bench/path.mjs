// `npm run bench -- path`: what one guarded operation costs, beside pgbench writing the same rows on the same server in the same run.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { engine, floors, service } from "./path/candidates.mjs";
import { meter } from "./path/cost.mjs";
import { pgbenchVersion } from "./path/floor.mjs";
import { counted, rowBytes } from "./path/gate.mjs";
import { printed, table } from "./path/report.mjs";
import { benchServer } from "./path/server.mjs";

const { values: asked } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3" },
    callers: { type: "string", default: "1,16,64" },
    kinds: { type: "string", default: "local,external" },
    output: { type: "string", short: "o" },
  },
});
const rounds = Number(asked.rounds);
const ms = Number(asked.seconds) * 1000;
const callers = asked.callers.split(",").map(Number);
const kinds = asked.kinds.split(",");

const WARM_UP = { callers: 64, ms: 4000 };
const WAITING = 10_000;

const server = await benchServer();
const pgbench = pgbenchVersion();
const candidates = [
  ...(pgbench === undefined ? [] : await floors(server)),
  await engine(server),
  await service(server),
];
const slots = [];
const answers = new Map();
try {
  tell(
    `PostgreSQL ${server.settings.server_version}, every commit synced (${server.settings.wal_sync_method}), ${pgbench ?? "no pgbench on this machine: no floor and no ratios"}`,
  );
  await server.query("checkpoint");
  for (const kind of kinds)
    for (const each of candidates) if (each.effects) await slot(each, { kind, ...WARM_UP });
  for (let round = 1; round <= rounds; round++) {
    tell(`round ${round} of ${rounds}`);
    for (const kind of kinds)
      for (const count of callers)
        for (const each of candidates) slots.push(await slot(each, { kind, callers: count, ms }));
  }
  const crowd = await waiting(candidates.find((each) => each.is === "engine"));
  await finish(crowd);
} finally {
  for (const each of candidates) await each.end();
  await server.close();
}

async function slot(each, { kind, callers: count, ms: lasts }) {
  const stop = await meter(server);
  const before = await each.costs();
  const did = await each.run({ kind, callers: count, ms: lasts });
  const after = await each.costs();
  const cost = await stop(after.allUs - before.allUs, did.n);
  const known = answers.get(each) ?? { local: 0, external: 0, failures: [] };
  known[kind] += did.n;
  if (did.failed > 0) known.failures.push(did.failure);
  answers.set(each, known);
  const nodeUs = after.nodeUs === undefined ? undefined : (after.nodeUs - before.nodeUs) / did.n;
  return { name: each.name, is: each.is, kind, callers: count, ...did, ...cost, nodeUs, rssMb: after.rssMb };
}

/** Memory with as many callers at once as the ledger lets wait, and when they are gone. */
async function waiting(each) {
  const { rssMb: before } = await each.costs();
  let peak = before;
  const looking = setInterval(async () => {
    peak = Math.max(peak, (await each.costs()).rssMb);
  }, 100);
  const did = await slot(each, { kind: "local", callers: WAITING, ms: 1 });
  clearInterval(looking);
  return { before, peak, after: did.rssMb, n: did.n };
}

async function finish(crowd) {
  const lines = table(slots);
  for (const kind of kinds)
    tell(`\n${kind} operation\n${printed(lines.filter((line) => line.kind === kind))}`);
  const writing = candidates.filter((each) => each.effects);
  const sizes = await Promise.all(
    candidates
      .filter((each) => each.is !== "small")
      .map(async (each) => `${each.name} ${(await rowBytes(each.url)).toFixed(0)}`),
  );
  tell(`\nbytes of rows for one operation, both kinds together: ${sizes.join(", ")}`);
  tell(
    `memory of the engine with ${crowd.n} callers at once: ${crowd.before.toFixed(0)} MB before, ${crowd.peak.toFixed(0)} MB at most, ${crowd.after.toFixed(0)} MB after`,
  );
  const gates = [];
  for (const each of writing)
    gates.push(
      ...(await counted({
        name: each.name,
        url: each.url,
        jwks: each.jwks(),
        answers: answers.get(each),
        effects: await each.effects(),
      })),
    );
  for (const gate of gates)
    tell(
      `${gate.holds ? "holds" : "BROKEN"}: ${gate.name}, ${gate.kind}: ${gate.effects} effects, ${gate.receipts} succeeded receipts, ${gate.answers} answers${gate.wrong === undefined ? "" : `; ${gate.wrong}`}`,
    );
  const failures = writing.flatMap((each) => answers.get(each).failures);
  for (const failure of failures) tell(`failed: ${failure}`);
  if (asked.output === "json")
    tell(`written to ${written({ server: server.settings, pgbench, lines, slots, gates, crowd, failures })}`);
  if (failures.length > 0 || gates.some((gate) => !gate.holds)) process.exitCode = 1;
}

function written(figures) {
  const path = fileURLToPath(new URL("../tmp/bench-path.json", import.meta.url));
  mkdirSync(fileURLToPath(new URL("../tmp", import.meta.url)), { recursive: true });
  writeFileSync(path, `${JSON.stringify(figures, null, 2)}\n`);
  return path;
}

function tell(text) {
  console.log(text);
}
