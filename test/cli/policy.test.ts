import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { EXIT } from "../../src/cli/exit.ts";
import type { CandidateAnswer, PolicyVersionAnswer, ReplayAnswer } from "../../src/wire/policy.ts";
import { PERMITS, policy } from "../support/cedar.ts";
import { door, POLICY_ADMIN } from "../support/door.ts";
import { policed } from "../support/policed.ts";
import { writ } from "./command.ts";

/** Several commands, each a process of its own, on a machine that does other things, too. */
const PROCESSES_MS = 120_000;
const EXAMPLE = fileURLToPath(new URL("../../examples/first-run/", import.meta.url));
const CAP = `@id("hard.cap") @reason("never above 20")
forbid(principal is Writ::User, action == Writ::Action::"inventory.set_available", resource)
when { context.input.available > 20 };
`;

/** A folder of an installation with these rules. */
function folderWith(rules: string): string {
  const folder = mkdtempSync(join(tmpdir(), "writ-policy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(EXAMPLE, "tools"), join(folder, "tools"), { recursive: true });
  // The rig offers no more than this.
  const settings = readFileSync(join(EXAMPLE, "writ.yaml"), "utf8").replace(
    /agent: \[.*\]/,
    'agent: ["inventory.*"]',
  );
  writeFileSync(join(folder, "writ.yaml"), settings);
  mkdirSync(join(folder, "policies"));
  writeFileSync(join(folder, "policies", "a.cedar"), PERMITS);
  writeFileSync(join(folder, "policies", "b.cedar"), rules);
  return folder;
}

test("a mistake is said with file and line before any server is asked", {
  timeout: PROCESSES_MS,
}, async () => {
  const bad = folderWith(
    `\n@id("hard.cap")\nforbid(principal, action == Writ::Action::"inventry.set", resource);`,
  );
  const good = folderWith(CAP);

  const refused = await writ(["policy", "check"], { cwd: bad });
  const passed = await writ(["policy", "check", "-o", "json"], { cwd: good });

  expect(refused).toMatchObject({
    status: EXIT.error,
    stdout: expect.stringContaining("policies/b.cedar:3: "),
  });
  expect(passed.status, passed.stderr).toBe(EXIT.ok);
  expect(JSON.parse(passed.stdout)).toMatchObject({
    mistakes: [],
    digest: expect.stringMatching(/^sha-256:/),
  });
});

test("what a folder would change is shown, replayed and activated, and never without being asked", {
  timeout: PROCESSES_MS,
}, async () => {
  const here = await policed(policy(PERMITS));
  const there = await door(here);
  const env = { WRIT_URL: there.url, WRIT_TOKEN: await there.token(POLICY_ADMIN) };
  const cwd = folderWith(CAP);
  const run = (...args: readonly string[]) => writ(["policy", ...args], { cwd, env });

  const diff = JSON.parse((await run("diff", "-o", "json")).stdout) as CandidateAnswer;
  const replay = JSON.parse((await run("replay", "-o", "json")).stdout) as ReplayAnswer;
  const silent = await run("activate", "--reason", "the cap");
  const before = (await here.ledger.authority(here.session.tenantId)).policyVersion;
  const made = await run("activate", "--reason", "the cap", "--yes", "-o", "json");

  expect(diff.changes.map(({ id, how }) => `${how} ${id}`)).toContain("added hard.cap");
  expect(replay).toMatchObject({ replayed: 0, flips: [] });
  expect(silent.status).toBe(EXIT.usage);
  expect(before).toBe(diff.standing);
  expect(JSON.parse(made.stdout) as PolicyVersionAnswer).toMatchObject({
    version: `2.${diff.digest}`,
    reason: "the cap",
  });
});
