import { GIT } from "../../src/connectors/git.ts";
import { preset } from "../connectors/errand.ts";
import { type GitRepository, type GitServer, gitDaemon } from "../servers/git-daemon.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { addressOf, over } from "./ask.ts";
import { conform } from "./conform.ts";
import { DONE, REFUSED } from "./subject.ts";

const CONTRACT = preset("git/commit", {
  requestLife: "20s",
  maxPause: "10s",
  lease: "35s",
  settle: { bounded: "30s" },
});

const repositories = new WeakMap<GitServer, GitRepository>();

/** One repository for all cases, in which each has a branch of its own. */
function repositoryOf(running: GitServer): GitRepository {
  const known = repositories.get(running) ?? running.repository("conformance.git");
  repositories.set(running, known);
  return known;
}

conform<GitServer>({
  name: "commit with a ref of the operation",
  server: gitDaemon,
  tool: { contract: CONTRACT, expectedVersion: "required" },
  address: addressOf,
  connect: (running, at) => {
    const { name } = repositoryOf(running);
    return GIT.connect({
      remote: `${over(running.url, at)}/${name}`,
      author: { name: "Writ", email: "writ@example.test" },
      folder: scratchFolder(),
    });
  },
  // A push begins with its own command; its body is a pack, and the report begins with what became of that.
  speech: {
    begins: /git-receive-pack /,
    middle: /^[\s\S]*?PACK[\s\S]{8}/,
    answers: /[0-9a-f]{4}\x01?[0-9a-f]{4}unpack ok\n/,
    head: /unpack ok\n/,
  },
  prepare: async (running, item) => {
    const version = repositoryOf(running).commit({ "app.json": '{"available":20}\n' }, "begin", item);
    return { arguments: writing(item), version };
  },
  effects: async (running, { item, operationId }) => {
    const repository = repositoryOf(running);
    return repository
      .commits(item)
      .filter((commit) => repository.show(commit).includes(`Writ-Operation: ${operationId}`)).length;
  },
  rival: async (running, item) => {
    repositoryOf(running).commit({ "app.json": AFTER }, "the same, by hand", item);
  },
  ends: {
    direct: DONE,
    "before send": DONE,
    "mid body": DONE,
    "after effect": DONE,
    "after headers": DONE,
    "before send, then another writes the same": REFUSED,
    "after effect, then another writes the same": DONE,
  },
});

const AFTER = '{"available":18}\n';

function writing(branch: string) {
  return { branch, message: "Set what is available", files: [{ path: "app.json", content: AFTER }] };
}
