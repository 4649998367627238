import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { gitDaemon } from "../servers/git-daemon.ts";
import { freePort } from "../servers/launch.ts";
import { needs } from "../support/needs.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { changing, connectorTo, LOOKUP, repository } from "./git-rig.ts";

const test = needs(gitDaemon);

test("the server's rules refuse it for good, and nothing moved", async () => {
  const repo = repository();
  repo.hook("pre-receive", "exit 1");
  const errand = changing(repo);

  expect(await connectorTo(repo.url).perform(errand)).toMatchObject({
    kind: "refused",
    reason: "provider_refused",
    detail: expect.stringContaining("pre-receive hook declined"),
  });
  expect(repo.commits()).toHaveLength(1);
});

test("stopped after it began is lost, whatever the server makes of it", async () => {
  const repo = repository();
  // The server has the whole push and works on it until we let it go on.
  repo.hook("pre-receive", 'touch "$GIT_DIR/reached"; while [ ! -e "$GIT_DIR/go" ]; do sleep 0.05; done');
  const stop = new AbortController();
  const errand = changing(repo, {}, { signal: stop.signal });
  const connector = connectorTo(repo.url);

  const performing = connector.perform(errand);
  await expect.poll(() => repo.has("reached"), { timeout: 15_000 }).toBe(true);
  stop.abort();
  const outcome = await performing;
  repo.touch("go");

  expect(outcome).toMatchObject({ kind: "lost" });
  await expect.poll(() => repo.commits().length, { timeout: 15_000 }).toBe(2);
  const again = { ...errand, signal: new AbortController().signal };
  expect(await connector.lookUp(again, LOOKUP)).toMatchObject({ kind: "confirmed" });
});

test("a closed gate and a server that is not there are absences; a look at it is unclear", async () => {
  const repo = repository();
  const errand = changing(repo, {}, { gate: () => false });
  const nowhere = connectorTo(`git://127.0.0.1:${await freePort()}/x.git`);

  expect(await connectorTo(repo.url).perform(errand)).toMatchObject({ kind: "absent" });
  expect(await nowhere.perform(changing(repo))).toMatchObject({ kind: "absent" });
  expect(await nowhere.lookUp(changing(repo), LOOKUP)).toMatchObject({ kind: "unclear" });
  expect(repo.commits()).toHaveLength(1);
});

test("a listing that does not show the branch proves nothing", async () => {
  const repo = repository();

  expect(await connectorTo(repo.url).lookUp(changing(repo, { branch: "gone" }), LOOKUP)).toMatchObject({
    kind: "unclear",
  });
});

test("nothing of the user's own configuration has a say", async () => {
  const repo = repository();
  const home = scratchFolder();
  writeFileSync(
    join(home, ".gitconfig"),
    `[url "git://127.0.0.1:1/"]\n  insteadOf = ${repo.url.slice(0, -repo.name.length)}\n[commit]\n  gpgSign = true\n`,
  );
  const before = { HOME: process.env.HOME, GIT_CONFIG_COUNT: process.env.GIT_CONFIG_COUNT };
  Object.assign(process.env, { HOME: home, GIT_CONFIG_COUNT: "nonsense" });
  onTestFinished(() => {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });

  expect(await connectorTo(repo.url).perform(changing(repo))).toMatchObject({ kind: "confirmed" });
});

test("nothing stays in the scratch folder, not even what a killed process left there a day ago", async () => {
  const repo = repository();
  const folder = scratchFolder();
  const leftover = join(folder, "git-left");
  mkdirSync(leftover);
  utimesSync(leftover, new Date(0), new Date(0));

  await connectorTo(repo.url, { folder }).perform(changing(repo));

  expect(existsSync(folder) && readdirSync(folder)).toEqual([]);
});
