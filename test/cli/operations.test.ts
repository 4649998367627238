import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DevFile, readDevFile } from "../../src/cli/dev-file.ts";
import { EXIT } from "../../src/cli/exit.ts";
import type { OperationAnswer } from "../../src/wire.ts";
import {
  type Ended,
  ended,
  folder,
  paste,
  type RunningDev,
  removeFolder,
  startDev,
  writ,
} from "./command.ts";

let cwd: string;
let dev: RunningDev;
let file: DevFile;

beforeAll(async () => {
  cwd = folder();
  dev = await startDev(cwd, "--no-story", "--port", "0");
  file = readDevFile(cwd) ?? expect.fail("writ dev writes dev.json");
}, 120_000);

afterAll(async () => {
  const end = ended(dev.child);
  dev.child.kill("SIGINT");
  await end;
  await removeFolder(cwd);
}, 60_000);

const run = (...args: readonly string[]): Promise<Ended> => writ(args, { cwd });
const answer = <T = OperationAnswer>({ stdout }: Ended): T => JSON.parse(stdout) as T; // Purity of stdout is what is tested.

/** One order at the kiosk that took effect and whose answer was lost. */
async function orderInDoubt(key: string): Promise<OperationAnswer> {
  const kiosk = file.providers?.kiosk ?? "";
  await fetch(`${kiosk}/__writ/faults`, { method: "POST", body: '{"kind":"drop_after"}' });
  const asked = await run(
    "propose",
    "kiosk.order",
    "-a",
    "item=bolt",
    "-a",
    "quantity=1",
    "-k",
    key,
    "-o",
    "json",
  );
  expect(asked.status).toBe(EXIT.unknown);
  return answer(asked);
}

test("only the owner may read the tokens", () => {
  expect(statSync(join(cwd, ".writ", "dev.json")).mode & 0o777).toBe(0o600);
});

test("a change that succeeds ends with 0, for people and for programs", async () => {
  const item = ["-a", "warehouse=wh_1", "-a", "item=item_1"];

  const people = await run("propose", "shop.set_available", ...item, "-a", "available=7", "-e", '"v1"');
  const args = ["propose", "shop.set_available", ...item, "-a", "available=8", "-e", '"v2"', "-k", "k-json"];
  const json = await run(...args, "-o", "json");
  const again = await run(...args, "-o", "json");
  const yaml = await run("op", "show", answer(json).operationId, "-o", "yaml");

  expect([people.status, json.status, again.status]).toEqual([EXIT.ok, EXIT.ok, EXIT.ok]);
  expect(people.stdout).toMatch(/^succeeded {2}shop\.set_available {2}Item:wh_1\/item_1\n/);
  expect(answer(again)).toMatchObject({ operationId: answer(json).operationId, how: "replayed" });
  expect(yaml.stdout).toContain("state: succeeded\n");
});

test("a stale version ends with 7, says so on stderr, and is a problem on stdout for programs", async () => {
  const args = [
    "propose",
    "shop.set_available",
    "--args",
    '{"warehouse":"wh_1","item":"item_1","available":1}',
  ];

  const people = await run(...args, "--expect", '"v0"');
  const json = await run(...args, "--expect", '"v0"', "-k", "k-stale", "-o", "json");

  expect([people.status, people.stdout, json.status]).toEqual([EXIT.conflict, "", EXIT.conflict]);
  expect(people.stderr).toContain("precondition_failed");
  expect(answer<{ code: string }>(json)).toMatchObject({
    code: "precondition_failed",
    operationId: expect.any(String),
  });
});

test("a lost answer ends with 6; the person's ruling shows the evidence, sends the digest, and ends it", async () => {
  const { operationId, digest, state } = await orderInDoubt("k-doubt");

  const unasked = await run("resolve", operationId, "--confirmed", "--reference", "ord_1", "--note", "seen");
  const wrong = await run(
    "resolve",
    operationId,
    "--confirmed",
    "--reference",
    "o",
    "--note",
    "n",
    "--digest",
    "sha-256:x",
  );
  const ruled = await run(
    "resolve",
    operationId,
    "--confirmed",
    "--reference",
    "ord_1",
    "--note",
    "seen",
    "--digest",
    digest,
    "-o",
    "json",
  );

  expect(state).toBe("unknown");
  expect([unasked.status, wrong.status]).toEqual([EXIT.usage, EXIT.conflict]);
  expect(unasked.stderr).toContain("--yes");
  expect(ruled.status).toBe(EXIT.ok);
  expect(ruled.stderr).toContain(digest);
  expect(answer(ruled)).toMatchObject({ state: "succeeded", evidence: { kind: "ruling" } });
});

test("the agent's own token rules on nothing", async () => {
  const { operationId, digest } = await orderInDoubt("k-agent");

  const asked = await run(
    "--as",
    "agent",
    "resolve",
    operationId,
    "--confirmed",
    "--reference",
    "o",
    "--note",
    "n",
    "--digest",
    digest,
  );

  expect(asked.status).toBe(EXIT.denied);
});

test("every view of an operation is there for people and for programs", async () => {
  const [operation] = answer<OperationAnswer[]>(
    await run("op", "ls", "--state", "succeeded", "--max", "1", "-o", "json"),
  );
  const id = operation?.operationId ?? expect.fail("something has succeeded");

  const lines = await run("op", "events", id, "-o", "jsonl");
  const explained = await run("op", "explain", id);
  const receipt = await run("op", "receipt", id, "--jws");
  const waited = await run("op", "wait", id);

  expect(
    lines.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { n: number }).n),
  ).toEqual(Array.from({ length: lines.stdout.trim().split("\n").length }, (_, index) => index + 1));
  for (const part of ["Authorized by", "Against", "Attempts", "Evidence"])
    expect(explained.stdout).toContain(part);
  expect(receipt.stdout).toMatch(/^ey[\w-]+\.[\w-]+\.[\w-]+\n$/);
  expect(waited.status).toBe(EXIT.ok);
});

test("an empty list is an empty list for programs, and a sentence on stderr for people", async () => {
  const json = await run("op", "ls", "--tool", "nobody.uses", "-o", "json");
  const people = await run("op", "ls", "--tool", "nobody.uses");

  expect([json.stdout, people.stdout]).toEqual(["[]\n", ""]);
  expect(people.stderr).toContain("No operations");
});

test("what was proposed for later runs when asked, and what waits can be cancelled", async () => {
  const args = ["propose", "kiosk.order", "-a", "item=bolt", "-a", "quantity=2", "--later", "-o", "json"];
  const first = await run(...args, "-k", "k-later-1");
  const second = await run(...args, "-k", "k-later-2");

  const executed = await run("op", "execute", answer(first).operationId, "-o", "json");
  const cancelled = await run("op", "cancel", answer(second).operationId, "-o", "json");
  const late = await run("op", "cancel", answer(first).operationId);

  expect([first.status, second.status]).toEqual([EXIT.ok, EXIT.ok]);
  expect(answer(executed).state).toBe("succeeded");
  expect(answer(cancelled)).toMatchObject({ state: "rejected", reason: "cancelled" });
  expect(late.status).toBe(EXIT.conflict);
});

test("a halt stops what comes next until it is lifted", async () => {
  const order = ["propose", "kiosk.order", "-a", "item=bolt", "-a", "quantity=3", "-k", "k-halted"];
  const made = answer<{ id: string }>(
    await run("halt", "--tool", "kiosk.order", "--reason", "it moves", "-o", "json"),
  );

  const stopped = await run(...order);
  const standing = await run("halt", "ls");
  await run("halt", "lift", made.id);
  const after = await run(...order);

  expect(stopped.status).toBe(EXIT.error);
  expect(stopped.stderr).toContain("it moves");
  expect(standing.stdout).toContain(made.id);
  expect(after.status).toBe(EXIT.ok);
});

test("a token that is not good ends with 4", async () => {
  const asked = await writ(["op", "ls"], { cwd, env: { WRIT_URL: file.url, WRIT_TOKEN: "ey.ey.ey" } });
  const elsewhere = await writ(["op", "ls"], { cwd, env: { WRIT_URL: "http://127.0.0.1:9" } });

  expect(asked.status).toBe(EXIT.unauthenticated);
  // The tokens of this folder's server are not shown to another one.
  expect(elsewhere.status).toBe(EXIT.unauthenticated);
});

test("a minted token opens a session, and stands alone on stdout", async () => {
  const minted = await run("token", "carl", "--client", "writ-cli", "--role", "auditor");
  const token = minted.stdout.trim();

  const seen = await writ(["op", "ls", "-o", "json"], {
    cwd,
    env: { WRIT_URL: file.url, WRIT_TOKEN: token },
  });

  expect(minted.stdout).toMatch(/^ey[\w-]+\.[\w-]+\.[\w-]+\n$/);
  expect(seen.status).toBe(EXIT.ok);
  expect(answer<unknown[]>(seen).length).toBeGreaterThan(0);
});

test("the doctor finds a running development server well, and says so for programs too", async () => {
  const people = await run("doctor");
  const checks = answer<{ verdict: string; name: string }[]>(await run("doctor", "-o", "json"));

  expect(people.status).toBe(EXIT.ok);
  expect(checks.filter(({ verdict }) => verdict === "fail")).toEqual([]);
  expect(checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      "node",
      "database",
      "durability",
      "standbys",
      "migrations",
      "clocks",
      "keys",
      "provider",
    ]),
  );
});

test("migrating a migrated database does nothing", async () => {
  const migrated = await run("migrate", "-o", "json");

  expect(migrated).toMatchObject({ status: EXIT.ok, stdout: '{\n  "applied": []\n}\n' });
});

test("the command that was printed works as it is", async () => {
  const { stdout, stderr } = await paste(dev.command);

  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({ state: "succeeded" });
});
