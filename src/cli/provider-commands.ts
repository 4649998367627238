import type { Command } from "commander";
import { collected, count, seconds } from "./option-value.ts";
import type { ProbeFlags } from "./probe.ts";
import type { Runner } from "./runner.ts";

export function contracts(writ: Command, runner: Runner): void {
  writ.commandsGroup("Contracts");
  const contract = writ
    .command("contract")
    .summary("lint · explain")
    .description("What one operation of a provider guarantees.");
  contract
    .command("lint [contract...]")
    .description("what contracts say against themselves, with their lines; without a name: every preset")
    .action((names: readonly string[], _flags: object, command: Command) =>
      runner(command, async (context) => (await import("./contract.ts")).contractLint(context, names)),
    );
  contract
    .command("explain [contract...]")
    .description("what may be relied on, and what not; without a name: of every preset")
    .action((names: readonly string[], _flags: object, command: Command) =>
      runner(command, async (context) => (await import("./contract.ts")).contractExplain(context, names)),
    );
}

export function probing(writ: Command, runner: Runner): void {
  writ
    .command("probe <tool>")
    .summary("what a provider really does, beside what the contract claims")
    .description(
      "Writes to a scratch resource at the provider, through the tool's own contract, and shows what the contract claims\nbeside what was measured. A claim that was measured false closes the tool.",
    )
    .option("-a, --arg <name=value>", "one argument; {n} in it becomes a new number each time", collected)
    .option("--args <json>", "all arguments as a JSON object, @file, or - (default: the tool's own `probe:`)")
    .option("--resource <id>", "the scratch resource that these arguments write to, by its name")
    .option("--tenant <tenant>", "as whose tool")
    .option("--rounds <count>", "rounds of parallel writes", count, 10)
    .option("-w, --wait <seconds>", "the longest wait for a window or a lookup", seconds(600), 10)
    .option("-y, --yes", "do not ask")
    .action((tool: string, flags: ProbeFlags, command: Command) =>
      runner(command, async (context) => (await import("./probe.ts")).probe(context, tool, flags)),
    );
}
