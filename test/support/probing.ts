import { onTestFinished } from "vitest";
import { httpConnector } from "../../src/connectors/http.ts";
import type { Contract } from "../../src/core/contract.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Probe } from "../../src/core/probe.ts";
import type { Tool } from "../../src/core/tool.ts";
import { probe } from "../../src/service/probe.ts";
import { toolWith } from "../connectors/errand.ts";
import { type Rig, rig } from "./rig.ts";

export const TOOL = "scratch.change";

/** A ledger with one tool on this provider, which was probed once. Its scratch resource is the item "scratch". */
export async function probing(
  base: string,
  contract: Contract,
  args: JsonObject,
  more: Partial<Tool> & { readonly rounds?: number } = {},
): Promise<{ readonly here: Rig; readonly found: Probe; again(): Promise<Probe> }> {
  const { rounds = 6, ...changes } = more;
  const connector = httpConnector({ base, allowPrivate: ["127.0.0.1"] });
  onTestFinished(() => connector.close());
  const tool = toolWith(contract, {
    name: TOOL,
    title: "Change something to try it",
    provider: "scratch",
    expectedVersion: contract.precondition.kind === "none" ? "none" : "required",
    ...changes,
  });
  const here = await rig({ tools: [tool], connectors: { scratch: connector } });
  const offered = here.ports.catalog.tool(here.session.tenantId, TOOL);
  if (offered === undefined) throw new Error("the rig offers its tools");
  const asked = { offered, arguments: { item: "scratch", ...args }, rounds, waitMaxMs: 3_000 };
  const again = (): Promise<Probe> => probe(here.ports, here.session.tenantId, asked, "ops");
  return { here, found: await again(), again };
}

export function verdicts({ measured }: Probe): Record<string, string> {
  return Object.fromEntries(measured.map(({ claim, verdict }) => [claim, verdict]));
}
