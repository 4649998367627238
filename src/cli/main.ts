import { CommanderError } from "commander";
import { Refused, Unanswered } from "../client.ts";
import { EXIT, type ExitCode, exitOfError, Stop } from "./exit.ts";
import { program } from "./program.ts";
import { FORMATS, plain, type Screen, screen } from "./screen.ts";

// A reader that has seen enough closes the pipe; that is no error of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT.ok);
  throw error;
});

process.exitCode = await run(process.argv.slice(2));

async function run(args: readonly string[]): Promise<ExitCode> {
  let exit: ExitCode = EXIT.ok;
  const command = program({
    env: process.env,
    folder: process.cwd(),
    colours: screenOf("table").paint,
    screenOf,
    done: (code) => {
      exit = code;
    },
  });
  try {
    if (args.length === 0) command.outputHelp();
    else await command.parseAsync([...args], { from: "user" });
    return exit;
  } catch (error) {
    // Commander has already said what it had to say; a help page that was asked for is no mistake.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return told(error, screenOf(formatIn(args)));
  }
}

function screenOf(format: string): Screen {
  const known = FORMATS.find((each) => each === format);
  if (known === undefined) throw new Stop(EXIT.usage, `-o ${format}: it is one of ${FORMATS.join(", ")}`);
  const { stdout, stderr, stdin, env } = process;
  return screen({ format: known, stdout, stderr, stdin, env });
}

/** The format for an error that came before, or instead of, the command's own screen. */
function formatIn(args: readonly string[]): string {
  const at = args.findIndex((arg) => arg === "-o" || arg === "--output");
  const word =
    at >= 0 ? args[at + 1] : args.find((arg) => arg.startsWith("--output="))?.slice("--output=".length);
  return FORMATS.find((each) => each === word) ?? "table";
}

/** A program gets the problem as data, a person gets the sentence and what to do now. */
function told(error: unknown, { tint, talk, machine }: Screen): ExitCode {
  if (error instanceof Refused) machine(error.problem);
  const code = error instanceof Refused ? tint.dim(` (${error.problem.code})`) : "";
  talk(`${tint.red("writ:")} ${plain(messageOf(error))}${code}`);
  for (const line of nextOf(error)) talk(`      ${plain(line)}`);
  if (process.env.WRIT_DEBUG !== undefined && error instanceof Error) talk(tint.dim(error.stack ?? ""));
  return exitOfError(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What to do now. After a proposal that may have been stored, its key is how to find out. */
function nextOf(error: unknown): readonly string[] {
  if (error instanceof Stop) return error.next === undefined ? [] : [error.next];
  if (error instanceof Unanswered)
    return error.intentKey === undefined
      ? ["Is it running? `writ dev` starts one here."]
      : [`The change may have been applied. Ask again with the same key: --key ${error.intentKey}`];
  if (!(error instanceof Refused)) return [];
  const { next, operationId } = error.problem;
  return [
    ...(next === undefined ? [] : [next]),
    ...(operationId === undefined ? [] : [`The whole of it: writ op explain ${operationId}`]),
  ];
}
