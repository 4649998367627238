import { describe, expect, test } from "vitest";
import { type ConnectOptions, connect } from "../../src/database/pool.ts";
import { sql } from "../../src/database/sql.ts";
import { databaseKinds } from "../support/database.ts";
import { ids, noteRig, refused, write } from "./notes.ts";

describe.each(databaseKinds())("on the %s server", (kind) => {
  const rig = (options: Partial<ConnectOptions> = {}) => noteRig(kind, options);

  describe("a transaction", () => {
    test("looks at an answer before the next statement, and commits when work returns", async () => {
      const { db } = await rig();

      const value = await db.transaction(async (tx) => {
        const { rows } = await tx.query<{ next: number }>(sql`select count(*) + 1 as next from note`);
        await tx.query(write(rows[0]?.next ?? 0));
        return "done";
      });

      expect(value).toBe("done");
      expect(await ids(db)).toEqual([1]);
    });

    test("ends with finish: the last statements and the commit in one flight, and then it is over", async () => {
      const { db } = await rig();

      await db.transaction(async (tx) => {
        await tx.all([write(1), write(2)]);
        expect(await tx.finish([write(3)])).toMatchObject([{ rowCount: 1 }]);
        await expect(tx.query(write(4))).rejects.toThrow("the transaction is over");
      });

      expect(await ids(db)).toEqual([1, 2, 3]);
    });

    test("that throws leaves nothing, and its connection serves the next one", async () => {
      const { db } = await rig({ writersMax: 1 });

      const throwing = db.transaction(async (tx) => {
        await tx.query(write(1));
        throw new Error("changed my mind");
      });

      await expect(throwing).rejects.toThrow("changed my mind");
      await db.transaction((tx) => tx.finish([write(2)]));
      expect(await ids(db)).toEqual([2]);
    });

    test("the COMMIT of an aborted transaction is RolledBack, though the server calls it a success", async () => {
      const { db } = await rig();

      const swallowing = db.transaction(async (tx) => {
        await tx.query(write(1));
        await tx.query(sql`select 1 / ${0}::int`).catch(() => undefined);
      });

      expect(await refused(swallowing)).toMatchObject({ sqlState: "22012" });
      expect(await ids(db)).toEqual([]);
    });

    test("that went back to a savepoint after an error commits the rest", async () => {
      const { db } = await rig();

      await db.transaction(async (tx) => {
        await tx.all([write(1), sql`savepoint before`]);
        await tx.query(write(1)).catch(() => undefined);
        await tx.finish([sql`rollback to savepoint before`, write(2)]);
      });

      expect(await ids(db)).toEqual([1, 2]);
    });

    test("whose work swallows the error of its finish is rejected all the same", async () => {
      const { db } = await rig();

      const swallowing = db.transaction(async (tx) => {
        await tx.finish([write(1), write(1)]).catch(() => undefined);
      });

      expect(await refused(swallowing)).toMatchObject({ sqlState: "23505" });
    });

    test("whose connection is terminated before the commit is RolledBack and may be tried again", async () => {
      const { db } = await rig();

      const broken = db.transaction(async (tx) => {
        const { rows } = await tx.query<{ pid: number }>(sql`select pg_backend_pid() as pid`);
        await tx.query(write(1));
        await db.flight([sql`select pg_terminate_backend(${rows[0]?.pid ?? 0})`]);
        await tx.query(write(2));
      });

      expect(await refused(broken)).toMatchObject({ retryable: true });
      await db.transaction((tx) => tx.query(write(3)));
      expect(await ids(db)).toEqual([3]);
    });

    test("waits for a free writer, and each one gets its turn", async () => {
      const { db } = await rig({ writersMax: 2 });

      await Promise.all(Array.from({ length: 12 }, (_, id) => db.transaction((tx) => tx.query(write(id)))));

      expect(await ids(db)).toHaveLength(12);
    });

    test("close waits for it, and takes no new work", async () => {
      const { db, url } = await rig();
      const open = db.transaction(async (tx) => {
        await tx.query(write(1));
        await tx.query(sql`select pg_sleep(0.05)`);
        await tx.query(write(2));
      });

      await db.close();

      await open;
      expect(await refused(db.flight([write(3)]))).toMatchObject({ retryable: false });
      expect(await refused(db.transaction((tx) => tx.query(write(3))))).toMatchObject({ retryable: false });
      const again = await connect({ url });
      expect(await ids(again)).toEqual([1, 2]);
      await again.close();
    });
  });
});
