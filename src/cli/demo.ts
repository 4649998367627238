import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfiguration } from "../config.ts";
import { type Embedded, EmbeddedUnavailable, start } from "../database/embedded.ts";
import { migrate } from "../database/migrate.ts";
import { scratchDatabase } from "../database/scratch.ts";
import type { Context } from "./context.ts";
import type { Scene, StoryReport } from "./demo/scene.ts";
import { SCENES } from "./demo/scenes.ts";
import { type Stage, setStage } from "./demo/stage.ts";
import { tellStory } from "./demo/story.ts";
import { epilogue, opening, sceneList, terminal, verdictText } from "./demo/terminal.ts";
import { readDevFile } from "./dev-file.ts";
import { EXAMPLE_FOLDER } from "./example.ts";
import { EXIT, type ExitCode, Stop } from "./exit.ts";
import { progress } from "./progress.ts";
import { type Ends, ends } from "./signals.ts";
import { type TemporaryServer, temporaryServer } from "./temporary-server.ts";

export interface DemoFlags {
  readonly scene?: readonly number[];
}

/** `writ demo`: the whole story. Ends well only if every count at the providers is what the story says. */
export async function demo(
  context: Context,
  flags: DemoFlags,
  all: readonly Scene[] = SCENES,
): Promise<ExitCode> {
  const { screen } = context;
  const scenes = chosen(all, flags);
  const people = screen.format === "table";
  const waiting = progress(screen);
  const begun = ends();
  try {
    waiting.phase("preparing a database of its own");
    const server = await begun.opened(serverFor(context), (each) => each.close());
    if (begun.asked()) return await leave(context, begun);
    const { stage } = await begun.opened(stageOn(server.url), (set) => set.close());
    waiting.end();
    if (begun.asked()) return await leave(context, begun);
    if (people) screen.data(opening(screen));
    const audience = people ? terminal(screen) : SILENT;
    const report = await Promise.race([tellStory(stage, scenes, audience), begun.signalled]);
    if (report === "signalled") return await leave(context, begun);
    conclude(context, report);
    return report.holds ? EXIT.ok : EXIT.error;
  } finally {
    waiting.end();
    await begun.close();
  }
}

/** The scene under way has nobody left to tell, and would go on waiting for what no longer comes. */
async function leave({ screen }: Context, begun: Ends): Promise<never> {
  screen.talk("\nwrit: stopping");
  await begun.close();
  process.exit(EXIT.error);
}

const SILENT = {
  begins: () => undefined,
  aside: () => undefined,
  beat: () => undefined,
  gap: () => undefined,
  ends: () => undefined,
};

function chosen(all: readonly Scene[], { scene }: DemoFlags): readonly Scene[] {
  const wrong = scene?.find((n) => !all.some((each) => each.n === n));
  if (wrong !== undefined) throw new Stop(EXIT.usage, `--scene ${wrong}: the scenes are ${sceneList(all)}`);
  return scene === undefined ? all : all.filter(({ n }) => scene.includes(n));
}

function conclude({ screen }: Context, report: StoryReport): void {
  if (screen.machine(screen.format === "jsonl" ? report.scenes : report)) return;
  const explained = epilogue(screen, report, SCENES.length + 1);
  if (explained !== undefined) screen.data(`\n${explained}`);
  screen.data(`\n${verdictText(screen, report)}`);
  if (report.holds)
    screen.talk(screen.tint.dim("    Next: `npm start`, or `writ dev`, and propose a change of your own.\n"));
}

/** A story's stage with a database and a folder of its own on some server, both gone when it closes. Twice is once. */
export async function stageOn(serverUrl: string): Promise<{ readonly stage: Stage; close(): Promise<void> }> {
  const scratch = await scratchDatabase(serverUrl);
  const home = mkdtempSync(join(realpathSync(tmpdir()), "writ-story-"));
  const away = async (): Promise<void> => {
    await scratch.drop();
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await migrate(scratch.url);
    const configuration = loadConfiguration(EXAMPLE_FOLDER, {});
    const stage = await setStage({ databaseUrl: scratch.url, home, configuration });
    let closed: Promise<void> | undefined;
    const close = (): Promise<void> => {
      closed ??= stage.close().then(away);
      return closed;
    };
    return { stage, close };
  } catch (error) {
    await away();
    throw error;
  }
}

/** The server that DATABASE_URL names, else the one of a `writ dev` in this folder, else one that lives as long as the story. */
async function serverFor({ env, folder }: Context): Promise<TemporaryServer> {
  const given = env.DATABASE_URL;
  if (given !== undefined && given !== "") return { url: given, close: async () => undefined };
  if (readDevFile(folder) !== undefined) {
    const attached = await attachedTo(folder);
    if (attached !== undefined) return { url: attached.url, close: async () => undefined };
  }
  return temporaryServer();
}

async function attachedTo(folder: string): Promise<Embedded | undefined> {
  try {
    return await start({ folder, attach: true });
  } catch (error) {
    if (error instanceof EmbeddedUnavailable) return undefined;
    throw error;
  }
}
