import type { Configuration } from "../config.ts";
import type { CandidateAnswer, PolicyBody, ReplayAnswer } from "../wire/policy.ts";
import { confirmed } from "./confirm.ts";
import { type Context, connected } from "./context.ts";
import { devConfiguration } from "./example.ts";
import { EXIT, type ExitCode, Stop } from "./exit.ts";
import { ruleChanges } from "./policy-view.ts";
import { table } from "./print.ts";
import type { Screen } from "./screen.ts";

export interface ActivateFlags {
  readonly reason?: string;
  readonly yes?: boolean;
}

/** `writ policy check`: nothing but this folder is asked. */
export async function policyCheck(context: Context): Promise<ExitCode> {
  const { screen } = context;
  const { digest, mistakes, policy } = await written(context);
  if (screen.machine({ digest, mistakes })) return mistakes.length === 0 ? EXIT.ok : EXIT.error;
  for (const mistake of mistakes) screen.data(mistake);
  if (mistakes.length > 0) return EXIT.error;
  screen.data(
    `${screen.paint.green("good")}  ${digest}  ${screen.paint.dim(`${policy.files.length} files`)}`,
  );
  return EXIT.ok;
}

/** `writ policy diff`: kept for whoever activates it, and compared with what stands. */
export async function policyDiff(context: Context): Promise<ExitCode> {
  const candidate = await kept(context);
  const { screen } = context;
  if (!screen.machine(candidate)) screen.data(ruleChanges(screen, candidate).join("\n"));
  return EXIT.ok;
}

/** `writ policy activate`: from the answer on nothing is claimed that was decided under another policy. */
export async function policyActivate(
  context: Context,
  digest: string | undefined,
  { reason, yes }: ActivateFlags,
): Promise<ExitCode> {
  if (reason === undefined) throw new Stop(EXIT.usage, "--reason is missing: it is kept with the activation");
  const { screen } = context;
  const client = connected(context, "operator");
  const candidate = digest === undefined ? await kept(context) : undefined;
  const expects = candidate?.standing ?? (await client.policies()).version;
  if (candidate !== undefined) screen.talk(ruleChanges(screen, candidate).join("\n"));
  else screen.talk(`Going back to ${digest ?? ""}, from ${expects}.`);
  await confirmed(screen, yes === true, "this changes who may do what", "nothing was activated");
  const made = await client.activatePolicy(candidate?.digest ?? digest ?? "", { expects, reason });
  if (!screen.machine(made)) screen.data(`${screen.paint.green("stands")}  ${made.version}`);
  return EXIT.ok;
}

/** `writ policy replay`: nothing is changed by asking. */
export async function policyReplay(context: Context, { last }: { readonly last: number }): Promise<ExitCode> {
  const { digest } = await kept(context);
  const replay = await connected(context, "operator").replayPolicy(digest, { last });
  const { screen } = context;
  if (screen.machine(screen.format === "jsonl" ? replay.flips : replay)) return EXIT.ok;
  if (replay.flips.length > 0) screen.data(flipsText(screen, replay.flips));
  const unclear = replay.unclear === 0 ? "" : `, ${replay.unclear} that cannot be decided again`;
  screen.talk(
    `${replay.replayed} decisions: ${replay.same} the same, ${replay.flips.length} otherwise${unclear}.`,
  );
  return EXIT.ok;
}

interface Written {
  readonly policy: PolicyBody;
  readonly digest: string;
  readonly mistakes: readonly string[];
}

async function written(context: Context): Promise<Written> {
  const configuration: Configuration = devConfiguration(context);
  const { folderPolicy } = await import("../compose.ts");
  const { policy, digest, mistakes } = folderPolicy(configuration);
  return { policy: { files: policy.files.map((file) => ({ ...file })) }, digest, mistakes };
}

async function kept(context: Context): Promise<CandidateAnswer> {
  const { policy, mistakes } = await written(context);
  if (mistakes.length > 0) throw new Stop(EXIT.error, mistakes.join("\n"));
  return connected(context, "operator").keepPolicy(policy);
}

function flipsText(screen: Screen, flips: ReplayAnswer["flips"]): string {
  return table(screen, flips, [
    { title: "operation", of: (row) => row.operationId },
    { title: "tool", of: (row) => row.tool },
    { title: "resource", of: (row) => row.resource },
    { title: "was", of: (row) => row.was.effect },
    { title: "would", of: (row) => row.would.effect },
    { title: "by", of: (row) => whyOf(row.would), gives: true },
  ]);
}

function whyOf({ why, policies, requirements }: ReplayAnswer["flips"][number]["would"]): string {
  return why ?? (requirements.length > 0 ? requirements : policies).join("; ");
}
