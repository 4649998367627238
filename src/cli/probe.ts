import { userInfo } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { compose } from "../compose.ts";
import { resourceOf } from "../core/action.ts";
import type { TenantId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { Measured, Probe } from "../core/probe.ts";
import type { Tool } from "../core/tool.ts";
import { jsonLog } from "../telemetry/log.ts";
import type { Context } from "./context.ts";
import { EXIT, type ExitCode, Stop } from "./exit.ts";
import { configurationOf } from "./ledger-database.ts";
import { reachable } from "./migrate.ts";
import { facts } from "./print.ts";
import { progress } from "./progress.ts";
import { argumentsOf } from "./propose.ts";
import type { Screen } from "./screen.ts";
import { refuseUnmigrated } from "./serve.ts";
import { ends } from "./signals.ts";

export interface ProbeFlags {
  readonly arg?: readonly string[];
  readonly args?: string;
  readonly resource?: string;
  readonly tenant?: string;
  readonly rounds: number;
  readonly wait: number;
  readonly yes?: boolean;
}

/**
 * `writ probe <tool>`: writes to a scratch resource at the provider, through the tool's own contract, and shows what it claims beside
 * what was measured. The result is kept in the ledger, where a claim that was measured false closes the tool.
 */
export async function probe(context: Context, name: string, flags: ProbeFlags): Promise<ExitCode> {
  const configuration = configurationOf(context);
  const tool = configuration.tools.find((each) => each.name === name);
  if (tool === undefined)
    throw new Stop(
      EXIT.usage,
      `there is no tool "${name}" here`,
      "Ask `writ doctor` for what is configured.",
    );
  const tenant = tenantOf(configuration.tenants, flags.tenant);
  const scratch = scratchOf(tool, flags);
  await confirm(context, tool, scratch, flags);
  const { screen } = context;
  const waiting = progress(screen);
  const opened = ends();
  try {
    const database = await opened.opened(reachable(context), (each) => each.close());
    await refuseUnmigrated(database.url);
    const writ = await opened.opened(
      compose({
        configuration,
        databaseUrl: database.url,
        home: join(context.folder, ".writ"),
        log: jsonLog("error"),
      }),
      (each) => each.close(),
    );
    const found = await writ.probe(tenant, name, {
      arguments: scratch.arguments,
      rounds: flags.rounds,
      waitMaxMs: flags.wait * 1000,
      begins: (what) => waiting.phase(what),
      actor: `cli:${userInfo().username}`,
    });
    waiting.end();
    return shown(screen, tool, scratch.resource, found);
  } finally {
    waiting.end();
    await opened.close();
  }
}

function tenantOf(tenants: readonly TenantId[], asked: string | undefined): TenantId {
  const found = tenants.find((tenant) => tenant === asked);
  if (found !== undefined) return found;
  const [only, ...more] = tenants;
  if (asked === undefined && only !== undefined && more.length === 0) return only;
  throw new Stop(EXIT.usage, `--tenant is one of ${tenants.join(", ")}`);
}

interface Scratch {
  readonly arguments: JsonObject;
  /** Its whole name, such as Item:scratch. */
  readonly resource: string;
}

/** The resource that somebody named for this: in the tool's own file, or twice on the command line. */
function scratchOf(tool: Tool, flags: ProbeFlags): Scratch {
  const given = flags.args !== undefined || (flags.arg ?? []).length > 0;
  const args = given ? (argumentsOf(flags) as JsonObject) : tool.probe?.arguments; // JSON values and texts only.
  if (args === undefined)
    throw new Stop(
      EXIT.usage,
      `nothing is named that a probe of ${tool.name} may write to`,
      "Write probe: { arguments: … } into the tool's file, or give --args and --resource.",
    );
  const { type, id } = resourceOf(tool.resource, args);
  if (given && flags.resource !== id && flags.resource !== `${type}:${id}`)
    throw new Stop(
      EXIT.usage,
      flags.resource === undefined
        ? `--resource is missing: name the scratch resource that these arguments write to (${id})`
        : `--resource ${flags.resource} is not what these arguments write to: they name ${id}`,
    );
  return { arguments: args, resource: `${type}:${id}` };
}

async function confirm({ screen }: Context, tool: Tool, scratch: Scratch, flags: ProbeFlags): Promise<void> {
  if (flags.yes === true) return;
  const what = `a probe writes to ${scratch.resource} at ${tool.provider} many times`;
  if (!screen.asks) throw new Stop(EXIT.usage, `${what}, and nobody can be asked here: add --yes`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`${what.charAt(0).toUpperCase()}${what.slice(1)}. Type yes to begin: `);
  lines.close();
  if (answer.trim() !== "yes") throw new Stop(EXIT.error, "nothing was probed");
}

const EXITS = { holds: EXIT.ok, broken: EXIT.broken, unclear: EXIT.unproved } as const;

const VERDICTS = {
  holds: "Every claim of the contract was measured, and held.",
  broken:
    "The contract claims what is not so. The tool takes nothing more until the contract says less, or a new probe finds it true.",
  unclear: "No claim was found untrue, and some could not be measured.",
} as const;

function shown(screen: Screen, tool: Tool, resource: string, found: Probe): ExitCode {
  const exit = EXITS[found.verdict];
  if (screen.machine({ tool: tool.name, contract: tool.contract.contract, resource, ...found })) return exit;
  screen.data(
    `${screen.paint.bold(tool.name)}  ${screen.paint.dim(`${tool.contract.contract} on ${resource}`)}`,
  );
  for (const measured of found.measured) {
    screen.data("");
    screen.data(rowText(screen, measured));
  }
  screen.data("");
  screen.talk(VERDICTS[found.verdict]);
  return exit;
}

const MARKS = { held: "✓", broken: "✗", unmeasured: "?" } as const;

function rowText(screen: Screen, { claim, of, claimed, measured, verdict, says }: Measured): string {
  const paint = { held: screen.paint.green, broken: screen.paint.red, unmeasured: screen.paint.yellow }[
    verdict
  ];
  const title = `${claim.replaceAll("_", " ")}${of === undefined ? "" : ` "${of}"`}`;
  const sentence = says.charAt(0).toUpperCase() + says.slice(1).replace(/\.?$/, ".");
  return [
    `${paint(MARKS[verdict])} ${screen.paint.bold(title)}`,
    facts({ ...screen, width: screen.width - 2 }, [
      ["claimed", claimed],
      ["measured", measured],
      ["", sentence],
    ])
      .split("\n")
      .map((line) => `  ${line}`)
      .join("\n"),
  ].join("\n");
}
