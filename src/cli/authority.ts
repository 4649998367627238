import type { Command } from "commander";
import type { DelegateFlags } from "./delegate.ts";
import { collected, count, duration } from "./option-value.ts";
import type { ActivateFlags } from "./policy.ts";
import type { RevokeFlags } from "./revoke.ts";
import type { Runner } from "./runner.ts";

/** Who may act for whom, and who may not any more. */
export function authorityCommands(writ: Command, runner: Runner): void {
  writ.commandsGroup("Authority");
  delegating(writ, runner);
  revoking(writ, runner);
  ruling(writ, runner);
}

function ruling(writ: Command, runner: Runner): void {
  const policy = writ
    .command("policy")
    .helpCommand(false)
    .summary("check · diff · activate · replay")
    .description("The rules in this folder, beside those that stand.");
  policy
    .command("check")
    .description("every mistake of this folder's policy, with file and line; needs no server")
    .action((_flags: object, command: Command) =>
      runner(command, async (context) => (await import("./policy.ts")).policyCheck(context)),
    );
  policy
    .command("diff")
    .description("what this folder's policy would change")
    .action((_flags: object, command: Command) =>
      runner(command, async (context) => (await import("./policy.ts")).policyDiff(context)),
    );
  policy
    .command("activate [digest]")
    .description("let this folder's policy stand, or one that stood before; shows what changes, and asks")
    .option("--reason <text>", "why; kept with the activation")
    .option("-y, --yes", "do not ask")
    .action((digest: string | undefined, flags: ActivateFlags, command: Command) =>
      runner(command, async (context) =>
        (await import("./policy.ts")).policyActivate(context, digest, flags),
      ),
    );
  policy
    .command("replay")
    .description("which of the last decisions this folder's policy would give otherwise, and why")
    .option("--last <count>", "so many decisions", count, 100)
    .action((flags: { readonly last: number }, command: Command) =>
      runner(command, async (context) => (await import("./policy.ts")).policyReplay(context, flags)),
    );
}

function delegating(writ: Command, runner: Runner): void {
  const delegate = writ
    .command("delegate")
    .summary("give a client a part of your authority; ls")
    .description(
      "Gives a client a part of what this token holds, until a moment. It never holds more than you do.",
    )
    .option("--to <client>", "the client that may act under it")
    .option("--tool <name>", "a tool, or a name space such as inventory.*; may be repeated", collected)
    .option("--resource <resource>", "such as Warehouse:wh_1 or Order:*; may be repeated", collected)
    .option(
      "--limit <limit>",
      'on an argument: "quantity<=5", "quantity>=1", "kind=a,b"; may be repeated',
      collected,
    )
    .option("--rules <json>", "all rules as a JSON list, instead of the three above")
    .option("--for <time>", "how long, such as 30m, 8h or 7d", duration)
    .option("--uses <count>", "for so many operations, all in all", count)
    .option("--depth <count>", "how many may follow below it (default: none)", count)
    .option("--service <principal>", "to a service that acts for itself, issuer#client; operators only")
    .option("--reason <text>", "why, for whoever looks at it later")
    .action((flags: DelegateFlags, command: Command) =>
      runner(command, async (context) => (await import("./delegate.ts")).delegate(context, flags)),
    );
  delegate
    .command("ls")
    .description("what was given, newest first")
    .option("--holder <client>", "only to this client")
    .option("--all", "also what was revoked or has ended")
    .action((flags: { holder?: string; all?: boolean }, command: Command) =>
      runner(command, async (context) => (await import("./delegate.ts")).delegateList(context, flags)),
    );
}

function revoking(writ: Command, runner: Runner): void {
  const revoke = writ
    .command("revoke")
    .summary("end a delegation, or what a person or a client may do; ls · lift")
    .description("No new claim and no repeat once this returns. What is executing may finish.")
    .option("--delegation <id>", "end one delegation and all below it")
    .option("--principal <id>", "revoke a person: issuer#subject")
    .option("--client <name>", "revoke a client")
    .option("--reason <text>", "why; told to everybody whom it stops")
    .action((flags: RevokeFlags, command: Command) =>
      runner(command, async (context) => (await import("./revoke.ts")).revoke(context, flags)),
    );
  revoke
    .command("ls")
    .description("people and clients that are revoked")
    .action((_flags: object, command: Command) =>
      runner(command, async (context) => (await import("./revoke.ts")).revokeList(context)),
    );
  revoke
    .command("lift <revocation>")
    .description("let them act again")
    .action((id: string, _flags: object, command: Command) =>
      runner(command, async (context) => (await import("./revoke.ts")).revokeLift(context, id)),
    );
}
