import type { Command } from "commander";
import type { DecideFlags } from "./decide.ts";
import type { Runner } from "./runner.ts";

/** What people are asked, and their answers. */
export function approvalCommands(writ: Command, runner: Runner): void {
  writ.commandsGroup("People decide");
  writ
    .command("approvals")
    .description("what waits for your decision")
    .option("--all", "also what waits for others, and why not for you")
    .action((flags: { all?: boolean }, command: Command) =>
      runner(command, async (context) => (await import("./decide.ts")).approvals(context, flags)),
    );
  deciding(writ, "approve", "say yes to exactly one change")
    .option("--withdraw", "take your yes back instead; until it is claimed")
    .action((id: string, { withdraw, ...flags }: DecideFlags & { withdraw?: boolean }, command: Command) =>
      runner(command, async (context) => {
        const people = await import("./decide.ts");
        return withdraw === true
          ? people.withdraw(context, id)
          : people.decide(context, id, "approve", flags);
      }),
    );
  deciding(writ, "reject", "say no: it ends, whatever else is broken").action(
    (id: string, flags: DecideFlags, command: Command) =>
      runner(command, async (context) => (await import("./decide.ts")).decide(context, id, "reject", flags)),
  );
}

function deciding(writ: Command, name: string, summary: string): Command {
  return writ
    .command(`${name} <operation>`)
    .description(summary)
    .option("--digest <digest>", "the digest that you looked at")
    .option("--comment <text>", "why; kept with your answer")
    .option("-y, --yes", "do not ask; needs --digest");
}
