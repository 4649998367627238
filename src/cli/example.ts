import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Configuration, loadConfiguration } from "../config.ts";
import type { Context } from "./context.ts";

/** The configuration that comes with Writ: what `writ dev` offers in a folder without one, and what the story is played with. */
export const EXAMPLE_FOLDER = fileURLToPath(new URL("../../examples/first-run/", import.meta.url));

/** Whether this folder says nothing of its own, or is the example's. */
export function usesExample({ folder }: Pick<Context, "folder">): boolean {
  return !existsSync(join(folder, "writ.yaml")) || resolve(folder) === resolve(EXAMPLE_FOLDER);
}

/** What `writ dev` runs with in this folder. */
export function devConfiguration(context: Pick<Context, "folder" | "env">): Configuration {
  return loadConfiguration(usesExample(context) ? EXAMPLE_FOLDER : context.folder, context.env);
}
