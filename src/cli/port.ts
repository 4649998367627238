import { createServer } from "node:net";
import type { Context } from "./context.ts";
import { EXIT, Stop } from "./exit.ts";

const TRIES_MAX = 50;

/** The port that somebody chose, or a complaint when it is taken; else the usual one or the next free one. */
export async function portFor(
  { env }: Pick<Context, "env">,
  chosen: number | undefined,
  usual: number,
): Promise<number> {
  const fixed = chosen ?? ((env.WRIT_LISTEN ?? "") === "" ? undefined : usual);
  if (fixed === undefined) return freePort(usual);
  if (fixed === 0 || (await isFree(fixed))) return fixed;
  throw new Stop(
    EXIT.error,
    `port ${fixed} is taken by another program`,
    "Choose another with --port, or leave it out.",
  );
}

/** The first free port from `from` on. */
export async function freePort(from: number): Promise<number> {
  for (let port = from; port < Math.min(from + TRIES_MAX, 65_536); port++)
    if (await isFree(port)) return port;
  return 0;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
