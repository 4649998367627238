import { createInterface } from "node:readline/promises";
import { type Context, connected } from "./context.ts";
import { EXIT, type ExitCode, exitOfOperation, Stop } from "./exit.ts";
import { explanationText, operationText } from "./operation-view.ts";

export interface ResolveFlags {
  readonly confirmed?: boolean;
  readonly absent?: boolean;
  readonly reference?: string;
  readonly note?: string;
  readonly digest?: string;
  readonly yes?: boolean;
}

/** `writ resolve`: shows what is known and what exactly is ruled on, asks, and sends the ruling with its digest. */
export async function resolve(context: Context, id: string, flags: ResolveFlags): Promise<ExitCode> {
  const finding = findingOf(flags);
  const reference = needed(
    flags.reference,
    "--reference",
    "where the evidence can be seen, such as an order's number",
  );
  const note = needed(flags.note, "--note", "what was seen there");
  const { screen } = context;
  const client = connected(context, "resolver");
  const [operation, explanation] = await Promise.all([client.get(id), client.explain(id)]);
  if (flags.digest !== undefined && flags.digest !== operation.digest)
    throw new Stop(EXIT.conflict, `--digest is not the digest of ${id}`, `It is ${operation.digest}.`);
  screen.talk(explanationText(screen, explanation));
  screen.talk("");
  screen.talk(
    `Ruling: ${screen.tint.bold(finding === "confirmed" ? "the change was applied" : "the change was not applied")}`,
  );
  screen.talk(`  on      ${operation.digest}`);
  screen.talk(`  seen at ${reference}`);
  screen.talk(`  note    ${note}`);
  await confirm(context, flags);
  const ruled = await client.resolve(id, {
    finding,
    digest: operation.digest,
    evidence: { reference, note },
  });
  if (!screen.machine(ruled)) screen.data(operationText(screen, ruled));
  // What was asked for is a ruling, and it stands: a rejected operation is what `--absent` means.
  return ruled.state === "rejected" && finding === "absent" ? EXIT.ok : exitOfOperation(ruled);
}

function findingOf({ confirmed, absent }: ResolveFlags): "confirmed" | "absent" {
  if ((confirmed === true) === (absent === true))
    throw new Stop(EXIT.usage, "say what was found: either --confirmed or --absent");
  return confirmed === true ? "confirmed" : "absent";
}

function needed(value: string | undefined, flag: string, what: string): string {
  if (value === undefined || value === "") throw new Stop(EXIT.usage, `${flag} is missing: say ${what}`);
  return value;
}

/** A ruling is for ever. Whoever gives the digest or --yes has looked; anybody else is asked, and only on a terminal. */
async function confirm({ screen }: Context, { yes, digest }: ResolveFlags): Promise<void> {
  if (yes === true || digest !== undefined) return;
  if (!screen.asks)
    throw new Stop(
      EXIT.usage,
      "a ruling is for ever, and nobody can be asked here: add --yes, or --digest with the digest that you looked at",
    );
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question("A ruling is for ever. Type yes to record it: ");
  lines.close();
  if (answer.trim() !== "yes") throw new Stop(EXIT.error, "nothing was recorded");
}
