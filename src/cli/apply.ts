import { userInfo } from "node:os";
import { join } from "node:path";
import { compose, type Plan, type Writ } from "../compose.ts";
import type { Json } from "../core/json.ts";
import type { MemberChange, OfferChange } from "../core/offer-diff.ts";
import { Problem } from "../core/problem.ts";
import { jsonLog } from "../telemetry/log.ts";
import { confirmed } from "./confirm.ts";
import type { Context } from "./context.ts";
import { EXIT, type ExitCode, Stop } from "./exit.ts";
import { configurationOf, ledgerDatabase } from "./ledger-database.ts";
import { ruleChanges } from "./policy-view.ts";
import { plain, type Screen } from "./screen.ts";

/** `writ apply`: what this folder would change, and after a yes it is in force, for every process and from the next claim on. */
export async function apply(context: Context, { yes }: { readonly yes?: boolean }): Promise<ExitCode> {
  const configuration = configurationOf(context);
  const database = await ledgerDatabase(context, configuration, "attach");
  try {
    const home = join(context.folder, ".writ");
    const common = { configuration, databaseUrl: database.url, home, log: jsonLog("error") };
    const writ = await compose({ ...common, configurationIs: "compared" });
    try {
      return await planned(context, writ, yes === true);
    } finally {
      await writ.close();
    }
  } finally {
    await database.close();
  }
}

async function planned(context: Context, writ: Writ, yes: boolean): Promise<ExitCode> {
  const { screen } = context;
  const plans = await writ.plans();
  const changing = plans.filter(changes);
  const told = (applied: boolean) => screen.machine({ applied, plans: plans as unknown as Json }); // Plans are plain JSON.
  if (screen.format === "table") for (const plan of plans) screen.data(planText(screen, plan));
  if (changing.length === 0 || !yes) told(false);
  if (changing.length === 0) return EXIT.ok;
  await confirmed(screen, yes, "this changes what is offered and who may do what", "nothing was applied");
  const actor = `apply by ${userInfo().username}`;
  for (const plan of changing) await inForce(() => writ.apply(plan, actor));
  // A program hears that it is in force when it is, and not before.
  if (yes) told(true);
  screen.talk(
    `${screen.paint.green("In force")} for ${changing.map(({ tenantId }) => tenantId).join(", ")}. Processes that were started with another folder stop serving until they are started with this one.`,
  );
  return EXIT.ok;
}

function changes({ changes, policy, expects }: Plan): boolean {
  return expects === "" || changes.length > 0 || policy.changes.length > 0;
}

async function inForce(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Problem && error.code === "policy_moved")
      throw new Stop(EXIT.conflict, error.message, error.details.next);
    throw error;
  }
}

const MARK = { added: "+", removed: "-", changed: "~" } as const;

/** As plans are read everywhere: + what comes, - what goes, ~ what becomes otherwise. */
function planText(screen: Screen, plan: Plan): string {
  const { paint } = screen;
  const { tenantId, policy } = plan;
  const title = paint.bold(`tenant ${tenantId}`);
  if (!changes(plan)) return `${title}  ${paint.dim("as this folder says; nothing changes")}`;
  const offers = plan.changes.flatMap((change) => changeLines(screen, change));
  const rules = policy.changes.length === 0 ? [] : ["", ...ruleChanges(screen, policy)];
  return [title, ...offers, ...rules].join("\n");
}

function changeLines({ paint }: Screen, { what, name, how, members }: OfferChange): readonly string[] {
  const colour = { added: paint.green, removed: paint.red, changed: paint.yellow }[how];
  const why = what === "provider" && how === "changed" ? paint.dim("  settings or credential") : "";
  return [
    `  ${colour(MARK[how])} ${what} ${name}${why}`,
    ...members.map((member) => `      ${memberText(member)}`),
  ];
}

const VALUE_MAX = 60;

function memberText({ at, before, after }: MemberChange): string {
  return `${at}  ${shown(before)} → ${shown(after)}`;
}

function shown(value: Json | undefined): string {
  if (value === undefined) return "(absent)";
  const text = plain(JSON.stringify(value));
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text;
}
