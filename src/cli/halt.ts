import type { HaltBody } from "../wire/authority.ts";
import { type Context, connected } from "./context.ts";
import { EXIT, type ExitCode, Stop } from "./exit.ts";
import { ago, table } from "./print.ts";

const NAMED = ["tool", "provider", "principal", "client", "delegation"] as const;
export type HaltFlags = { readonly [name in (typeof NAMED)[number]]?: string } & {
  readonly everything?: boolean;
  readonly reason?: string;
};

/** `writ halt`: no new claim and no repeat once this returns. What is executing may finish. */
export async function halt(context: Context, flags: HaltFlags): Promise<ExitCode> {
  const made = await connected(context, "operator").halt(orderOf(flags));
  const { screen } = context;
  if (screen.machine(made)) return EXIT.ok;
  screen.data(
    `${screen.paint.yellow("halted")}  ${made.scope}${made.name === undefined ? "" : ` ${made.name}`}  ${screen.paint.dim(made.id)}`,
  );
  screen.talk(`Lift it with: writ halt lift ${made.id}`);
  return EXIT.ok;
}

function orderOf(flags: HaltFlags): HaltBody {
  const given = NAMED.flatMap((scope) => {
    const name = flags[scope];
    return name === undefined ? [] : [{ scope, name }];
  });
  const [first, ...more] = given;
  const count = given.length + (flags.everything === true ? 1 : 0);
  if (count !== 1 || more.length > 0)
    throw new Stop(
      EXIT.usage,
      `say what to halt: one of ${NAMED.map((name) => `--${name} <name>`).join(", ")}, or --everything`,
    );
  const { reason } = flags;
  if (reason === undefined)
    throw new Stop(EXIT.usage, "--reason is missing: everybody whom it stops reads it");
  return first === undefined ? { scope: "tenant", reason } : { ...first, reason };
}

export async function haltList(context: Context): Promise<ExitCode> {
  const standing = await connected(context, "operator").halts();
  const { screen } = context;
  if (screen.machine(screen.format === "jsonl" ? standing.halts : standing)) return EXIT.ok;
  if (standing.halts.length === 0) screen.talk("Nothing is halted.");
  else
    screen.data(
      table(screen, standing.halts, [
        { title: "halt", of: (row) => row.id },
        { title: "what", of: (row) => (row.name === undefined ? "everything" : `${row.scope} ${row.name}`) },
        { title: "since", of: (row) => ago(row.at, Date.now()) },
        { title: "by", of: (row) => row.actor, gives: true },
        { title: "reason", of: (row) => row.reason, gives: true },
      ]),
    );
  return EXIT.ok;
}

export async function haltLift(context: Context, id: string): Promise<ExitCode> {
  await connected(context, "operator").lift(id);
  if (!context.screen.machine({ id, lifted: true })) context.screen.data(`lifted  ${id}`);
  return EXIT.ok;
}
