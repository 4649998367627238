import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Contract } from "../../src/core/contract.ts";
import type { OperationId } from "../../src/core/ids.ts";
import type { State } from "../../src/core/operation.ts";
import type { Tool } from "../../src/core/tool.ts";
import { STOCK_TOOL } from "../support/rig.ts";
import { KINDS, orderTool } from "../support/shop.ts";

const CHILD = fileURLToPath(new URL("writ.child.mjs", import.meta.url));
const BOOTSTRAP = fileURLToPath(new URL("../../bin/bootstrap.mjs", import.meta.url));

/** Real time passes here, so that a lease is short: it still spans a pause and a request. */
const QUICK = { requestLifeMs: 600, maxPauseMs: 600, leaseMs: 1_500, backoff: { firstMs: 50, maxMs: 500 } };
const contract: Contract = { ...KINDS.key.contract, ...QUICK };
export const TOOLS: readonly Tool[] = [STOCK_TOOL, orderTool(contract)];

export interface Told {
  readonly databaseUrl: string;
  readonly providerUrl: string;
  readonly name: string;
  /** How many callers propose without end; none: it only works off what is due. */
  readonly callers: number;
  readonly tools?: readonly Tool[];
}

export interface Process {
  readonly child: ChildProcess;
  /** What a caller of this process was answered. */
  readonly acknowledged: { readonly id: OperationId; readonly state: State }[];
}

/** What ships is what runs: the children import dist, which is brought up to date here. */
export function build(): void {
  execFileSync(process.execPath, [BOOTSTRAP], { stdio: ["ignore", "inherit", "inherit"] });
}

export async function startWrit(told: Told): Promise<Process> {
  const child = fork(CHILD, [JSON.stringify({ tools: TOOLS, ...told })], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const acknowledged: Process["acknowledged"] = [];
  child.on("message", (message: { acknowledged?: Process["acknowledged"][number] }) => {
    if (message.acknowledged !== undefined) acknowledged.push(message.acknowledged);
  });
  await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => Promise.reject(new Error("the process ended before it was ready"))),
  ]);
  return { child, acknowledged };
}
