import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { holds, type Scene, type StoryReport } from "../../src/cli/demo/scene.ts";
import { normalWrite } from "../../src/cli/demo/scenes-plain.ts";
import type { Stage } from "../../src/cli/demo/stage.ts";
import { demo } from "../../src/cli/demo.ts";
import { EXIT } from "../../src/cli/exit.ts";
import { screen } from "../../src/cli/screen.ts";
import { command } from "../support/template.ts";
import { removeFolder, writ } from "./command.ts";

const TIMEOUT_MS = 240_000;

interface Told {
  readonly exit: number;
  readonly report: StoryReport;
}

/** Plays scenes on a real stage, with a database of its own on the server of this test run. */
async function told(scenes: readonly Scene[]): Promise<Told> {
  const [server] = inject("servers");
  const out: string[] = [];
  const quiet = { isTTY: false, write: () => true };
  const stdout = { isTTY: false, write: (text: string) => out.push(text) };
  const context = {
    screen: screen({ format: "json", stdout, stderr: quiet, stdin: {}, env: {} }),
    env: { DATABASE_URL: server?.url },
    folder: tmpdir(),
  };
  const exit = await demo(context, {}, scenes);
  return { exit, report: JSON.parse(out.join("")) as StoryReport }; // Printed by `demo` a moment ago.
}

const HEAD = { title: "a broken scene", shows: "that the check can fail" };

/** The scene as it is told, and behind Writ's back its effect a second time. */
const twice: Scene = {
  ...HEAD,
  n: 1,
  play: async (stage, telling) => {
    const played = await normalWrite.play(stage, telling);
    await writeBehindItsBack(stage);
    const counted = stage.shop
      .journal()
      .filter(({ by, resource }) => by === "request" && resource === "wh_1/item_1");
    const counts = played.counts.map((count) =>
      count.provider === "shop" ? { ...count, counted: counted.length } : count,
    );
    return { ...played, counts };
  },
};

async function writeBehindItsBack({ shop }: Stage): Promise<void> {
  const answer = await fetch(`${shop.url}/items/wh_1/item_1`, {
    method: "PUT",
    headers: { "content-type": "application/json", "if-match": '"v43"' },
    body: JSON.stringify({ available: 18 }),
  });
  expect(answer.status).toBe(200);
}

test("a scene that went as the story says ends with 0", { timeout: TIMEOUT_MS }, async () => {
  const { exit, report } = await told([normalWrite]);

  expect(exit).toBe(EXIT.ok);
  expect(report).toMatchObject({ holds: true, scenes: [{ scene: 1, holds: true }] });
  expect(report.scenes[0]?.beats.map(({ mark }) => mark)).toContain("effect");
});

test("a second effect at the provider makes the story end with 1", { timeout: TIMEOUT_MS }, async () => {
  const { exit, report } = await told([twice]);

  expect(exit).toBe(EXIT.error);
  expect(report.holds).toBe(false);
  expect(report.scenes[0]?.counts).toContainEqual({
    provider: "shop",
    resource: "wh_1/item_1",
    counted: 2,
    expected: 1,
  });
});

test("a scene that breaks off is never a good end", { timeout: TIMEOUT_MS }, async () => {
  const broken: Scene = { ...HEAD, n: 1, play: () => Promise.reject(new Error("the stage is dark")) };

  const { exit, report } = await told([broken]);

  expect(exit).toBe(EXIT.error);
  expect(report.scenes[0]).toMatchObject({ holds: false, broke: "the stage is dark" });
});

test("a wrong count, a wrong ending, and nothing counted at all do not hold", () => {
  const count = { provider: "shop", resource: "a", counted: 1, expected: 1 } as const;
  const ending = { what: "it", is: "succeeded", expected: "succeeded" };

  expect(holds({ counts: [count], endings: [ending] })).toBe(true);
  expect(holds({ counts: [{ ...count, counted: 2 }], endings: [ending] })).toBe(false);
  expect(holds({ counts: [{ ...count, counted: 0 }], endings: [ending] })).toBe(false);
  expect(holds({ counts: [count], endings: [{ ...ending, is: "unknown" }] })).toBe(false);
  expect(holds({ counts: [], endings: [ending] })).toBe(false);
});

test("writ demo -o json is the whole story as data, counted at the providers, and leaves no database behind", {
  timeout: TIMEOUT_MS,
}, async () => {
  const cwd = mkdtempSync(join(tmpdir(), "writ-story-test-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const [server] = inject("servers");

  const { status, stdout, stderr } = await writ(["demo", "-o", "json"], {
    cwd,
    env: { DATABASE_URL: server?.url },
  });

  expect({ status, stderr }).toMatchObject({ status: EXIT.ok });
  const report = JSON.parse(stdout) as StoryReport;
  expect(report.holds).toBe(true);
  const counts = report.scenes.flatMap((scene) =>
    scene.counts.map(({ provider, counted }) => [scene.scene, provider, counted]),
  );
  expect(counts).toEqual([
    [1, "stock", 1],
    [1, "shop", 1],
    [2, "shop", 1],
    [3, "stock", 0],
    [3, "shop", 0],
    [4, "stock", 1],
    [5, "kiosk", 1],
    [6, "shop", 1],
  ]);
  const killed = report.scenes.find(({ scene }) => scene === 6);
  expect(killed?.endings).toContainEqual({ what: "the killed process", is: "SIGKILL", expected: "SIGKILL" });
  expect(killed?.explanation).toMatchObject({ state: "succeeded" });
  const left = await command(server?.url ?? "", (client) =>
    client.query("select datname from pg_database where datname like 'writ_scratch_%'"),
  );
  expect(left.rows).toEqual([]);
});

test("without a database it brings its own, and takes it away again", { timeout: TIMEOUT_MS }, async () => {
  const cwd = mkdtempSync(join(tmpdir(), "writ-story-test-"));
  onTestFinished(() => removeFolder(cwd));

  const { status, stdout } = await writ(["demo", "--scene", "4"], { cwd, env: { NO_COLOR: "1" } });

  expect(status).toBe(EXIT.ok);
  expect(stdout).toContain("1 of 1 counts at the providers");
  expect(stdout).not.toContain("\u001b");
});
