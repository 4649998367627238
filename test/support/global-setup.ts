import type { TestProject } from "vitest/node";
import { removeEmbedded, startEmbedded } from "./embedded-server.ts";
import { dropTemplate, makeTemplate, type TestServer } from "./template.ts";

declare module "vitest" {
  interface ProvidedContext {
    servers: readonly TestServer[];
  }
}

let servers: readonly TestServer[] = [];

/** Runs once before all tests: one embedded server for the run, and on each server a template to copy. */
export async function setup(project: TestProject): Promise<void> {
  servers = await Promise.all([embedded(), ...given()]);
  project.provide("servers", servers);
}

/** Runs once after them. A run that was killed leaves its server to the next run. */
export async function teardown(): Promise<void> {
  for (const server of servers)
    if (server.kind === "embedded") await removeEmbedded(server);
    else await dropTemplate(server);
}

async function embedded(): Promise<TestServer> {
  const { url, folder } = await startEmbedded();
  return makeTemplate({ kind: "embedded", url, folder });
}

function given(): Promise<TestServer>[] {
  const url = process.env.WRIT_TEST_DATABASE_URL;
  if (url !== undefined && url !== "") return [makeTemplate({ kind: "server", url })];
  const lack = "WRIT_TEST_DATABASE_URL names no PostgreSQL server";
  if (process.env.WRIT_CI === "1") throw new Error(`WRIT_CI=1: ${lack}`);
  process.stderr.write(`database tests: embedded PostgreSQL only (${lack})\n`);
  return [];
}
