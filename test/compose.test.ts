import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { compose, type Writ } from "../src/compose.ts";
import { load, STOCK, WRIT } from "./config/folder.ts";
import { freshDatabase } from "./support/database.ts";

const TOOL = STOCK.replace(
  "set available = :available",
  "set available = :available, version = version + 1 where tenant_id = :tenant and warehouse = :warehouse and item = :item and version = :expectedVersion",
);
const LATER = TOOL.replace("Set the available stock", "Set how much there is");
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** One process of an installation with this tool, and what its door says of it. */
async function started(
  databaseUrl: string,
  home: string,
  tool: string,
): Promise<{ writ: Writ; ready: () => Promise<[number, string]> }> {
  const configuration = load({ "writ.yaml": WRIT, "tools/inventory.set_available.yaml": tool });
  const writ = await compose({ configuration, databaseUrl, home, log: silent });
  onTestFinished(() => writ.close(1_000));
  const { url } = await writ.listen({ host: "127.0.0.1", port: 0 });
  const ready = async (): Promise<[number, string]> => {
    const response = await fetch(`${url}/readyz`);
    return [response.status, await response.text()];
  };
  return { writ, ready };
}

test("a later deployment makes the processes of the earlier one not ready, until theirs is put in force again", {
  timeout: 90_000,
}, async () => {
  const { url } = await freshDatabase();
  const home = mkdtempSync(join(tmpdir(), "writ-home-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const first = await started(url, home, TOOL);
  const same = await started(url, home, TOOL);

  const before = [(await first.ready())[0], (await same.ready())[0]];
  const later = await started(url, home, LATER);
  const after = [await first.ready(), await same.ready(), await later.ready()];
  await started(url, home, TOOL);
  const again = [(await first.ready())[0], (await later.ready())[0]];

  expect(before).toEqual([200, 200]);
  expect(after.map(([status]) => status)).toEqual([503, 503, 200]);
  expect(after[0]?.[1]).toContain("configuration: another one is in force");
  expect(again).toEqual([200, 503]);
});
