import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { EXIT } from "../../src/cli/exit.ts";
import type { DelegationAnswer, RevocationAnswer } from "../../src/wire/delegation.ts";
import { door, OPERATOR } from "../support/door.ts";
import { rig } from "../support/rig.ts";
import { writ } from "./command.ts";

/** Five commands, each a process of its own, on a machine that does other things, too. */
const PROCESSES_MS = 90_000;

/** The command line of an agent, and of an operator, before a real door. */
async function lines() {
  const there = await door(await rig());
  const cwd = mkdtempSync(join(tmpdir(), "writ-authority-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const as = async (who: Parameters<typeof there.token>[0]) => {
    const env = { WRIT_URL: there.url, WRIT_TOKEN: await there.token(who) };
    return (...args: readonly string[]) => writ(args, { cwd, env });
  };
  return { agent: await as({}), operator: await as(OPERATOR) };
}

const ORDER = ["--to", "agent-2", "--tool", "inventory.*", "--resource", "Warehouse:wh_1", "--for", "8h"];

test("a part of one's authority is given with its limits, listed, and ended with its reason", {
  timeout: PROCESSES_MS,
}, async () => {
  const { agent, operator } = await lines();

  const given = await agent(
    "delegate",
    ...ORDER,
    "--limit",
    "available<=5",
    "--limit",
    "available>=1",
    "--uses",
    "3",
    "-o",
    "json",
  );
  const made = JSON.parse(given.stdout) as DelegationAnswer;
  const listed = await agent("delegate", "ls");
  const ended = await operator("revoke", "--delegation", made.id, "--reason", "over");
  const standing = await agent("delegate", "ls", "-o", "json");
  const all = await agent("delegate", "ls", "--all");

  expect(made).toMatchObject({
    holder: "agent-2",
    delegator: "agent-1",
    uses: 3,
    rules: [
      { tools: ["inventory.*"], resources: ["Warehouse:wh_1"], arguments: { available: { min: 1, max: 5 } } },
    ],
  });
  expect(Date.parse(made.expiresAt) - Date.parse(made.notBefore)).toBe(8 * 3_600_000);
  expect(listed.stdout).toContain(made.id);
  expect(ended.stdout).toBe(`revoked  delegation ${made.id}  to agent-2\n`);
  expect(JSON.parse(standing.stdout)).toEqual({ delegations: [] });
  expect(all.stdout).toContain("revoked: over");
  expect([given, listed, ended, standing, all].map(({ status }) => status)).toEqual([0, 0, 0, 0, 0]);
});

test("a client is revoked, is told so, and acts again when that is lifted", {
  timeout: PROCESSES_MS,
}, async () => {
  const { agent, operator } = await lines();

  const made = await operator("revoke", "--client", "agent-1", "--reason", "stolen", "-o", "json");
  const { id } = JSON.parse(made.stdout) as RevocationAnswer;
  const refused = await agent("delegate", ...ORDER);
  const listed = await operator("revoke", "ls");
  const lifted = await operator("revoke", "lift", id);
  const allowed = await agent("delegate", ...ORDER);

  expect(refused.status).toBe(EXIT.denied);
  expect(refused.stderr).toContain("was revoked: stolen");
  expect(listed.stdout).toMatch(/client agent-1 .*stolen/);
  expect([lifted.status, allowed.status]).toEqual([EXIT.ok, EXIT.ok]);
});

test.each([
  [["delegate"], "--to"],
  [["delegate", "--to", "a"], "--for"],
  [["delegate", "--to", "a", "--for", "8h"], "--tool"],
  [["delegate", "--to", "a", "--for", "8h", "--tool", "t"], "--resource"],
  [["delegate", ...ORDER, "--limit", "available"], "--limit available"],
  [["delegate", ...ORDER, "--limit", "available<=many"], "many"],
  [["delegate", ...ORDER, "--rules", "[]"], "--rules"],
  [["delegate", "--to", "a", "--for", "8h", "--rules", "{}"], "--rules"],
  [["delegate", "--to", "a", "--for", "soon"], "--for"],
  [["revoke", "--reason", "why"], "--delegation"],
  [["revoke", "--client", "a", "--principal", "b", "--reason", "why"], "one of"],
  [["revoke", "--client", "a"], "--reason"],
])("writ %j is a mistake of usage that names what to mend", async (args, named) => {
  const env = { WRIT_URL: "http://127.0.0.1:9", WRIT_TOKEN: "a.b.c" };

  const { status, stdout, stderr } = await writ(args, { env });

  expect(stderr).toContain(named);
  expect([status, stdout]).toEqual([EXIT.usage, ""]);
});
