import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A server of somebody else's making, started for one test file and stopped by it. */
export interface RealServer<Running extends Stoppable = Stoppable> {
  /** As its makers call it. It stands in the table of results. */
  readonly name: string;
  /** Why it cannot be started here (what is missing, and which Debian package has it), or undefined when it can. */
  installed(): string | undefined;
  /**
   * Starts one on ports and in a folder of its own, reachable from this machine only, and resolves when it answers.
   * Rejects, with what the server printed, when it does not answer in time.
   */
  start(): Promise<Running>;
}

export interface Stoppable {
  /** Ends the server, surely, and removes its folder. Called twice, it does nothing the second time. */
  stop(): Promise<void>;
}

// Debian keeps daemons out of a user's PATH.
const FOLDERS = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin", "/sbin"];

/** Where a program lies, or undefined. */
export function programOf(name: string): string | undefined {
  return FOLDERS.filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find(existsSync);
}

/** The answer of `installed` for a server that is these programs (or files, by absolute path) of one Debian package. */
export function lacks(debianPackage: string, ...needed: readonly string[]): string | undefined {
  const lack = needed.filter((name) => !(name.startsWith("/") ? existsSync(name) : programOf(name)));
  return lack.length === 0 ? undefined : `${lack.join(", ")} is not here (Debian package ${debianPackage})`;
}
