import { createInterface } from "node:readline/promises";
import type { ApprovalAnswer } from "../wire/approval.ts";
import { approvalsText, approvalText } from "./approval-view.ts";
import { type Context, connected } from "./context.ts";
import { EXIT, type ExitCode, exitOfOperation, Stop } from "./exit.ts";
import { operationText } from "./operation-view.ts";

export interface DecideFlags {
  readonly digest?: string;
  readonly comment?: string;
  readonly yes?: boolean;
}

/** `writ approvals`: what waits for whoever asks, or for anybody. */
export async function approvals(context: Context, flags: { readonly all?: boolean }): Promise<ExitCode> {
  const { screen } = context;
  const page = await connected(context, "approver").approvals(flags.all === true ? "all" : "me");
  if (screen.machine(page)) return EXIT.ok;
  if (page.approvals.length === 0)
    screen.talk(flags.all === true ? "Nothing waits for people." : "Nothing waits for you.");
  else screen.data(approvalsText(screen, page.approvals, Date.now()));
  if (page.cursor !== undefined)
    screen.talk(screen.tint.dim("There is more: `GET /v1/approvals` has it all."));
  return EXIT.ok;
}

/** `writ approve`, `writ reject`: shows exactly what is decided on, asks, and sends the answer to that view. */
export async function decide(
  context: Context,
  id: string,
  decision: "approve" | "reject",
  flags: DecideFlags,
): Promise<ExitCode> {
  const { screen } = context;
  refuseUnasked(context, flags);
  const client = connected(context, "approver");
  const view = await client.approval(id);
  if (flags.digest !== undefined && flags.digest !== view.digest)
    throw new Stop(EXIT.conflict, `--digest is not the digest of ${id}`, `It is ${view.digest}.`);
  if (view.nonce === undefined) throw new Stop(EXIT.denied, `${id} does not wait for you: ${whyNot(view)}`);
  screen.talk(approvalText(screen, view));
  screen.talk("");
  await confirm(context, decision, flags, view);
  const operation = await client.decide(id, {
    decision,
    digest: view.digest,
    nonce: view.nonce,
    ...(flags.comment === undefined ? {} : { comment: flags.comment }),
  });
  if (!screen.machine(operation)) screen.data(operationText(screen, operation));
  // What was asked for is the no, and it stands.
  const ended = decision === "reject" && operation.reason === "review_denied";
  return ended ? EXIT.ok : exitOfOperation(operation);
}

/** `writ approve --withdraw`: takes one's own yes back. */
export async function withdraw(context: Context, id: string): Promise<ExitCode> {
  const operation = await connected(context, "approver").withdraw(id);
  if (!context.screen.machine(operation)) context.screen.data(operationText(context.screen, operation));
  return operation.state === "proposed" ? EXIT.waiting : EXIT.ok;
}

/** Nobody can be asked here: whoever runs this has to have looked, and names what they looked at. */
function refuseUnasked({ screen }: Context, { yes, digest }: DecideFlags): void {
  if (screen.asks || (yes === true && digest !== undefined)) return;
  throw new Stop(
    EXIT.usage,
    "nobody can be asked here: add --yes, and --digest with the digest that you looked at",
  );
}

async function confirm(
  { screen }: Context,
  decision: "approve" | "reject",
  { yes, digest }: DecideFlags,
  view: ApprovalAnswer,
): Promise<void> {
  if (yes === true && digest !== undefined) return;
  const warned = view.fields.some(({ warnings, described }) => warnings.length > 0 || !described);
  if (warned) screen.talk(screen.tint.yellow("Look twice: some of the above is not what it may seem."));
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`Type ${decision} to ${decision} exactly this: `);
  lines.close();
  if (answer.trim() !== decision) throw new Stop(EXIT.error, "nothing was decided");
}

function whyNot({ asked, state }: ApprovalAnswer): string {
  const whys = [...new Set(asked.flatMap(({ why }) => why ?? []))];
  return whys.length === 0 ? `it is ${state}` : whys.join("; ");
}
