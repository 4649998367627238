import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { discard, EmbeddedOwned, start } from "../database/embedded.ts";
import { placeOf } from "../database/embedded-place.ts";

/** A PostgreSQL that lives as long as its opener wants, and leaves nothing behind. */
export interface TemporaryServer {
  readonly url: string;
  close(): Promise<void>;
}

const PREFIX = "writ-demo-";
const FRESH_MS = 60_000;

export async function temporaryServer(): Promise<TemporaryServer> {
  await removeLeftovers();
  const folder = mkdtempSync(join(realpathSync(tmpdir()), PREFIX));
  // As root, PostgreSQL runs as another user, who must be able to walk in.
  chmodSync(folder, 0o755);
  try {
    const server = await start({ folder });
    return {
      url: server.url,
      close: async () => {
        await server.stop();
        await remove(folder);
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function remove(folder: string): Promise<void> {
  await discard(folder);
  for (const each of [placeOf(folder).home, folder]) rmSync(each, { recursive: true, force: true });
}

/** Of runs that were killed; those that go on have an owner and are left alone. */
async function removeLeftovers(): Promise<void> {
  const temporary = realpathSync(tmpdir());
  for (const name of readdirSync(temporary).filter((each) => each.startsWith(PREFIX))) {
    try {
      const folder = join(temporary, name);
      // A folder that another run made just now has no owner yet.
      if (Date.now() - statSync(folder).mtimeMs < FRESH_MS) continue;
      await remove(folder);
    } catch (error) {
      // Somebody else's folder, one that another run has just removed, or a run that goes on.
      const theirs =
        error instanceof Error &&
        "code" in error &&
        ["EACCES", "EPERM", "ENOENT"].includes(String(error.code));
      if (!(error instanceof EmbeddedOwned) && !theirs) throw error;
    }
  }
}
