import { appendFileSync } from "node:fs";
import { inject, onTestFinished, type TestContext } from "vitest";
import { keptFile } from "./embedded-server.ts";
import { command, type DatabaseKind, freshName, type TestServer, withDatabase } from "./template.ts";

export type { DatabaseKind } from "./template.ts";

export interface FreshDatabase {
  readonly url: string;
  readonly name: string;
  /** Drops it now. Inside a test that happens by itself, when the test has passed. */
  drop(): Promise<void>;
}

/** The kinds of servers of this run, for suites that hold on each: `describe.each(databaseKinds())`. */
export function databaseKinds(): readonly DatabaseKind[] {
  return inject("servers").map((server) => server.kind);
}

/**
 * A database of its own with every migration applied. Made inside a test, it is dropped when the test has passed
 * and kept, with its name on stderr, when it has failed; made in a hook, it is the caller's to drop.
 */
export async function freshDatabase(kind: DatabaseKind = "embedded"): Promise<FreshDatabase> {
  const server = inject("servers").find((each) => each.kind === kind);
  if (server === undefined) throw new Error(`this run has no ${kind} server`);
  const name = freshName("test");
  await command(server.url, (client) => client.query(`create database ${name} template ${server.template}`));
  const drop = async (): Promise<void> => {
    await command(server.url, (client) => client.query(`drop database if exists ${name} with (force)`));
  };
  afterThisTest(({ task }) => (task.result?.state === "fail" ? keep(server, name) : drop()));
  return { url: withDatabase(server.url, name), name, drop };
}

function keep({ kind, folder }: TestServer, name: string): void {
  if (folder !== undefined) appendFileSync(keptFile(folder), `${name}\n`);
  process.stderr.write(`a failed test keeps its database ${name} on the ${kind} server\n`);
}

function afterThisTest(work: (context: TestContext) => void | Promise<void>): void {
  try {
    onTestFinished(work);
  } catch {
    // A hook is no test; vitest says so only by throwing.
  }
}
