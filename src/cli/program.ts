import { Command, Help, Option } from "commander";
import { approvalCommands } from "./approval.ts";
import { authorityCommands } from "./authority.ts";
import type { Context } from "./context.ts";
import { PEOPLE, type Person } from "./dev-file.ts";
import type { ExitCode } from "./exit.ts";
import type { HaltFlags } from "./halt.ts";
import { rootHelp } from "./help.ts";
import type { ListFlags } from "./op.ts";
import { collected, count, port, scenes, seconds } from "./option-value.ts";
import type { ProposeFlags } from "./propose.ts";
import { contracts, probing } from "./provider-commands.ts";
import type { ResolveFlags } from "./resolve.ts";
import type { Runner } from "./runner.ts";
import { type Colours, FORMATS, type Screen } from "./screen.ts";
import type { TokenFlags } from "./token.ts";
import { VERSION } from "./version.ts";

/** What the process gives to the commands. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  /** Colours for help on standard output. */
  readonly colours: Colours;
  readonly screenOf: (format: string) => Screen;
  readonly done: (exit: ExitCode) => void;
}

const STATES = ["proposed", "authorized", "executing", "succeeded", "rejected", "unknown"];

/** The whole command line. Each command's own module is loaded only when it runs: help is at once. */
export function program(given: Surroundings): Command {
  const paint = given.colours;
  const writ = new Command("writ")
    .description("decides, executes exactly what was authorized, and keeps the evidence")
    .usage("<command> [options]")
    .version(VERSION, "-V, --version", "the version")
    .helpOption("-h, --help", "this help")
    .helpCommand(false)
    .option("-o, --output <format>", `for people or programs: ${FORMATS.join(", ")}`, "table")
    .addOption(new Option("--as <who>", "whose token of `writ dev`").choices([...PEOPLE]))
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`writ: ${text.replace(/^error: /, "")}`) })
    .configureHelp({
      formatHelp: (command, help) =>
        command.parent === null
          ? rootHelp(command, help, paint)
          : Help.prototype.formatHelp.call(help, command, help),
      styleTitle: (text) => paint.bold(text),
      styleOptionTerm: (text) => paint.cyan(text),
      styleSubcommandTerm: (text) => paint.cyan(text),
      subcommandTerm: (command) => command.name(),
      showGlobalOptions: false,
    });
  const runner: Runner = async (command, run) => {
    const { output, as } = command.optsWithGlobals<{ output: string; as?: Person }>();
    const { env, folder } = given;
    given.done(
      await run({ screen: given.screenOf(output), env, folder, ...(as === undefined ? {} : { as }) }),
    );
  };
  starting(writ, runner);
  operations(writ, runner);
  approvalCommands(writ, runner);
  people(writ, runner);
  authorityCommands(writ, runner);
  contracts(writ, runner);
  probing(writ, runner);
  installation(writ, runner);
  return writ;
}

function starting(writ: Command, runner: Runner): void {
  writ.commandsGroup("Begin");
  writ
    .command("dev")
    .summary("everything on this machine: database, demo shop, tokens, worker")
    .description(
      "Everything on this machine, on the loopback address only. Keeps its data in .writ/ of this folder.",
    )
    .option("-p, --port <port>", "where it listens (default: 7070, or the next free one)", port)
    .option("--no-story", "do not open with the story")
    .action((flags: { port?: number; story: boolean }, command: Command) =>
      runner(command, async (context) => (await import("./dev.ts")).dev(context, flags)),
    );
  writ
    .command("demo")
    .summary("the story of a write, shown as it happens")
    .description(
      "The story of a write, shown as it happens, on a database and a shop of its own.\nEnds with 0 only if every effect counted at the providers is what the story says.",
    )
    .option("--scene <number...>", "only these scenes", scenes)
    .action((flags: { scene?: readonly number[] }, command: Command) =>
      runner(command, async (context) => (await import("./demo.ts")).demo(context, flags)),
    );
}

function operations(writ: Command, runner: Runner): void {
  writ.commandsGroup("Ask and look");
  writ
    .command("propose <tool>")
    .summary("ask for a change")
    .description("Asks for a change and shows what became of it.")
    .option("-a, --arg <name=value>", "one argument; JSON, else a text", collected)
    .option("--args <json>", "all arguments as a JSON object, @file, or - for standard input")
    .option("-e, --expect <version>", "the version that this change was decided against")
    .option("-k, --key <key>", "names the intent: the same key is the same change (default: a new one)")
    .option("--later", "authorize now, execute when asked")
    .option("--note <text>", "your own words, kept beside it")
    .option("--compensates <operation>", "the succeeded operation that this makes good")
    .option("--supersedes <operation>", "the waiting operation whose place this takes")
    .option("-w, --wait <seconds>", "how long to wait for the outcome", seconds(30), 10)
    .action((tool: string, flags: ProposeFlags, command: Command) =>
      runner(command, async (context) => (await import("./propose.ts")).propose(context, tool, flags)),
    );
  const op = writ
    .command("op")
    .helpCommand(false)
    .summary("ls · show · explain · wait · cancel · execute · receipt · events")
    .description("One operation, or the list of them.");
  op.command("ls")
    .description("operations, newest first")
    .addOption(new Option("--state <state>", "only those").choices(STATES))
    .option("--tool <name>", "only of this tool")
    .option("--resource <resource>", "only of this resource, such as Item:wh_1/item_9")
    .option("--principal <id>", "only of this principal")
    .option("--attention", "only those that need a person")
    .option("--since <time>", "only proposed since then (RFC 3339)")
    .option("--max <count>", "at most so many", count, 50)
    .action((flags: ListFlags, command: Command) =>
      runner(command, async (context) => (await import("./op.ts")).opList(context, flags)),
    );
  one(op, "show", "what is known of it", runner, async (context, id) =>
    (await import("./op.ts")).opShow(context, id),
  );
  one(
    op,
    "explain",
    "who authorized what, against which version, how often attempted, what confirms it",
    runner,
    async (context, id) => (await import("./op.ts")).opExplain(context, id),
  );
  one(op, "wait", "wait until it has settled or needs a person", runner, async (context, id, command) =>
    (await import("./op.ts")).opWait(context, id, command.opts<{ timeout: number }>()),
  ).option("-t, --timeout <seconds>", "at most so long", seconds(86_400), 60);
  one(op, "cancel", "stop it before it is claimed", runner, async (context, id) =>
    (await import("./op.ts")).opCancel(context, id),
  );
  one(op, "execute", "run one that was proposed for later", runner, async (context, id) =>
    (await import("./op.ts")).opExecute(context, id),
  );
  one(op, "receipt", "its signed statement, once it has settled", runner, async (context, id, command) =>
    (await import("./op.ts")).opReceipt(context, id, command.opts<{ jws?: boolean }>()),
  ).option("--jws", "only the signed text");
  one(op, "events", "its history", runner, async (context, id) =>
    (await import("./op.ts")).opEvents(context, id),
  );
}

function people(writ: Command, runner: Runner): void {
  writ.commandsGroup("In doubt, and in danger");
  one(writ, "reconcile", "ask the provider about it now", runner, async (context, id) =>
    (await import("./op.ts")).reconcile(context, id),
  );
  one(writ, "resolve", "a person's ruling on an operation in doubt", runner, async (context, id, command) =>
    (await import("./resolve.ts")).resolve(context, id, command.opts<ResolveFlags>()),
  )
    .option("--confirmed", "it was applied")
    .option("--absent", "it was not applied, and can no longer be")
    .option("--reference <text>", "where the evidence can be seen")
    .option("--note <text>", "what was seen there")
    .option("--digest <digest>", "the digest that you looked at; then nothing is asked")
    .option("-y, --yes", "do not ask");
  const halt = writ
    .command("halt")
    .summary("no new claims at once; ls · lift")
    .description("Stops new claims and repeats at once. What is executing may finish.")
    .option("--tool <name>", "halt one tool")
    .option("--provider <name>", "halt one provider")
    .option("--principal <id>", "halt one principal")
    .option("--client <id>", "halt one client")
    .option("--delegation <id>", "halt one delegation")
    .option("--everything", "halt the tenant")
    .option("--reason <text>", "why; shown to everybody whom it stops")
    .action((flags: HaltFlags, command: Command) =>
      runner(command, async (context) => (await import("./halt.ts")).halt(context, flags)),
    );
  halt
    .command("ls")
    .description("what stands")
    .action((_flags: object, command: Command) =>
      runner(command, async (context) => (await import("./halt.ts")).haltList(context)),
    );
  halt
    .command("lift <halt>")
    .description("end one")
    .action((id: string, _flags: object, command: Command) =>
      runner(command, async (context) => (await import("./halt.ts")).haltLift(context, id)),
    );
}

function installation(writ: Command, runner: Runner): void {
  writ.commandsGroup("An installation");
  const commands = [
    [
      "serve",
      "the HTTP door and a worker",
      async (context: Context) => (await import("./serve.ts")).serve(context),
    ],
    [
      "worker",
      "a worker alone; any number share the work",
      async (context: Context) => (await import("./serve.ts")).worker(context),
    ],
    [
      "migrate",
      "bring the database to this version",
      async (context: Context) => (await import("./migrate.ts")).migrateDatabase(context),
    ],
    [
      "doctor",
      "what is set up well, and how to mend the rest",
      async (context: Context) => (await import("./doctor.ts")).doctor(context),
    ],
  ] as const;
  for (const [name, summary, run] of commands)
    writ
      .command(name)
      .description(summary)
      .action((_flags: object, command: Command) => runner(command, run));
  writ
    .command("apply")
    .description("put this folder's tools, contracts and policies in force; shows what changes first")
    .option("--yes", "without asking")
    .action((flags: { readonly yes?: boolean }, command: Command) =>
      runner(command, async (context) => (await import("./apply.ts")).apply(context, flags)),
    );
  writ
    .command("token [who]")
    .summary("a development token for an agent, a person or a service")
    .description(
      "A token of the development issuer that runs in this folder, on standard output: ada by her agent (the default),\nben or cleo by the command line, or stock-service for itself.",
    )
    .option("--client <name>", "the agent or program that holds it")
    .option("--role <role...>", "with these roles instead of the person's own")
    .option("--tenant <tenant>", "in this tenant")
    .option("--delegation <id>", "under this delegation")
    .option("--ttl <seconds>", "valid so long", seconds(86_400), 3600)
    .action((who: string | undefined, flags: TokenFlags, command: Command) =>
      runner(command, async (context) => (await import("./token.ts")).token(context, who ?? "ada", flags)),
    );
}

/** A command about one operation. */
function one(
  parent: Command,
  name: string,
  description: string,
  runner: Runner,
  run: (context: Context, id: string, command: Command) => Promise<ExitCode>,
): Command {
  return parent
    .command(`${name} <operation>`)
    .description(description)
    .action((id: string, _flags: object, command: Command) =>
      runner(command, (context) => run(context, id, command)),
    );
}
