import type { Configuration } from "../../config.ts";
import type { Contract } from "../../core/contract.ts";

/** The same configuration with its HTTP providers at these addresses. */
export function pointedAt(
  configuration: Configuration,
  addresses: Readonly<Record<string, string>>,
): Configuration {
  const providers = Object.entries(configuration.providers).map(([name, settings]) => {
    const base = addresses[name];
    if (base === undefined || settings.transport !== "http") return [name, settings] as const;
    const there = { ...settings.settings, base, allowPrivate: ["127.0.0.1"] };
    return [name, { ...settings, settings: there }] as const;
  });
  return { ...configuration, providers: Object.fromEntries(providers) };
}

/** The same contracts with short times, so that a lost answer is cleared while somebody looks on. Their guarantees are not touched. */
export function hurried(configuration: Configuration): Configuration {
  const tools = configuration.tools.map((tool) =>
    tool.contract.transport === "http" ? { ...tool, contract: soon(tool.contract) } : tool,
  );
  return { ...configuration, tools };
}

// Long enough for a machine that is busy with other things; the lease is what the killed worker costs.
const REQUEST_LIFE_MS = 1_000;
const MAX_PAUSE_MS = 700;
/** requestLife + maxPause, and a moment to write down what was learned. */
const LEASE_MS = 1_800;

function soon(contract: Contract): Contract {
  return {
    ...contract,
    requestLifeMs: REQUEST_LIFE_MS,
    maxPauseMs: MAX_PAUSE_MS,
    leaseMs: LEASE_MS,
    backoff: { firstMs: 150, maxMs: 1_000 },
    settle: contract.settle.kind === "bounded" ? { kind: "bounded", forMs: 2_500 } : contract.settle,
  };
}
