import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { accepts, freePort, launch, own, serverFolder } from "./launch.ts";
import { lacks, type RealServer, type Stoppable } from "./server.ts";

export interface GitServer extends Stoppable {
  readonly url: string;
  readonly port: number;
  /** A bare repository with one commit on `main` that holds `README` and `config/app.json`. */
  repository(name: string): GitRepository;
}

/** A repository as it lies at the server: what is counted there is what happened. */
export interface GitRepository {
  readonly name: string;
  readonly url: string;
  /** Where it lies. */
  readonly folder: string;
  /** The commit at a ref; undefined when there is none. */
  at(ref: string): string | undefined;
  /** The commits of a branch, newest first. */
  commits(branch?: string): readonly string[];
  /** A file's text in a commit or branch; undefined when it is not there. */
  file(path: string, at?: string): string | undefined;
  /** The whole commit as text. */
  show(commit: string): string;
  /** Somebody else's commit on a branch, written at the server. Gives its id. */
  commit(files: Readonly<Record<string, string>>, message: string, branch?: string): string;
  /** Files beside the repository's own: how a hook and a test wait for one another. */
  has(name: string): boolean;
  touch(name: string): void;
  /** Moves a ref as somebody at the server would. */
  move(ref: string, to: string): void;
  remove(ref: string): void;
  /** The script of one of the server's own hooks. */
  hook(name: "pre-receive" | "update" | "post-receive", script: string): void;
}

/** git's own daemon, which also takes pushes. */
export const gitDaemon: RealServer<GitServer> = {
  name: "git daemon",
  installed: () => lacks("git", "git"),
  start: async () => {
    const folder = serverFolder("git");
    const port = await freePort();
    const url = `git://127.0.0.1:${port}`;
    const { stop } = await launch({
      program: "git",
      args: [
        "daemon",
        "--listen=127.0.0.1",
        `--port=${port}`,
        `--base-path=${folder}`,
        "--export-all",
        "--enable=receive-pack",
        "--informative-errors",
        folder,
      ],
      folder,
      env: QUIET,
      ready: () => accepts(port),
    });
    return { url, port, stop, repository: (name) => repository(`${folder}/${name}`, name, `${url}/${name}`) };
  },
};

const QUIET = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };

const WHO = {
  GIT_AUTHOR_NAME: "Somebody Else",
  GIT_AUTHOR_EMAIL: "else@example.test",
  GIT_COMMITTER_NAME: "Somebody Else",
  GIT_COMMITTER_EMAIL: "else@example.test",
};

function repository(folder: string, name: string, url: string): GitRepository {
  mkdirSync(folder);
  own(folder);
  const git = (argv: readonly string[], input?: string): string => {
    const { output, status } = run(folder, argv, input);
    if (status !== 0) throw new Error(`git ${argv.join(" ")}: ${output}`);
    return output.trimEnd();
  };
  const maybe = (argv: readonly string[]): string | undefined => {
    const { output, status } = run(folder, argv);
    return status === 0 ? output : undefined;
  };
  git(["init", "--quiet", "--bare", "--initial-branch=main", folder]);
  const made: GitRepository = {
    name,
    url,
    folder,
    at: (ref) => maybe(["rev-parse", "--verify", "--quiet", ref])?.trim(),
    commits: (branch = "main") => git(["log", "--format=%H", branch]).split("\n"),
    file: (path, at = "main") => maybe(["cat-file", "blob", `${at}:${path}`]),
    show: (commit) => git(["cat-file", "commit", commit]),
    commit: (files, message, branch = "main") => {
      const parent = made.at(`refs/heads/${branch}`);
      const index = { GIT_INDEX_FILE: `${folder}/index-${branch.replaceAll("/", "-")}` };
      run(folder, parent === undefined ? ["read-tree", "--empty"] : ["read-tree", parent], undefined, index);
      for (const [path, text] of Object.entries(files)) {
        const blob = git(["hash-object", "-w", "--stdin"], text);
        run(folder, ["update-index", "--add", "--cacheinfo", `100644,${blob},${path}`], undefined, index);
      }
      const tree = run(folder, ["write-tree"], undefined, index).output.trim();
      const above = parent === undefined ? [] : ["-p", parent];
      const id = git(["commit-tree", tree, ...above, "-m", message]);
      git(["update-ref", `refs/heads/${branch}`, id]);
      return id;
    },
    has: (file) => existsSync(`${folder}/${file}`),
    touch: (file) => writeFileSync(`${folder}/${file}`, ""),
    move: (ref, to) => void git(["update-ref", ref, to]),
    remove: (ref) => void git(["update-ref", "-d", ref]),
    hook: (which, script) => {
      mkdirSync(`${folder}/hooks`, { recursive: true });
      writeFileSync(`${folder}/hooks/${which}`, `#!/bin/sh\n${script}\n`);
      chmodSync(`${folder}/hooks/${which}`, 0o755);
    },
  };
  made.commit({ README: "hello\n", "config/app.json": '{"available":20}\n' }, "begin");
  return made;
}

function run(
  folder: string,
  argv: readonly string[],
  input?: string,
  more: Readonly<Record<string, string>> = {},
): { readonly output: string; readonly status: number | null } {
  const root = process.getuid?.() === 0;
  const { stdout, stderr, status } = spawnSync("git", [...argv], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      GIT_DIR: folder,
      LC_ALL: "C",
      ...QUIET,
      ...WHO,
      ...more,
    },
    encoding: "utf8",
    ...(input === undefined ? {} : { input }),
    // As root the daemon runs as nobody, and git trusts only what its own user owns.
    ...(root ? { uid: 65534, gid: 65534 } : {}),
  });
  return { output: status === 0 ? stdout : stderr, status };
}
