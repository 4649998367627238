import type { Contract } from "./contract.ts";

/** The claims of a contract that a probe measures. */
type Claim =
  | "honoured"
  | "atomic"
  | "versions"
  | "same_identity"
  | "other_content"
  | "in_flight"
  | "window"
  | "lookup"
  | "barrier";

/** One claim beside what was measured. */
export interface Measured {
  readonly claim: Claim;
  /** Which one, where a contract has several: a lookup's name. */
  readonly of?: string;
  /** What the contract says, in a few words. */
  readonly claimed: string;
  /** What the provider did, in a few words. */
  readonly measured: string;
  /** `unmeasured`: neither was shown. */
  readonly verdict: "held" | "broken" | "unmeasured";
  /** One plain sentence for whoever has to act on it. */
  readonly says: string;
}

/** `holds`: every claim was measured, and held. `unclear`: none was broken, and some could not be measured. */
export type ProbeVerdict = "holds" | "broken" | "unclear";

/** What one tool's provider really did, under exactly this definition and these settings. */
export interface Probe {
  readonly toolDigest: string;
  readonly settingsDigest: string;
  readonly measured: readonly Measured[];
  readonly verdict: ProbeVerdict;
}

export function verdictOf(measured: readonly Measured[]): ProbeVerdict {
  if (measured.some(({ verdict }) => verdict === "broken")) return "broken";
  return measured.length > 0 && measured.every(({ verdict }) => verdict === "held") ? "holds" : "unclear";
}

interface Pinned {
  readonly digest: string;
  readonly settingsDigest: string;
}

function probeOf(probes: readonly Probe[], { digest, settingsDigest }: Pinned): Probe | undefined {
  return probes.find((probe) => probe.toolDigest === digest && probe.settingsDigest === settingsDigest);
}

/** Why a tool takes nothing more: its last probe found a claim of its contract untrue. */
export function closedBy(probes: readonly Probe[], tool: Pinned): string | undefined {
  return probeOf(probes, tool)?.measured.find(({ verdict }) => verdict === "broken")?.says;
}

/** The contract as far as it was measured: somebody's word about atomic writes counts as probed once a probe has shown it. */
export function asMeasured(contract: Contract, probes: readonly Probe[], tool: Pinned): Contract {
  const { precondition } = contract;
  if (precondition.kind === "none" || precondition.atomic === "probed") return contract;
  const held = ["honoured", "atomic"].every((claim) =>
    probeOf(probes, tool)?.measured.some((one) => one.claim === claim && one.verdict === "held"),
  );
  return held ? { ...contract, precondition: { ...precondition, atomic: "probed" } } : contract;
}
