import { type Context, connected } from "./context.ts";
import { EXIT, type ExitCode, Stop } from "./exit.ts";
import { ago, table } from "./print.ts";

export interface RevokeFlags {
  readonly delegation?: string;
  readonly principal?: string;
  readonly client?: string;
  readonly reason?: string;
}

/** `writ revoke`: nothing new is executed under it once this returns. */
export async function revoke(context: Context, flags: RevokeFlags): Promise<ExitCode> {
  const { delegation, principal, client, reason } = flags;
  if ([delegation, principal, client].filter((each) => each !== undefined).length !== 1)
    throw new Stop(
      EXIT.usage,
      "say what to revoke: one of --delegation <id>, --principal <id>, --client <name>",
    );
  if (reason === undefined)
    throw new Stop(EXIT.usage, "--reason is missing: everybody whom it stops reads it");
  const writ = connected(context, "operator");
  const { screen } = context;
  if (delegation !== undefined) {
    const ended = await writ.revokeDelegation(delegation, reason);
    if (!screen.machine(ended))
      screen.data(`${screen.paint.yellow("revoked")}  delegation ${ended.id}  to ${ended.holder}`);
    return EXIT.ok;
  }
  const named =
    principal === undefined
      ? { scope: "client" as const, name: client ?? "" }
      : { scope: "principal" as const, name: principal };
  const made = await writ.revoke({ ...named, reason });
  if (screen.machine(made)) return EXIT.ok;
  screen.data(`${screen.paint.yellow("revoked")}  ${made.scope} ${made.name}  ${screen.paint.dim(made.id)}`);
  screen.talk(`Lift it with: writ revoke lift ${made.id}`);
  return EXIT.ok;
}

export async function revokeList(context: Context): Promise<ExitCode> {
  const page = await connected(context, "operator").revocations();
  const { screen } = context;
  if (screen.machine(screen.format === "jsonl" ? page.revocations : page)) return EXIT.ok;
  if (page.revocations.length === 0) screen.talk("Nobody is revoked.");
  else
    screen.data(
      table(screen, page.revocations, [
        { title: "revocation", of: (row) => row.id },
        { title: "who", of: (row) => `${row.scope} ${row.name}` },
        { title: "since", of: (row) => ago(row.at, Date.now()) },
        { title: "by", of: (row) => row.actor, gives: true },
        { title: "reason", of: (row) => row.reason, gives: true },
      ]),
    );
  if (page.cursor !== undefined) screen.talk("There are more than these.");
  return EXIT.ok;
}

export async function revokeLift(context: Context, id: string): Promise<ExitCode> {
  await connected(context, "operator").restore(id);
  if (!context.screen.machine({ id, lifted: true })) context.screen.data(`lifted  ${id}`);
  return EXIT.ok;
}
