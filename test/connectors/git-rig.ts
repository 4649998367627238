import { afterAll, beforeAll } from "vitest";
import { GIT, type GitSettings } from "../../src/connectors/git.ts";
import type { Errand } from "../../src/service/ports.ts";
import { type GitRepository, type GitServer, gitDaemon } from "../servers/git-daemon.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { type ErrandChoices, errandOf, preset } from "./errand.ts";
import { closeAfter } from "./rig.ts";

const CONTRACT = preset("git/commit");
export const LOOKUP = "operation_ref";

let server: GitServer | undefined;
let made = 0;
beforeAll(async () => {
  if (gitDaemon.installed() === undefined) server = await gitDaemon.start();
}, 120_000);
afterAll(async () => {
  await server?.stop();
});

/** A repository of its own on this file's server. */
export function repository(): GitRepository {
  if (server === undefined) throw new Error("the server was not started");
  made += 1;
  return server.repository(`r${made}.git`);
}

export function connectorTo(remote: string, settings: Partial<GitSettings> = {}) {
  const author = { name: "Writ", email: "writ@example.test" };
  const connector = GIT.connect({ remote, author, folder: scratchFolder(), ...settings });
  closeAfter(() => connector.close());
  return connector;
}

/** An errand that changes one file, on the version where the branch stands. */
export function changing(
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
