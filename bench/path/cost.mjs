// What a stretch of time cost PostgreSQL and the machine. Only Linux tells; elsewhere these columns stay empty.
import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";

// Linux counts in hundredths of a second wherever we run; live processes are asked more exactly.
const TICK_US = 10_000;
const CPUS = cpus().length;

/** Counts from now on; `stop(mineUs, n)` gives the cost of each of `n` operations. `mineUs` is what our own processes took. */
export async function meter(server) {
  const postmaster = postmasterOf(server.backend);
  const read = async () => ({
    at: performance.now(),
    postgresUs: postmaster === undefined ? undefined : postgresUs(postmaster),
    busyUs: busyUs(),
    wal: await wal(server),
  });
  const before = await read();
  return async (mineUs, n) => {
    const after = await read();
    const took = (name) =>
      after[name] === undefined || before[name] === undefined ? undefined : after[name] - before[name];
    const postgres = took("postgresUs");
    const all = took("busyUs");
    return {
      postgresUs: postgres === undefined ? undefined : postgres / n,
      syncs: after.wal.syncs - before.wal.syncs,
      walBytes: after.wal.bytes - before.wal.bytes,
      othersShare:
        all === undefined || postgres === undefined
          ? undefined
          : Math.max(0, (all - postgres - mineUs) / ((after.at - before.at) * 1000 * CPUS)),
    };
  };
}

/** PostgreSQL 18 counts syncs with the other input and output. */
async function wal({ query, settings }) {
  const syncs =
    Number.parseInt(settings.server_version, 10) >= 18
      ? "(select sum(fsyncs) from pg_stat_io where object = 'wal')"
      : "wal_sync";
  const [row] = await query(
    `select coalesce(${syncs}, 0)::float8 as syncs, wal_bytes::float8 as bytes from pg_stat_wal`,
  );
  return row;
}

function postmasterOf({ pid, at }) {
  const here = at === null || at.startsWith("127.") || at === "::1";
  const fields = here ? stat(pid) : undefined;
  return fields?.name === "postgres" ? fields.parent : undefined;
}

/** Live children by the scheduler's own count, ended ones by what the postmaster inherited. */
function postgresUs(postmaster) {
  let us = 0;
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const fields = Number.isInteger(pid) ? stat(pid) : undefined;
    if (pid === postmaster && fields !== undefined) us += (fields.own + fields.ended) * TICK_US;
    else if (fields?.parent === postmaster) us += ranUs(pid) ?? fields.own * TICK_US;
  }
  return us;
}

function ranUs(pid) {
  const text = read(`/proc/${pid}/schedstat`);
  return text === undefined ? undefined : Number(text.split(" ")[0]) / 1000;
}

function stat(pid) {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const end = text.lastIndexOf(")");
  const fields = text.slice(end + 2).split(" ");
  const [own, ended] = [Number(fields[11]) + Number(fields[12]), Number(fields[13]) + Number(fields[14])];
  return { name: text.slice(text.indexOf("(") + 1, end), parent: Number(fields[1]), own, ended };
}

function busyUs() {
  const fields = read("/proc/stat")?.split("\n")[0]?.split(/\s+/).slice(1).map(Number);
  // user, nice, system, irq, softirq.
  return fields && (fields[0] + fields[1] + fields[2] + fields[5] + fields[6]) * TICK_US;
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
