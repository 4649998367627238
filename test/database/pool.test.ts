import { describe, expect, onTestFinished, test } from "vitest";
import { CommitUnknown } from "../../src/database/fault.ts";
import { type ConnectOptions, connect } from "../../src/database/pool.ts";
import { sql } from "../../src/database/sql.ts";
import { databaseKinds, freshDatabase } from "../support/database.ts";
import { command } from "../support/template.ts";
import { ids, noteRig, refused, write } from "./notes.ts";

describe.each(databaseKinds())("on the %s server", (kind) => {
  const rig = (options: Partial<ConnectOptions> = {}) => noteRig(kind, options);

  describe("a flight", () => {
    test("is all there or not at all", async () => {
      const { db } = await rig();

      const done = await db.flight([write(1), sql`select id from note`]);
      const error = await refused(db.flight([write(2), write(1), write(3)]));

      expect(done.map(({ rows, rowCount }) => ({ rows, rowCount }))).toEqual([
        { rows: [], rowCount: 1 },
        { rows: [{ id: 1 }], rowCount: 1 },
      ]);
      expect(error).toMatchObject({ sqlState: "23505", constraint: "note_pkey", retryable: false });
      expect(await ids(db)).toEqual([1]);
    });

    test("that fails leaves its neighbours on the same connection alone, and the order stays", async () => {
      const { db } = await rig();
      const flights = Array.from({ length: 60 }, (_, id) =>
        db.flight(
          id % 3 === 1 ? [write(id), sql`select 1 / ${0}::int`] : [write(id), sql`select ${id}::int as id`],
        ),
      );

      const ends = await Promise.allSettled(flights);

      expect(ends.map(({ status }) => status)).toEqual(
        ends.map((_, id) => (id % 3 === 1 ? "rejected" : "fulfilled")),
      );
      expect(await ids(db)).toEqual(ends.map((_, id) => id).filter((id) => id % 3 !== 1));
    });

    test("whose constraint fails at the commit is RolledBack, and its neighbour commits", async () => {
      const { db } = await rig();

      const failing = refused(db.flight([write(1, "same"), write(2, "same")]));
      const neighbour = db.flight([write(3)]);

      expect(await failing).toMatchObject({ sqlState: "23505" });
      await neighbour;
      expect(await ids(db)).toEqual([3]);
    });

    test("with a value that cannot be sent is refused before anything is sent", async () => {
      const { db } = await rig();

      await expect(db.flight([write(1), sql`select ${Symbol("no")}`])).rejects.toThrow(TypeError);

      expect(await ids(db)).toEqual([]);
    });

    test("that committed, with an answer we cannot read, is CommitUnknown and never RolledBack", async () => {
      const { db } = await rig();

      await expect(db.flight([write(1), sql`select 9007199254740993 as big`])).rejects.toThrow(CommitUnknown);

      expect(await ids(db)).toEqual([1]);
    });

    test("that meets a lock held too long is RolledBack and may be tried again", async () => {
      const { db } = await rig({ statementTimeoutMs: 200 });
      await db.flight([write(1)]);

      const error = await db.transaction(async (tx) => {
        await tx.query(sql`select * from note where id = ${1} for update`);
        return refused(db.flight([sql`update note set text = ${"x"} where id = ${1}`]));
      });

      expect(error).toMatchObject({ sqlState: "55P03", retryable: true });
    });
  });

  describe("a read", () => {
    test("cannot write", async () => {
      const { db } = await rig();

      expect(await refused(db.read(write(1)))).toMatchObject({ sqlState: "25006" });
    });

    test("survives the end of its idle connection", async () => {
      const { db } = await rig({ readersMax: 1 });
      const { rows } = await db.read<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      await db.flight([sql`select pg_terminate_backend(${rows[0]?.pid ?? 0}, 1000)`]);

      expect(await ids(db)).toEqual([]);
    });

    test("does not wait behind a slow one while a connection is free", async () => {
      const { db } = await rig({ readersMax: 2 });
      const order: string[] = [];

      await Promise.all([
        db.read(sql`select pg_sleep(0.2)`).then(() => order.push("slow")),
        db.read(sql`select 1`).then(() => order.push("quick")),
      ]);

      expect(order).toEqual(["quick", "slow"]);
    });

    test("gives bigint as an exact number or an error, and times as the text of the server in UTC", async () => {
      const { db } = await rig();

      const { rows } = await db.read(sql`select 9007199254740991 as big, array[1, null]::int8[] as many,
        '2026-01-02 03:04:05+02'::timestamptz as at, '{"a": 1}'::jsonb as json, 1.50::numeric as exact`);

      expect(rows).toEqual([
        {
          big: 9007199254740991,
          many: [1, null],
          at: "2026-01-02 01:04:05+00",
          json: { a: 1 },
          exact: "1.50",
        },
      ]);
      await expect(db.read(sql`select 9007199254740992 as big`)).rejects.toThrow("not exact");
    });
  });

  test("outside of a transaction a session of ours writes nothing: a lost begin cannot split a flight", async () => {
    const { url, db } = await rig();
    const settings = await db.read<{ value: string }>(
      sql`select current_setting('default_transaction_read_only') as value`,
    );
    expect(settings.rows).toEqual([{ value: "on" }]);

    // What the server would see of a flight whose begin it refused.
    await command(`${url}?options=-c%20default_transaction_read_only%3Don`, async (client) => {
      await expect(client.query("insert into note values (1, 'x')")).rejects.toMatchObject({ code: "25006" });
      expect((await client.query("commit")).command).toBe("COMMIT");
    });

    expect(await ids(db)).toEqual([]);
  });

  test("options in the URL are kept beside ours", async () => {
    const { url } = await freshDatabase(kind);
    const db = await connect({ url: `${url}?options=-c%20work_mem%3D5MB%20-c%20timezone%3DAsia/Tokyo` });
    onTestFinished(() => db.close());

    const { rows } = await db.read(
      sql`select current_setting('work_mem') as memory, current_setting('timezone') as zone`,
    );

    expect(rows).toEqual([{ memory: "5MB", zone: "UTC" }]);
  });

  test("a warning of the server reaches onNotice", async () => {
    const notices: unknown[] = [];
    const { db } = await rig({ onNotice: (notice) => notices.push(notice) });

    await db.flight([sql`do $$ begin raise warning 'look'; end $$`]);

    expect(notices).toEqual([{ severity: "WARNING", code: "01000", message: "look" }]);
  });

  test("a database that is not there is RolledBack at once, not retried for seconds", async () => {
    const { url } = await freshDatabase(kind);
    const nowhere = new URL(url);
    nowhere.pathname = "/nowhere";
    if (nowhere.password === "") nowhere.password = "not-for-a-message";
    const startedAt = performance.now();

    const error = await refused(connect({ url: nowhere.href }));

    expect(error).toMatchObject({ sqlState: "3D000", retryable: false });
    expect(error.message).not.toContain(nowhere.password);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
