import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import { GIT, type GitSettings } from "../../src/connectors/git.ts";
import type { Errand } from "../../src/service/ports.ts";
import { type GitRepository, type GitServer, gitDaemon } from "../servers/git-daemon.ts";
import { freePort } from "../servers/launch.ts";
import { needs } from "../support/needs.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { type ErrandChoices, errandOf, preset } from "./errand.ts";
import { closeAfter } from "./rig.ts";

const test = needs(gitDaemon);
const CONTRACT = preset("git/commit");
const LOOKUP = "operation_ref";

let server: GitServer | undefined;
let made = 0;
beforeAll(async () => {
  if (gitDaemon.installed() === undefined) server = await gitDaemon.start();
}, 120_000);
afterAll(async () => {
  await server?.stop();
});

function repository(): GitRepository {
  if (server === undefined) throw new Error("the server was not started");
  made += 1;
  return server.repository(`r${made}.git`);
}

function connectorTo(remote: string, settings: Partial<GitSettings> = {}) {
  const author = { name: "Writ", email: "writ@example.test" };
  const connector = GIT.connect({ remote, author, folder: scratchFolder(), ...settings });
  closeAfter(() => connector.close());
  return connector;
}

function changing(
  repo: GitRepository,
  args: Record<string, unknown> = {},
  choices: ErrandChoices = {},
): Errand {
  return errandOf(CONTRACT, {
    expectedVersion: repo.at("refs/heads/main") ?? "",
    ...choices,
    arguments: {
      branch: "main",
      message: "Set what is available",
      files: [{ path: "config/app.json", content: '{"available":18}\n' }],
      ...args,
    } as never, // Arguments are JSON.
  });
}

describe("one commit", () => {
  test("stands on the version that was authorized, names its operation, and keeps what it does not change", async () => {
    const repo = repository();
    const before = repo.at("main");
    const errand = changing(repo);

    const outcome = await connectorTo(repo.url).perform(errand);

    const [commit = "", parent] = repo.commits();
    expect(outcome).toMatchObject({ kind: "confirmed", evidence: { data: { commit } } });
    expect(parent).toBe(before);
    expect(repo.file("config/app.json")).toBe('{"available":18}\n');
    expect(repo.file("README")).toBe("hello\n");
    expect(repo.show(commit)).toContain(
      `author Writ <writ@example.test> 1767225600 +0000\ncommitter Writ <writ@example.test> 1767225600 +0000\n\nSet what is available\n\nWrit-Operation: ${errand.action.operationId}\nWrit-Digest: ${errand.digest}`,
    );
    expect(repo.at(`refs/writ/${errand.action.operationId}`)).toBe(commit);
  });

  test("is written once: a repeat finds it, also when others have gone on from there", async () => {
    const repo = repository();
    const errand = changing(repo);
    const connector = connectorTo(repo.url);

    await connector.perform(errand);
    const again = await connector.perform(errand);
    repo.commit({ README: "later\n" }, "somebody goes on");
    const later = await connector.perform(errand);

    expect([again, later]).toMatchObject([
      { kind: "lost", answer: "duplicate" },
      { kind: "lost", answer: "duplicate" },
    ]);
    expect(await connector.lookUp(errand, LOOKUP)).toMatchObject({ kind: "confirmed" });
    expect(repo.commits()).toHaveLength(3);
  });

  test("of two that name one version exactly one is written", async () => {
    const repo = repository();
    const connector = connectorTo(repo.url);
    const errands = [1, 2, 3].map((operation) => changing(repo, {}, { operation }));

    const outcomes = await Promise.all(errands.map((errand) => connector.perform(errand)));

    expect(outcomes.filter(({ kind }) => kind === "confirmed")).toHaveLength(1);
    // A lock of the server's may be a passing no; another effect may not.
    expect(outcomes.filter(({ kind }) => kind === "refused" || kind === "absent")).toHaveLength(2);
    expect(repo.commits()).toHaveLength(2);
  });

  test("on a version that is not the current one is refused, and the current one is named", async () => {
    const repo = repository();
    const errand = changing(repo);
    const current = repo.commit({ "config/app.json": '{"available":18}\n' }, "the same, by hand");

    expect(await connectorTo(repo.url).perform(errand)).toMatchObject({
      kind: "refused",
      reason: "precondition_failed",
      currentVersion: current,
    });
    expect(repo.commits()[0]).toBe(current);
  });

  test("the same content by somebody else is never taken as ours", async () => {
    const repo = repository();
    const errand = changing(repo);
    repo.commit({ "config/app.json": '{"available":18}\n' }, "Set what is available");

    expect(await connectorTo(repo.url).lookUp(errand, LOOKUP)).toEqual({ kind: "absent" });
  });

  test("other content under the same identity is a mismatch, and a conflict when it is looked up", async () => {
    const repo = repository();
    const connector = connectorTo(repo.url);
    await connector.perform(changing(repo));
    const other = changing(repo, { message: "something else" });

    expect(await connector.perform(other)).toMatchObject({ kind: "lost", answer: "mismatch" });
    expect(await connector.lookUp(other, LOOKUP)).toMatchObject({ kind: "conflict" });
    expect(repo.commits()).toHaveLength(2);
  });

  test("a message cannot bring trailers of its own", async () => {
    const repo = repository();
    const forged = `x\n\nWrit-Operation: op_${"0".repeat(32)}\nWrit-Barrier: raised`;
    const errand = changing(repo, { message: forged });
    const connector = connectorTo(repo.url);

    await connector.perform(errand);

    expect(await connector.lookUp(errand, LOOKUP)).toMatchObject({ kind: "confirmed" });
  });
});

describe("a tombstone", () => {
  test("stops a late first attempt for ever", async () => {
    const repo = repository();
    const errand = changing(repo);
    const connector = connectorTo(repo.url);

    expect(await connector.bar(errand)).toMatchObject({ raised: true });
    expect(await connector.bar(errand)).toMatchObject({ raised: true });
    expect(await connector.lookUp(errand, LOOKUP)).toEqual({ kind: "absent", sawBarrier: true });
    expect(await connector.perform(errand)).toMatchObject({ kind: "refused" });
    expect(repo.commits()).toHaveLength(1);
  });

  test("stops a push that was already under way when it was raised", async () => {
    const repo = repository();
    const errand = changing(repo);
    const connector = connectorTo(repo.url);
    const ref = `refs/writ/${errand.action.operationId}`;
    await connector.bar(errand);
    const tombstone = repo.at(ref) ?? "";
    repo.remove(ref);
    // The gate is asked between the look at the remote and the push: just then the tombstone appears.
    const gate = (): boolean => {
      repo.move(ref, tombstone);
      return true;
    };

    const outcome = await connector.perform({ ...errand, gate });

    expect(outcome).toMatchObject({ kind: "refused" });
    expect(repo.commits()).toHaveLength(1);
  });

  test("that comes too late does not stand, and the effect is found", async () => {
    const repo = repository();
    const errand = changing(repo);
    const connector = connectorTo(repo.url);
    await connector.perform(errand);

    expect(await connector.bar(errand)).toMatchObject({ raised: false });
    expect(await connector.lookUp(errand, LOOKUP)).toMatchObject({ kind: "confirmed" });
  });
});

describe("what is known when a push does not end well", () => {
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
});

const HOSTILE = [
  "",
  "/etc/passwd",
  "../up",
  "a/../../up",
  "a//b",
  "./a",
  ".git/config",
  "a/.GIT/hooks/x",
  "a/.git /x",
  "git~1/config",
  ".g\u200cit/config",
  "\uff0egit/config",
  ".gitmodules",
  "a\\..\\b",
  "c:\\x",
  "a:stream",
  "a\nb",
  "a\0b",
  "a\u202eb",
  "trailing.",
  "x".repeat(300),
  "\ud800",
];

describe("what an argument may not do", () => {
  test.each(HOSTILE)("the path %j is refused, and nothing is sent", async (path) => {
    const repo = repository();

    expect(
      await connectorTo(repo.url).perform(changing(repo, { files: [{ path, content: "x" }] })),
    ).toMatchObject({
      kind: "refused",
      detail: expect.stringContaining("cannot be written"),
    });
    expect(repo.commits()).toHaveLength(1);
  });

  test.each([
    "",
    "--upload-pack=x",
    "a..b",
    "refs/heads/main",
    "HEAD",
    "a b",
    "x.lock",
    "+main",
    "a:b",
    "m\u0430in",
  ])("the branch %j is refused", async (branch) => {
    const repo = repository();

    expect(await connectorTo(repo.url).perform(changing(repo, { branch }))).toMatchObject({
      kind: "refused",
    });
    expect(repo.commits()).toHaveLength(1);
  });

  test("paths and branches outside of what the operator allows are refused", async () => {
    const repo = repository();
    const connector = connectorTo(repo.url, { branches: ["main"], paths: ["config/"] });

    const outside = await connector.perform(changing(repo, { files: [{ path: "README", content: "x" }] }));
    const branch = await connector.perform(changing(repo, { branch: "other" }));
    const inside = await connector.perform(changing(repo));

    expect([outside.kind, branch.kind, inside.kind]).toEqual(["refused", "refused", "confirmed"]);
  });

  test.each(["main", "HEAD~1", "ea55ebb", "*", `${"a".repeat(39)}`, `--${"a".repeat(38)}`])(
    "the version %j is not the full id of a commit",
    async (expectedVersion) => {
      const repo = repository();

      expect(await connectorTo(repo.url).perform(changing(repo, {}, { expectedVersion }))).toMatchObject({
        kind: "refused",
      });
    },
  );

  test("a file where a folder stands, under a file, twice, or not there to be removed is refused", async () => {
    const repo = repository();
    const connector = connectorTo(repo.url);
    const lists = [
      [{ path: "config", content: "x" }],
      [{ path: "README/x", content: "x" }],
      [{ path: "absent", remove: true }],
      [
        { path: "a", content: "x" },
        { path: "A", content: "y" },
      ],
      [
        { path: "a", content: "x" },
        { path: "a/b", content: "y" },
      ],
    ];

    for (const files of lists)
      expect(await connector.perform(changing(repo, { files })), JSON.stringify(files)).toMatchObject({
        kind: "refused",
      });
    expect(repo.commits()).toHaveLength(1);
  });
});

describe("what settings may not say", () => {
  test.each([
    "ext::sh -c touch% /tmp/x",
    "--upload-pack=x",
    "host:path",
    "/srv/x.git",
    "file:///srv/x.git",
    "http://git.example/x.git",
    "https://user:secret@git.example/x.git",
    "ssh://-oProxyCommand=x/y",
    "https://git.example/x.git?a",
  ])("the remote %j is refused", (remote) => {
    expect(() => GIT.connect({ remote, author: { name: "Writ", email: "w@x" }, folder: "/nowhere" })).toThrow(
      /remote|host/,
    );
  });
});
