import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startSimulated } from "../../src/connectors/simulated/provider.ts";
import { freshDatabase } from "../support/database.ts";
import { type Ended, folder, removeFolder, writ } from "./command.ts";

const TOOL = `tool: shop.set_available
title: Set what is available
provider: shop
input:
  { type: object, additionalProperties: false, required: [item, available],
    properties: { item: { type: string }, available: { type: integer } } }
resource: { type: Item, id: "main/{item}" }
contract:
  from: presets/http/etag-document
  precondition: { kind: etag, atomic: claimed, versions: never_return, replay: precondition_first }
`;
const BLOCK = 'probe: { arguments: { item: scratch, available: "{n}" } }\n';
const ARGS = '{"item":"scratch","available":"{n}"}';

/** A folder with one tool on a shop that keeps, or ignores, what its contract claims. */
async function shopFolder(etag: "strong" | "ignored", block: string) {
  const provider = await startSimulated({ guarantees: { etag, marker: true } });
  provider.setItem("main/scratch", 20);
  const cwd = folder();
  onTestFinished(async () => {
    await removeFolder(cwd);
    await provider.close();
  });
  const database = await freshDatabase();
  mkdirSync(join(cwd, "tools"));
  writeFileSync(
    join(cwd, "writ.yaml"),
    `database: env:DB\nroles: { agent: ["*"] }\nproviders:\n  shop: { kind: http, base: "${provider.url}", allowPrivate: ["127.0.0.1"] }\n`,
  );
  writeFileSync(join(cwd, "tools", "shop.yaml"), TOOL + block);
  const run = (...more: readonly string[]): Promise<Ended> =>
    writ(["probe", "shop.set_available", ...more], { cwd, env: { DB: database.url } });
  return { run, provider };
}

test("a probe writes only where somebody said that it may, and asks nobody who is not there", async () => {
  const named = await shopFolder("strong", BLOCK);
  const bare = await shopFolder("strong", "");

  expect(await named.run()).toMatchObject({ status: 2, stderr: expect.stringContaining("--yes") });
  expect(await bare.run("--yes")).toMatchObject({ status: 2, stderr: expect.stringContaining("probe:") });
  for (const [resource, says] of [
    [[], "--resource is missing"],
    [["--resource", "main/bolt"], "they name main/scratch"],
  ] as const)
    expect(await bare.run("--yes", "--args", ARGS, ...resource)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(says),
    });
  expect([...named.provider.requests(), ...bare.provider.requests()]).toEqual([]);
}, 60_000);

test("shows what is claimed beside what was measured, and ends with 0, or with 8 where a claim is untrue", async () => {
  const good = await shopFolder("strong", BLOCK);
  const bad = await shopFolder("ignored", "");

  const held = await good.run("--yes", "--rounds", "2", "-o", "json");
  const broken = await bad.run("--yes", "--rounds", "2", "--args", ARGS, "--resource", "main/scratch");

  expect(held.status).toBe(0);
  expect(JSON.parse(held.stdout)).toMatchObject({ resource: "Item:main/scratch", verdict: "holds" });
  expect(broken.status).toBe(8);
  expect(broken.stdout).toMatch(
    /✗ honoured\n +claimed +etag: a write with an old version is refused\n +measured +accepted/,
  );
  expect(broken.stdout).toContain("the provider ignores the precondition.");
}, 60_000);
