import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { discard, EmbeddedOwned, start } from "../../src/database/embedded.ts";
import { placeOf } from "../../src/database/embedded-place.ts";
import { identityOf } from "../../src/database/process-identity.ts";
import type { TestServer } from "./template.ts";

const PREFIX = "writ-test-";
const DAY_MS = 86_400_000;
let stop: (() => Promise<void>) | undefined;

/**
 * A folder for one embedded server, which any user can walk into: as root, PostgreSQL runs as another one.
 * It is named after our process, so that another run knows whether we still need it.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o755);
  return folder;
}

/** The one embedded server of this run. */
export async function startEmbedded(): Promise<{ readonly url: string; readonly folder: string }> {
  await removeLeftovers();
  const folder = temporaryFolder();
  // Nothing here outlives the run, and a copy of the template costs a third less. What a crash leaves behind is
  // tested on servers of their own.
  const server = await start({ folder, settings: { max_connections: "150", fsync: "off" } });
  stop = server.stop;
  return { url: server.url, folder };
}

/** Stops it and removes it, unless a test that failed wants its database kept. */
export async function removeEmbedded({ folder }: TestServer): Promise<void> {
  await stop?.();
  if (folder === undefined) return;
  if (existsSync(keptFile(folder)))
    process.stderr.write(
      `kept for a day, with the databases ${readFileSync(keptFile(folder), "utf8").trim().replaceAll("\n", ", ")}: ${folder}\n`,
    );
  else await removeFolder(folder);
}

/** Names the databases of failed tests, one a line. */
export function keptFile(folder: string): string {
  return join(folder, "kept");
}

export async function removeFolder(folder: string): Promise<void> {
  await discard(folder);
  const { home } = placeOf(folder);
  for (const each of [home, folder]) rmSync(each, { recursive: true, force: true });
}

/** Of runs that were killed, at once; of runs with a failed test, after a day; of runs that go on, never. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(PREFIX))) {
    const folder = join(realpathSync(tmpdir()), name);
    const pid = Number(name.slice(PREFIX.length).split("-")[0]);
    const old = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0) > DAY_MS;
    if (!old && (existsSync(keptFile(folder)) || identityOf(pid) !== undefined)) continue;
    try {
      await removeFolder(folder);
    } catch (error) {
      // Another run cleans up at this moment.
      if (!(error instanceof EmbeddedOwned)) throw error;
    }
  }
}
