/**
 * What a contract that says nothing is taken to say: the least that any provider keeps. Silence never promises: no identity, no lookup,
 * no precondition, and a sent request may act at any later time.
 */
export const CONTRACT_DEFAULTS = {
  requestLifeMs: 30_000,
  maxPauseMs: 5_000,
  /** Added to requestLife + maxPause: time to record what was learned before others begin to ask. */
  leaseSlackMs: 5_000,
  attemptsMax: 5,
  backoff: { firstMs: 1_000, maxMs: 300_000 },
  settle: { kind: "unbounded" },
  unclearMax: 5,
  window: { opens: "first_send", marginMs: 60_000, after: "executes" },
  duplicateMeans: "effect_or_in_flight",
  precondition: { atomic: "claimed", versions: "may_return", replay: "precondition_first" },
  /** A lookup's horizon is at least this, and never shorter than what settles an absence. */
  horizonMs: 3_600_000,
  /** Between two questions whether an accepted request has finished. */
  everyMs: 5_000,
} as const;
