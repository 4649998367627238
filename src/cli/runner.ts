import type { Command } from "commander";
import type { Context } from "./context.ts";
import type { ExitCode } from "./exit.ts";

/** What a command does with what it is given. */
type Run = (context: Context) => Promise<ExitCode> | ExitCode;
/** Makes the context of a command and runs it. */
export type Runner = (command: Command, run: Run) => Promise<void>;
