import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { clockVerdict, durabilityChecks, standbyChecks } from "../../src/cli/doctor-database.ts";
import { EXIT } from "../../src/cli/exit.ts";
import { MARKER_TABLE } from "../../src/core/marker-message.ts";
import type { ServerFacts } from "../../src/database/server.ts";
import { freshDatabase } from "../support/database.ts";
import { command, freshName, withDatabase } from "../support/template.ts";
import { ended, listen, start, writ } from "./command.ts";

const SOUND: ServerFacts = {
  versionNum: 180_004,
  fsync: true,
  synchronousCommit: "on",
  fullPageWrites: true,
  inRecovery: false,
  synchronousStandbyNames: "",
  standbys: [],
  maxConnections: 100,
  dataChecksums: true,
};
const verdicts = (checks: readonly { readonly verdict: string }[]) => checks.map(({ verdict }) => verdict);

test("a server that can lose an acknowledged commit fails, and the setting is named", () => {
  expect(verdicts(durabilityChecks(SOUND))).toEqual(["ok"]);
  for (const [change, setting] of [
    [{ fsync: false }, "fsync"],
    [{ fullPageWrites: false }, "full_page_writes"],
    [{ synchronousCommit: "off" }, "synchronous_commit"],
  ] as const) {
    const [check] = durabilityChecks({ ...SOUND, ...change });

    expect(check).toMatchObject({ verdict: "fail", mend: expect.stringContaining(`${setting} = on`) });
  }
});

test("an asynchronous standby is a warning, a synchronous one is not", () => {
  const standby = { name: "b", state: "streaming", syncState: "async" };

  expect(verdicts(standbyChecks({ ...SOUND, standbys: [standby] }))).toEqual(["warn"]);
  expect(verdicts(standbyChecks({ ...SOUND, standbys: [standby], synchronousStandbyNames: "b" }))).toEqual([
    "ok",
  ]);
  expect(verdicts(standbyChecks(SOUND))).toEqual(["ok"]);
});

test("clocks are judged by what they differ for certain", () => {
  expect(clockVerdict(20, 5).verdict).toBe("ok");
  expect(clockVerdict(-2_000, 5).verdict).toBe("warn");
  expect(clockVerdict(2_000, 1_500).verdict).toBe("ok");
  expect(clockVerdict(9_000, 5).verdict).toBe("fail");
});

/** A folder with a configuration of its own. */
function configured(yaml: string): string {
  const folder = mkdtempSync(join(tmpdir(), "writ-doctor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "writ.yaml"), yaml);
  return folder;
}

async function examined(folder: string, url: string) {
  const env = { WRIT_DATABASE: url };
  const { status, stdout } = await writ(["doctor", "-o", "json"], { cwd: folder, env });
  const checks = JSON.parse(stdout) as readonly {
    readonly verdict: string;
    readonly name: string;
    readonly says: string;
  }[];
  return { status, failed: checks.filter(({ verdict }) => verdict === "fail"), checks };
}

test("keys that others may read fail, with the command that mends it", async () => {
  const folder = configured("{}\n");
  mkdirSync(join(folder, ".writ", "keys"), { recursive: true });
  const key = join(folder, ".writ", "keys", "tokens.jwk.json");
  writeFileSync(key, "{}");
  chmodSync(key, 0o644);

  const { status, failed } = await examined(folder, (await freshDatabase()).url);

  expect(status).toBe(EXIT.error);
  expect(failed).toContainEqual(
    expect.objectContaining({ name: "keys", mend: expect.stringContaining(`chmod 600 ${key}`) }),
  );
});

test("a mistake in the configuration is the one thing to mend, with its line", async () => {
  const { status, failed } = await examined(configured("\nlisten: nowhere\n"), "postgres://127.0.0.1:9/x");

  expect(status).toBe(EXIT.error);
  expect(failed).toEqual([
    expect.objectContaining({ name: "configuration", says: expect.stringContaining("writ.yaml:2:") }),
  ]);
});

test("a database that does not answer fails, and one without the migrations says which", async () => {
  const folder = configured("{}\n");
  const [server] = inject("servers");

  const silent = await examined(folder, "postgres://127.0.0.1:9/x");
  const empty = await examined(folder, server?.url ?? "");

  expect(silent.failed.map(({ name }) => name)).toEqual(["database"]);
  expect(empty.failed).toContainEqual(
    expect.objectContaining({ name: "migrations", mend: "Run `writ migrate`." }),
  );
});

test("a provider that does not answer is known, and nothing is asked of one that does", async () => {
  const folder = configured(
    'providers: { shop: { kind: http, base: "http://127.0.0.1:9", allowPrivate: true } }\n',
  );

  const { checks } = await examined(folder, (await freshDatabase()).url);

  expect(checks).toContainEqual(
    expect.objectContaining({
      verdict: "warn",
      name: "provider",
      says: expect.stringContaining("ECONNREFUSED"),
    }),
  );
});

test("another PostgreSQL without the table for markers is named, with the statement that makes it", async () => {
  const { url } = await freshDatabase();
  const folder = configured("providers: { shop: { kind: postgres, database: file:there } }\n");
  writeFileSync(join(folder, "there"), url);

  const without = await examined(folder, url);
  await command(url, (client) => client.query(MARKER_TABLE));
  const made = await examined(folder, url);

  expect(without.failed).toContainEqual(
    expect.objectContaining({
      name: "provider",
      mend: expect.stringContaining("create table writ_operations ("),
    }),
  );
  expect(made.failed.map(({ name }) => name)).not.toContain("provider");
});

test("serve refuses a database that is not migrated, and serves it after migrate until it is told to end", async () => {
  const folder = configured("listen: 127.0.0.1:0\n");
  const [server] = inject("servers");
  const url = server?.url ?? "";
  const name = freshName("test");
  await command(url, (client) => client.query(`create database ${name}`));
  onTestFinished(async () => {
    await command(url, (client) => client.query(`drop database if exists ${name} with (force)`));
  });
  const here = { cwd: folder, env: { WRIT_DATABASE: withDatabase(url, name) } };

  const refused = await writ(["serve"], here);
  const migrated = await writ(["migrate"], here);
  const serving = start(["serve"], here);
  const heard = listen(serving);
  const end = ended(serving);
  const address = await vi.waitFor(() => {
    const found = /"url":"([^"]+)"/.exec(heard.stderr)?.[1];
    return found ?? expect.fail("it listens soon");
  }, 15_000);
  const ready = await fetch(`${address}/readyz`);
  serving.kill("SIGTERM");

  expect(refused.status).toBe(EXIT.error);
  expect(refused.stderr).toContain("writ migrate");
  expect(migrated.stdout).toContain("applied  0001");
  expect(ready.status).toBe(200);
  expect((await end).status).toBe(EXIT.ok);
  expect(heard.stdout).toBe("");
}, 60_000);
