import { describe, expect, test as plain } from "vitest";
import { GIT } from "../../src/connectors/git.ts";
import { gitDaemon } from "../servers/git-daemon.ts";
import { needs } from "../support/needs.ts";
import { changing, connectorTo, repository } from "./git-rig.ts";

const test = needs(gitDaemon);

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
  plain.each([
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
