import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Refused, Unanswered } from "../client.ts";
import type { ProposeBody } from "../wire.ts";
import { type Context, connected } from "./context.ts";
import { EXIT, type ExitCode, exitOfOperation, Stop } from "./exit.ts";
import { operationText } from "./operation-view.ts";
import { progress } from "./progress.ts";

export interface ProposeFlags {
  readonly arg?: readonly string[];
  readonly args?: string;
  readonly expect?: string;
  readonly key?: string;
  readonly later?: boolean;
  readonly note?: string;
  readonly compensates?: string;
  readonly supersedes?: string;
  readonly wait: number;
}

/** `writ propose <tool>`: asks for a change and shows what became of it. */
export async function propose(context: Context, tool: string, flags: ProposeFlags): Promise<ExitCode> {
  const body = bodyOf(tool, flags);
  const client = connected(context, "agent");
  const { screen } = context;
  const intentKey = flags.key ?? randomUUID();
  const waiting = progress(screen);
  waiting.phase(`proposing ${tool}`);
  const operation = await client
    .propose(body, { waitSeconds: flags.wait, intentKey })
    .finally(() => waiting.end())
    .catch((error: unknown) => {
      throw inDoubt(error, intentKey);
    });
  if (operation.how === "replayed")
    screen.talk("This intent key was sent before: this is the operation that it named then.");
  if (operation.how === "joined")
    screen.talk("An equal change of yours was under way: this is its operation.");
  if (!screen.machine(operation)) screen.data(operationText(screen, operation));
  return exitOfOperation(operation);
}

const PERHAPS_STORED = ["internal", "ledger_unavailable", "request_timeout"];

/** A server in trouble may have stored the proposal: to whoever asked that is silence, and the key is how to find out. */
function inDoubt(error: unknown, intentKey: string): unknown {
  return error instanceof Refused && PERHAPS_STORED.includes(error.problem.code)
    ? new Unanswered(error.message, intentKey)
    : error;
}

function bodyOf(tool: string, flags: ProposeFlags): ProposeBody {
  return {
    tool,
    arguments: argumentsOf(flags),
    ...(flags.expect === undefined ? {} : { expectedVersion: flags.expect }),
    ...(flags.compensates === undefined ? {} : { compensates: flags.compensates }),
    ...(flags.supersedes === undefined ? {} : { supersedes: flags.supersedes }),
    ...(flags.later === true ? { execute: "later" as const } : {}),
    ...(flags.note === undefined ? {} : { note: flags.note }),
  };
}

/** What `--args` holds, with every `--arg` in its place. */
export function argumentsOf({
  arg = [],
  args,
}: Pick<ProposeFlags, "arg" | "args">): ProposeBody["arguments"] {
  const whole = args === undefined ? {} : parsedObject(textOf(args));
  const single = arg.map((text): [string, unknown] => {
    const at = text.indexOf("=");
    if (at < 1) throw new Stop(EXIT.usage, `--arg ${text} is not name=value`);
    return [text.slice(0, at), readValue(text.slice(at + 1))];
  });
  return { ...whole, ...Object.fromEntries(single) } as ProposeBody["arguments"]; // JSON values and texts only.
}

/** `@file`, `-` for standard input, or the text itself. */
function textOf(args: string): string {
  if (args === "-") return readFileSync(0, "utf8");
  if (!args.startsWith("@")) return args;
  try {
    return readFileSync(args.slice(1), "utf8");
  } catch (error) {
    throw new Stop(EXIT.usage, `--args ${args}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parsedObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
  } catch {
    // Told below: what the parser says of a shell's quoting helps nobody.
  }
  throw new Stop(EXIT.usage, `--args is not a JSON object: ${text.slice(0, 60)}`);
}

/** Numbers, booleans, null, lists and objects as JSON; everything else is text. Quote a number to keep it a text. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
