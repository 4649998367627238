import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { EXIT } from "../../src/cli/exit.ts";
import { freshDatabase } from "../support/database.ts";
import { ended, folder, listen, start, writ } from "./command.ts";

const EXAMPLE = fileURLToPath(new URL("../../examples/first-run", import.meta.url));
const TOOL = "tools/inventory.set_available.yaml";

/** The example's folder, and a migrated database of its own. */
async function installation() {
  const { url } = await freshDatabase();
  const cwd = folder();
  cpSync(EXAMPLE, cwd, { recursive: true });
  const env = { WRIT_DATABASE: url, WRIT_LISTEN: "127.0.0.1:0", SHOP_URL: "http://127.0.0.1:9" };
  return { cwd, env };
}

const edit = (cwd: string, from: string, to: string) => {
  const path = join(cwd, TOOL);
  const text = readFileSync(path, "utf8");
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
};

test("apply shows what a folder changes, changes nothing without a yes, and afterwards nothing is left to change", async () => {
  const here = await installation();

  const unasked = await writ(["apply"], here);
  const first = await writ(["apply", "--yes"], here);
  const again = await writ(["apply"], here);
  edit(here.cwd, "title: ", "title: Now - ");
  const changed = await writ(["apply", "--yes", "-o", "json"], here);

  expect(unasked.status).toBe(EXIT.usage);
  expect(unasked.stdout).toContain("+ tool inventory.set_available");
  expect(unasked.stderr).toContain("--yes");
  expect(first.status).toBe(EXIT.ok);
  expect(first.stderr).toContain("In force");
  expect(again.status).toBe(EXIT.ok);
  expect(again.stdout).toContain("nothing changes");
  const { applied, plans } = JSON.parse(changed.stdout);
  const [plan] = plans;
  expect(applied).toBe(true);
  expect(plan.changes).toMatchObject([
    { what: "tool", name: "inventory.set_available", how: "changed", members: [{ at: "/title" }] },
  ]);
  expect(plan.policy.changes).toEqual([]);
}, 120_000);

test("serve with a folder that was not applied is not ready; applied, it is, and the process of the older folder is not", async () => {
  const here = await installation();
  const serve = async () => {
    const child = start(["serve"], here);
    const heard = listen(child);
    const end = ended(child);
    const address = await vi.waitFor(
      () => /"url":"([^"]+)"/.exec(heard.stderr)?.[1] ?? expect.fail("it listens soon"),
      30_000,
    );
    const ready = async () => (await fetch(`${address}/readyz`)).status;
    const stop = () => {
      child.kill("SIGTERM");
      return end;
    };
    return { ready, stop };
  };
  const older = await serve();
  const before = await older.ready();

  edit(here.cwd, "title: ", "title: Now - ");
  const newer = await serve();
  const followed = [await older.ready(), await newer.ready()];
  const applied = await writ(["apply", "--yes"], here);
  const after = [await older.ready(), await newer.ready()];

  expect(applied.status).toBe(EXIT.ok);
  expect({ before, followed, after }).toEqual({ before: 200, followed: [200, 503], after: [503, 200] });
  await Promise.all([older.stop(), newer.stop()]);
}, 120_000);
