import { authoritativeLookup, type Contract, type Match, type OutcomeRule } from "./contract.ts";
import type { LintFinding } from "./lint-finding.ts";
import { statusMatches } from "./match.ts";

type Rule = (contract: Contract) => readonly LintFinding[];

/** What a contract takes for more than it proves. */
export function certaintyMistakes(contract: Contract): readonly LintFinding[] {
  return RULES.flatMap((rule) => rule(contract));
}

const RULES: readonly Rule[] = [
  statusAloneDecidesNothing,
  oneEffectAnAnswer,
  replayFits,
  fenceSeesAtOnce,
  retriesFitTheWindow,
];

function finding(rule: string, at: string, says: string): readonly LintFinding[] {
  return [{ rule, at, says }];
}

/**
 * HTTP statuses that providers which recognize repeats answer with several meanings: in flight, done before, other content under the same
 * identity, a request cut off on its way, and a plain no. Elsewhere the numbers are our own connector's, each with one meaning.
 */
const AMBIGUOUS: readonly number[] = [400, 408, 409, 422, 425];
const NO: readonly OutcomeRule["is"][] = ["final_no", "not_found", "transient_no", "not_sent"];

function statusAloneDecidesNothing({ transport, identity, outcomes }: Contract): readonly LintFinding[] {
  if (transport !== "http" || identity.kind === "none" || identity.kind === "same_version") return [];
  return outcomes.flatMap(({ when, is }, index) => {
    const alone = when.phase === undefined && !looksInside(when);
    const status = AMBIGUOUS.find((candidate) => statusMatches(when, candidate));
    if (!alone || status === undefined || !NO.includes(is)) return [];
    return finding(
      "status-alone",
      `/outcomes/${index}/when`,
      `a ${status} may also mean "still running", "done before" or "other content" to a provider that recognizes repeats; look for the no in its body or a header, and leave the rest unknown`,
    );
  });
}

function looksInside({ headers, body, contains }: Match): boolean {
  return headers !== undefined || body !== undefined || contains !== undefined;
}

/** RFC 4918 13: a 207 reports several results, some of which may be a no. */
function oneEffectAnAnswer({ outcomes }: Contract): readonly LintFinding[] {
  return outcomes.flatMap(({ when, is }, index) => {
    if (is !== "effect" || when.phase !== undefined || !statusMatches(when, 207)) return [];
    if (looksInside(when)) return [];
    return finding(
      "several-effects",
      `/outcomes/${index}/when`,
      "a 207 reports several results, and an operation has no half; name the statuses that mean the one effect",
    );
  });
}

/** What a repeat is answered by is a claim about the provider's memory, so there must be one, and it must be read. */
function replayFits({ precondition, identity, outcomes }: Contract): readonly LintFinding[] {
  if (precondition.kind === "none") return [];
  const { replay } = precondition;
  const forgets = identity.kind === "none" || identity.kind === "same_version";
  if (replay !== "precondition_first" && forgets) {
    return finding(
      "replay-without-identity",
      "/precondition/replay",
      `replay: ${replay} needs a provider that remembers our operation, and identity ${identity.kind} gives it nothing to remember; declare the key or marker, or write precondition_first`,
    );
  }
  if (replay === "marker_visible" && !outcomes.some(({ is }) => is === "duplicate")) {
    return finding(
      "marker-not-read",
      "/outcomes",
      "replay: marker_visible says that the failed condition comes with our marker, and no outcome reads it; add one that is: duplicate before precondition_failed",
    );
  }
  return [];
}

/** A tombstone takes the place where the effect would stand. A fence takes none, so nothing shows what slipped in before it. */
function fenceSeesAtOnce(contract: Contract): readonly LintFinding[] {
  const lookup = authoritativeLookup(contract);
  if (contract.barrier.kind !== "fence" || lookup === undefined || lookup.lagMs === 0) return [];
  return finding(
    "fence-behind-a-lag",
    "/barrier/kind",
    `"${lookup.name}" may show an effect ${lookup.lagMs} ms late, and a fence leaves nothing that shows what came before it; use a lookup with lag: 0s or a tombstone, or write barrier: none`,
  );
}

function retriesFitTheWindow({ identity, maxPauseMs, requestLifeMs }: Contract): readonly LintFinding[] {
  if (identity.kind === "none" || identity.minRetryDelayMs === undefined) return [];
  const { forMs, marginMs, after } = identity.window;
  if (forMs === null || after === "refuses") return [];
  const neededMs = identity.minRetryDelayMs + marginMs + maxPauseMs + requestLifeMs;
  if (forMs > neededMs) return [];
  return finding(
    "retry-after-the-window",
    "/identity/minRetryDelay",
    `the provider forgets after ${forMs} ms, before a repeat that waits could arrive (minRetryDelay + margin + maxPause + requestLife = ${neededMs} ms); shorten those, or write identity: none`,
  );
}
