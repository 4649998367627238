import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Orders } from "./victim.ts";

/** A Writ in a process of its own. */
export interface Victim {
  readonly child: ChildProcess;
  readonly url: string;
}

/** Starts it; it listens when this resolves. It ends with us. */
export async function startVictim(orders: Orders): Promise<Victim> {
  const child = fork(fileURLToPath(new URL("./victim.js", import.meta.url)), [], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.send(orders);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the process that was to be killed ended by itself (${String(code)})`);
  });
  // It is expected to end later on.
  ended.catch(() => undefined);
  const [message] = (await Promise.race([once(child, "message"), ended])) as [{ readonly url: string }]; // victim.ts sends it.
  return { child, url: message.url };
}
