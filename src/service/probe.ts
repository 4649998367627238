import type { Contract } from "../core/contract.ts";
import { type Measured, type Probe, verdictOf } from "../core/probe.ts";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import { namesOperation } from "../core/template.ts";
import type { Ports } from "./ports.ts";
import { type Bench, benchOf, type Probing, requireVariety } from "./probe-bench.ts";
import { probeIdentity } from "./probe-identity.ts";
import { probeBarrier, probeLookups } from "./probe-lookup.ts";
import { probePrecondition } from "./probe-precondition.ts";

const MEASURES: readonly ((bench: Bench) => Promise<readonly Measured[]>)[] = [
  probePrecondition,
  probeIdentity,
  probeLookups,
  probeBarrier,
];

/**
 * Measures what a provider really does with the writes of one tool: through the tool's own contract and connector, on a scratch resource
 * that an operator named. What it finds is kept in the ledger, and a claim that was measured false closes the tool.
 */
export async function probe(
  ports: Pick<Ports, "clock" | "entropy" | "catalog" | "ledger">,
  tenantId: Session["tenantId"],
  probing: Probing,
  actor: string,
): Promise<Probe> {
  const { offered } = probing;
  refuseNothingToMeasure(offered.tool.name, offered.tool.contract);
  requireVariety(probing, namesOperation(offered.tool.contract.request, offered.tool.contract.vars));
  const bench = benchOf(ports, tenantId, probing);
  const measured: Measured[] = [];
  // One after the other: they write the same resource.
  for (const measure of MEASURES) measured.push(...(await measure(bench)));
  const { digest: toolDigest, settingsDigest } = offered;
  const found: Probe = { toolDigest, settingsDigest, measured, verdict: verdictOf(measured) };
  await ports.ledger.keepProbe(tenantId, found, actor);
  return found;
}

function refuseNothingToMeasure(name: string, contract: Contract): void {
  const { request, precondition, identity, lookup, barrier } = contract;
  const claims =
    precondition.kind !== "none" || identity.kind !== "none" || lookup.length > 0 || barrier.kind !== "none";
  if (request !== undefined && claims) return;
  throw new Problem(
    "invalid",
    `the contract of ${name} claims nothing that a probe could measure: no precondition, no identity, no lookup, no barrier`,
  );
}
