import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Embedded, start } from "../../src/database/embedded.ts";
import { CommitUnknown, RolledBack } from "../../src/database/fault.ts";
import { type ConnectOptions, connect, type Database } from "../../src/database/pool.ts";
import { serverFacts } from "../../src/database/server.ts";
import { sql } from "../../src/database/sql.ts";
import { removeFolder, temporaryFolder } from "../support/embedded-server.ts";
import { command } from "../support/template.ts";

// A server of its own, with a standby that does not exist: a session that says `on` waits for it at the commit.
const folder = temporaryFolder();
const WAITS = "?options=-c%20synchronous_commit%3Don";
let server: Embedded;

const startServer = (): Promise<Embedded> =>
  start({ folder, settings: { synchronous_standby_names: "nobody", synchronous_commit: "local" } });

beforeAll(async () => {
  server = await startServer();
  await command(server.url, (client) => client.query("create table note (id int primary key)"));
});

afterAll(async () => {
  await server.stop();
  await removeFolder(folder);
});

const write = (id: number) => sql`insert into note values (${id})`;

async function open(options: Partial<ConnectOptions> = {}): Promise<Database> {
  const db = await connect({ url: server.url, ...options });
  onTestFinished(() => db.close());
  await command(server.url, (client) => client.query("truncate note"));
  return db;
}

async function ids(db: Database): Promise<readonly number[]> {
  const { rows } = await db.read<{ id: number }>(sql`select id from note order by id`);
  return rows.map(({ id }) => id);
}

/** The pid of our session that waits in this way. */
async function waiter(waitEvent: string): Promise<number> {
  const giveUpAt = performance.now() + 5_000;
  return command(server.url, async (client) => {
    while (performance.now() < giveUpAt) {
      const { rows } = await client.query<{ pid: number }>(
        "select pid from pg_stat_activity where application_name = 'writ' and wait_event = $1",
        [waitEvent],
      );
      if (rows[0] !== undefined) return rows[0].pid;
    }
    throw new Error(`no session waits in ${waitEvent}`);
  });
}

async function signal(what: "cancel" | "terminate", pid: number): Promise<void> {
  await command(server.url, (client) => client.query(`select pg_${what}_backend($1)`, [pid]));
}

const end = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe("a commit that the server acknowledged with a warning", () => {
  test("is CommitUnknown, and the flight behind it, committed in full, is not", async () => {
    const db = await open({ url: server.url + WAITS });
    const warned = end(db.flight([write(1)]));
    const behind = db.flight([sql`select id from note`]);

    await signal("cancel", await waiter("SyncRep"));

    expect(await warned).toBeInstanceOf(CommitUnknown);
    expect(String(await warned)).toContain("a standby may not have it");
    expect(await behind).toMatchObject([{ rows: [{ id: 1 }] }]);
  });

  test("is CommitUnknown in a transaction too", async () => {
    const db = await open({ url: server.url + WAITS });
    const warned = end(db.transaction((tx) => tx.finish([write(1)])));

    await signal("cancel", await waiter("SyncRep"));

    expect(await warned).toBeInstanceOf(CommitUnknown);
  });

  test("a warning of a statement, and not of its commit, says nothing of the commit", async () => {
    const db = await open();

    await db.flight([sql`do $$ begin raise warning 'of a statement'; end $$`, write(1)]);

    expect(await ids(db)).toEqual([1]);
  });
});

describe("a commit without an answer", () => {
  test("is CommitUnknown when the deadline passes, and the next flight has a new connection", async () => {
    const db = await open({ url: server.url + WAITS, statementTimeoutMs: 200, answerDeadlineMs: 400 });

    const error = await end(db.flight([write(1)]));

    expect(error).toBeInstanceOf(CommitUnknown);
    expect(String(error)).toContain("did not answer for 400 ms");
    expect(await db.flight([sql`select 1 as one`])).toMatchObject([{ rows: [{ one: 1 }] }]);
    // The session that we gave up still waits for its standby.
    await signal("terminate", await waiter("SyncRep"));
    expect(await ids(db)).toEqual([1]);
  });

  test("is CommitUnknown for every flight on a connection that is terminated, and none is sent again", async () => {
    const db = await open();
    const flights = [
      end(db.flight([write(1), sql`select pg_sleep(10)`])),
      end(db.flight([write(2)])),
      end(db.flight([write(3)])),
    ];

    await signal("terminate", await waiter("PgSleep"));

    for (const error of await Promise.all(flights)) expect(error).toBeInstanceOf(CommitUnknown);
    await db.flight([write(4)]);
    expect(await ids(db)).toEqual([4]);
  });

  test("is RolledBack when a statement had failed before the connection broke", async () => {
    const db = await open({ writersMax: 1 });
    const broken = end(
      db.transaction(async (tx) => {
        const { rows } = await tx.query<{ pid: number }>(sql`select pg_backend_pid() as pid`);
        await tx.query(sql`select 1 / ${0}::int`).catch(() => undefined);
        await command(server.url, (client) =>
          client.query("select pg_terminate_backend($1)", [rows[0]?.pid]),
        );
        // Nothing stands between the refused statement and the commit: a statement without an answer could have undone it.
        await tx.finish([]);
      }),
    );

    expect(await broken).toBeInstanceOf(RolledBack);
  });
});

test("a flight that finds the server down waits for its restart and is sent once", async () => {
  const db = await open();
  await server.stop();

  const flight = db.flight([write(1)]);
  server = await startServer();

  await flight;
  expect(await ids(db)).toEqual([1]);
});

test("close does not wait for a server that hangs", async () => {
  const db = await open({ url: server.url, applicationName: "writ hanging" });
  const pid = await db.transaction(async (tx) => {
    const { rows } = await tx.query<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    return rows[0]?.pid;
  });
  if (pid === undefined) throw new TypeError("a backend has a pid");
  process.kill(pid, "SIGSTOP");
  onTestFinished(() => void process.kill(pid, "SIGCONT"));
  const startedAt = performance.now();

  await db.close();

  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

describe("a statement that is cancelled by somebody", () => {
  test("rolls back its own flight, and the neighbours commit", async () => {
    const db = await open();
    const flights = [end(db.flight([write(1), sql`select pg_sleep(10)`])), end(db.flight([write(2)]))];

    await signal("cancel", await waiter("PgSleep"));

    const [cancelled] = await Promise.all(flights);
    expect(cancelled).toMatchObject({ name: "RolledBack", sqlState: "57014" });
    expect(await ids(db)).toEqual([2]);
  });
});

test("the server says what the safety of a commit rests on", async () => {
  const db = await open();

  expect(await serverFacts(db)).toEqual({
    versionNum: expect.any(Number),
    fsync: true,
    synchronousCommit: "local",
    fullPageWrites: true,
    inRecovery: false,
    synchronousStandbyNames: "nobody",
    standbys: [],
    maxConnections: 60,
    dataChecksums: true,
  });
});
