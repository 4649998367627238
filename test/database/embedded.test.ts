import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { discard, EmbeddedOwned, EmbeddedUnavailable, start } from "../../src/database/embedded.ts";
import { own } from "../../src/database/embedded-owner.ts";
import { placeOf } from "../../src/database/embedded-place.ts";
import { identityOf } from "../../src/database/process-identity.ts";
import { kill, runChild } from "../support/child.ts";
import { removeFolder, temporaryFolder } from "../support/embedded-server.ts";
import { command } from "../support/template.ts";

interface Owner {
  readonly url: string;
  readonly pid: number;
  readonly how: string;
}

const OWNER = new URL("owner.child.ts", import.meta.url);

// Made once: most tests ask what happens in a folder that has its data already.
const used = temporaryFolder();

beforeAll(async () => {
  await (await start({ folder: used })).stop();
});

afterAll(() => removeFolder(used));

function newProject(): string {
  const folder = temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  return folder;
}

function usedProject(): string {
  const folder = newProject();
  // The owners of the files go along, which Node's own copy does not do.
  execFileSync("cp", ["-a", placeOf(used).home, folder]);
  return folder;
}

describe("the embedded server", () => {
  test("starts in a new folder, keeps its data and its port over a stop, and stops twice as once", async () => {
    const folder = newProject();
    const first = await start({ folder });
    await command(first.url, (client) => client.query("create table kept as select 7 as value"));
    await Promise.all([first.stop(), first.stop()]);

    const second = await start({ folder });
    const kept = await command(second.url, (client) => client.query("select value from kept"));
    await second.stop();

    expect(first).toMatchObject({ owner: true, how: "started" });
    expect(second).toMatchObject({ owner: true, how: "started", url: first.url });
    expect(kept.rows).toEqual([{ value: 7 }]);
    expect(identityOf(second.pid)).toBe(undefined);
  });

  test("listens on the loopback address only, with a secret that only its owner reads, and syncs", async () => {
    const folder = usedProject();
    const server = await start({ folder, settings: { work_mem: "5MB" } });
    onTestFinished(() => server.stop());

    const settings = await command(server.url, (client) =>
      client.query(`select name, setting from pg_settings where name in ('listen_addresses',
        'unix_socket_directories', 'fsync', 'synchronous_commit', 'full_page_writes', 'password_encryption',
        'max_connections', 'work_mem') order by name`),
    );
    const wrong = server.url.replace(/:[^:@]+@/, ":wrong@");

    expect(Object.fromEntries(settings.rows.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: "on",
      full_page_writes: "on",
      listen_addresses: "127.0.0.1",
      max_connections: "60",
      password_encryption: "scram-sha-256",
      synchronous_commit: "on",
      unix_socket_directories: "",
      work_mem: "5120",
    });
    await expect(command(wrong, async () => undefined)).rejects.toMatchObject({ code: "28P01" });
    const { home } = placeOf(folder);
    expect(statSync(join(home, "postgres.secret")).mode & 0o777).toBe(0o600);
    expect(readdirSync(home).filter((name) => name.includes("password"))).toEqual([]);
  });

  test("of an owner that was killed is adopted as it runs, with its data", async () => {
    const folder = usedProject();
    const { child, message: owner } = await runChild<Owner>(OWNER, [folder]);
    await command(owner.url, (client) => client.query("create table kept as select 7 as value"));
    await kill(child);

    const adopted = await start({ folder });
    const kept = await command(adopted.url, (client) => client.query("select value from kept"));
    await adopted.stop();

    expect(owner.how).toBe("started");
    expect(adopted).toMatchObject({ owner: true, how: "adopted", pid: owner.pid, url: owner.url });
    expect(kept.rows).toEqual([{ value: 7 }]);
    expect(identityOf(adopted.pid)).toBe(undefined);
  });

  test("that was killed together with its owner is replaced, and what it had committed is there", async () => {
    const folder = usedProject();
    const { child, message: owner } = await runChild<Owner>(OWNER, [folder]);
    await command(owner.url, (client) => client.query("create table kept as select 7 as value"));
    process.kill(owner.pid, "SIGKILL");
    await kill(child);

    const replaced = await start({ folder });
    const kept = await command(replaced.url, (client) => client.query("select value from kept"));
    await replaced.stop();

    expect(replaced).toMatchObject({ owner: true, how: "started" });
    expect(replaced.pid).not.toBe(owner.pid);
    expect(kept.rows).toEqual([{ value: 7 }]);
  });

  test("has one owner: a second one is told the pid of the first in one sentence", async () => {
    const folder = usedProject();
    const { child } = await runChild<Owner>(OWNER, [folder]);

    const second = await start({ folder }).catch((error: unknown) => error);
    const removal = await discard(folder).catch((error: unknown) => error);
    await kill(child);

    expect(second).toBeInstanceOf(EmbeddedOwned);
    expect(second).toMatchObject({ pid: child.pid });
    expect(String(second)).toMatch(
      /^EmbeddedOwned: [^.\n]*\.writ belongs to the running process \d+: [^.\n]*$/,
    );
    expect(removal).toBeInstanceOf(EmbeddedOwned);
  });

  test("is there for who attaches, and stays when he leaves; where none runs, he is told so", async () => {
    const folder = usedProject();
    await expect(start({ folder, attach: true })).rejects.toThrow(EmbeddedUnavailable);
    const owner = await start({ folder });
    onTestFinished(() => owner.stop());

    const attached = await start({ folder, attach: true });
    await attached.stop();
    const alive = await command(owner.url, (client) => client.query("select 1 as one"));

    expect(attached).toMatchObject({ owner: false, how: "attached", pid: owner.pid, url: owner.url });
    expect(alive.rows).toEqual([{ one: 1 }]);
  });

  test("is not started on a data folder of another major version", async () => {
    const folder = newProject();
    const { data } = placeOf(folder);
    mkdirSync(data);
    writeFileSync(join(data, "PG_VERSION"), "12\n");

    const error = await start({ folder }).catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(EmbeddedUnavailable);
    expect(String(error)).toContain("was made by PostgreSQL 12");
    expect(String(error)).toContain("DATABASE_URL");
    expect(readFileSync(join(data, "PG_VERSION"), "utf8")).toBe("12\n");
  });

  test("takes another port when its own is taken, and ignores what a killed start left half made", async () => {
    const folder = usedProject();
    const first = await start({ folder });
    await first.stop();
    const { home } = placeOf(folder);
    const stranger = createServer().listen(Number(new URL(first.url).port), "127.0.0.1");
    onTestFinished(() => void stranger.close());
    mkdirSync(join(home, "postgres.new"));

    const second = await start({ folder });
    await second.stop();

    expect(new URL(second.url).port).not.toBe(new URL(first.url).port);
  });

  test("in a folder that PostgreSQL's user cannot enter has its data under another roof", async () => {
    const folder = newProject();
    chmodSync(folder, 0o700);

    const server = await start({ folder });
    await server.stop();

    // Only as root is that another user than ours.
    expect(placeOf(folder).home).toMatch(process.getuid?.() === 0 ? /^\/var\/lib\/writ\// : /\.writ$/);
    expect(server.how).toBe("started");
  });

  test("does not believe a postmaster.pid whose pid is another process now", async () => {
    const folder = usedProject();
    const { data } = placeOf(folder);
    writeFileSync(join(data, "postmaster.pid"), `${process.pid}\n${data}\n1\n1\n\n127.0.0.1\n1 1\nready\n`);

    const server = await start({ folder });
    await server.stop();

    expect(server.how).toBe("started");
  });
});

describe("the owner file", () => {
  test("a pid that another process has now is not believed", () => {
    const folder = newProject();
    const { home } = placeOf(folder);
    writeFileSync(
      join(home, "owner.1.json"),
      JSON.stringify({ pid: process.ppid, identity: "another boot 1" }),
    );

    const ownership = own(home);

    expect(() => own(home)).toThrow(EmbeddedOwned);
    ownership.release();
    own(home).release();
  });

  test("of many that find a dead owner, exactly one succeeds him", async () => {
    const folder = newProject();
    const { home } = placeOf(folder);
    writeFileSync(join(home, "owner.3.json"), JSON.stringify({ pid: 999_999_999, identity: "dead" }));

    const ends = Array.from({ length: 5 }, () => {
      try {
        own(home);
        return "owner";
      } catch (error) {
        return (error as Error).name;
      }
    });

    expect(ends.sort()).toEqual([...Array.from({ length: 4 }, () => "EmbeddedOwned"), "owner"]);
    expect(readdirSync(home).filter((name) => name.startsWith("owner"))).toEqual(["owner.4.json"]);
    writeFileSync(join(home, "owner.4.json"), "{}");
  });
});
