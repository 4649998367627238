import type { ListOptions } from "../client.ts";
import type { OperationAnswer } from "../wire.ts";
import { type Context, connected } from "./context.ts";
import { EXIT, type ExitCode, exitOfOperation } from "./exit.ts";
import { explanationText, historyText, operationsText, operationText, stateText } from "./operation-view.ts";
import { progress } from "./progress.ts";
import { decodeReceipt } from "./receipt-view.ts";

export interface ListFlags extends Omit<ListOptions, "cursor" | "limit"> {
  readonly max: number;
}

const PAGE_MAX = 100;

/** `writ op ls`: newest first; as many pages as it takes. */
export async function opList(context: Context, { max, ...query }: ListFlags): Promise<ExitCode> {
  const { screen } = context;
  const client = connected(context, "operator");
  const operations: OperationAnswer[] = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(PAGE_MAX, max - operations.length);
    const page = await client.list({ ...query, limit, ...(cursor === undefined ? {} : { cursor }) });
    operations.push(...page.operations);
    cursor = page.cursor;
  } while (cursor !== undefined && operations.length < max);
  if (screen.machine(operations)) return EXIT.ok;
  if (operations.length === 0) screen.talk("No operations here. `writ propose` makes one.");
  else screen.data(operationsText(screen, operations, Date.now()));
  if (cursor !== undefined)
    screen.talk(screen.tint.dim(`There are more; --max ${max * 4} shows more of them.`));
  return EXIT.ok;
}

export async function opShow(context: Context, id: string): Promise<ExitCode> {
  return shown(context, await connected(context, "operator").get(id), EXIT.ok);
}

export async function opExplain(context: Context, id: string): Promise<ExitCode> {
  const explanation = await connected(context, "operator").explain(id);
  if (!context.screen.machine(explanation)) context.screen.data(explanationText(context.screen, explanation));
  return EXIT.ok;
}

/** `writ op wait`: until it has settled or needs a person. The exit code says how it ended. */
export async function opWait(
  context: Context,
  id: string,
  flags: { readonly timeout: number },
): Promise<ExitCode> {
  const client = connected(context, "operator");
  const waiting = progress(context.screen);
  const before = await client.get(id);
  waiting.phase(`${id} is ${stateText(before)}`);
  const operation = await client.wait(id, flags.timeout * 1000).finally(() => waiting.end());
  return shown(context, operation, exitOfOperation(operation));
}

export async function opCancel(context: Context, id: string): Promise<ExitCode> {
  return shown(context, await connected(context, "agent").cancel(id), EXIT.ok);
}

export async function opExecute(context: Context, id: string): Promise<ExitCode> {
  const operation = await connected(context, "agent").execute(id);
  return shown(context, operation, exitOfOperation(operation));
}

/** `writ reconcile`: asks the provider now. */
export async function reconcile(context: Context, id: string): Promise<ExitCode> {
  const operation = await connected(context, "operator").reconcile(id);
  return shown(context, operation, exitOfOperation(operation));
}

export async function opReceipt(
  context: Context,
  id: string,
  flags: { readonly jws?: boolean },
): Promise<ExitCode> {
  const receipt = await connected(context, "operator").receipt(id);
  const { screen } = context;
  if (flags.jws === true) screen.data(receipt.jws);
  else if (!screen.machine(receipt)) screen.data(decodeReceipt(screen, receipt));
  return EXIT.ok;
}

export async function opEvents(context: Context, id: string): Promise<ExitCode> {
  const history = await connected(context, "operator").events(id);
  const { screen } = context;
  // One event for each line is what a stream of them looks like.
  if (!screen.machine(screen.format === "jsonl" ? history.events : history))
    screen.data(historyText(screen, history));
  return history.chainBroken === undefined ? EXIT.ok : EXIT.error;
}

function shown({ screen }: Context, operation: OperationAnswer, exit: ExitCode): ExitCode {
  if (!screen.machine(operation)) screen.data(operationText(screen, operation));
  return exit;
}
