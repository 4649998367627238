import { certaintyMistakes } from "./certainty-lint.ts";
import { authoritativeLookup, type Contract } from "./contract.ts";
import type { Json } from "./json.ts";
import type { LintFinding } from "./lint-finding.ts";
import { shadowedOutcomes } from "./outcome-shadow.ts";
import { namesOperation, variablesIn } from "./template.ts";
import { TRANSPORTS, type Transport, type Transports, transportNamed } from "./transport.ts";
import { transportMistakes } from "./transport-lint.ts";
import { variableMistakes } from "./variable-lint.ts";

export type { LintFinding } from "./lint-finding.ts";

type Rule = (contract: Contract, transport: Transport) => readonly LintFinding[];

/** What a contract says against itself. Empty: it may be loaded. What cannot even be written is refused by `parseContract`. */
export function lintContract(
  contract: Contract,
  transports: Transports = TRANSPORTS,
): readonly LintFinding[] {
  const transport = transportNamed(contract.transport, transports);
  if (transport === undefined)
    return finding("transport-unknown", "/transport", `nobody here speaks ${contract.transport}`);
  return RULES.flatMap((rule) => rule(contract, transport));
}

const RULES: readonly Rule[] = [
  transportMistakes,
  leaseCoversARequest,
  settleCoversARequest,
  windowAllowsARepeat,
  identityIsSent,
  preconditionIsSent,
  sameVersionIsExact,
  validatorsAreStrong,
  lookupsNameTheOperation,
  horizonsReachTheSettling,
  barrierHolds,
  completionNamesTheOperation,
  somethingConfirms,
  duplicatesNeedAnIdentity,
  certaintyMistakes,
  shadowedOutcomes,
  variableMistakes,
];

function finding(rule: string, at: string, says: string): readonly LintFinding[] {
  return [{ rule, at, says }];
}

function names(contract: Contract, value: object): boolean {
  return namesOperation(value as Json, contract.vars); // Templates and matches are plain JSON; their types only name the members.
}

function leaseCoversARequest({ leaseMs, maxPauseMs, requestLifeMs }: Contract): readonly LintFinding[] {
  if (leaseMs >= maxPauseMs + requestLifeMs) return [];
  return finding(
    "lease-too-short",
    "/lease",
    `a lease of ${leaseMs} ms ends before a request may (maxPause + requestLife = ${maxPauseMs + requestLifeMs} ms); make it at least that long`,
  );
}

function settleCoversARequest({ settle, maxPauseMs, requestLifeMs }: Contract): readonly LintFinding[] {
  if (settle.kind === "unbounded" || settle.forMs >= maxPauseMs + requestLifeMs) return [];
  return finding(
    "settle-too-short",
    "/settle",
    `a request may still be under way ${maxPauseMs + requestLifeMs} ms after its claim (maxPause + requestLife); settle must be at least that, plus what the provider takes`,
  );
}

function windowAllowsARepeat({ identity, maxPauseMs, requestLifeMs }: Contract): readonly LintFinding[] {
  if (identity.kind === "none" || identity.window.forMs === null || identity.window.after === "refuses")
    return [];
  const { forMs, marginMs } = identity.window;
  if (forMs > marginMs + maxPauseMs + requestLifeMs) return [];
  return finding(
    "window-too-short",
    "/identity/window",
    `a window of ${forMs} ms is over before any repeat could arrive (margin + maxPause + requestLife = ${marginMs + maxPauseMs + requestLifeMs} ms); shorten those, or write identity: none`,
  );
}

/** What the provider cannot see, it cannot recognize. */
function identityIsSent(contract: Contract): readonly LintFinding[] {
  const { identity, request } = contract;
  if (
    request === undefined ||
    identity.kind === "none" ||
    identity.kind === "same_version" ||
    names(contract, request)
  )
    return [];
  return finding(
    "identity-not-sent",
    "/request",
    `identity ${identity.kind} is never sent; put {{op.key}} or {{op.id}} where the provider looks for it, or write identity: none`,
  );
}

function preconditionIsSent({ precondition, identity, request }: Contract): readonly LintFinding[] {
  if (request === undefined || (precondition.kind === "none" && identity.kind !== "same_version")) return [];
  const sent = variablesIn(request as unknown as Json).some(
    ({ variable }) => variable.name === "expected.version",
  ); // Plain JSON; see above.
  if (sent) return [];
  return finding(
    "precondition-not-sent",
    "/request",
    "the condition is never sent; put {{expected.version}} where the provider checks it, or write precondition: none",
  );
}

function sameVersionIsExact({ identity, precondition }: Contract): readonly LintFinding[] {
  if (identity.kind !== "same_version") return [];
  if (
    // Somebody's word about atomic writes is no repeat's ground either: until a probe has measured it, the identity is not used.
    precondition.kind !== "none" &&
    precondition.versions === "never_return"
  )
    return [];
  return finding(
    "same-version-unproved",
    "/identity/kind",
    "same_version makes a repeat safe only under a precondition whose versions never return; write versions: never_return and run `writ probe`, or write identity: none",
  );
}

/** RFC 9110 13.1.1: If-Match compares strongly. */
function validatorsAreStrong({ precondition, read }: Contract): readonly LintFinding[] {
  if (precondition.kind !== "etag" || read === undefined || read.require === "strong") return [];
  return finding(
    "weak-validator",
    "/read/require",
    "If-Match needs a strong validator; write require: strong, or a precondition that the provider compares otherwise",
  );
}

function lookupsNameTheOperation(contract: Contract): readonly LintFinding[] {
  return contract.lookup.flatMap((lookup, index) => {
    if (names(contract, lookup.request)) return [];
    if (lookup.strength === "positive" && names(contract, lookup.found)) return [];
    const more =
      lookup.strength === "positive"
        ? ', or compare the answer with it in "found"'
        : "; only a question about this operation can prove that it is not there";
    return finding(
      "lookup-by-resemblance",
      `/lookup/${index}/request`,
      `"${lookup.name}" asks for something that looks right, not for this operation; put {{op.id}}, {{op.key}} or {{op.digest}} into it${more}`,
    );
  });
}

function horizonsReachTheSettling({ lookup, settle }: Contract): readonly LintFinding[] {
  if (settle.kind === "unbounded") return [];
  return lookup.flatMap(({ name, strength, lagMs, horizonMs }, index) => {
    if (strength === "positive" || horizonMs >= settle.forMs + lagMs) return [];
    return finding(
      "horizon-too-short",
      `/lookup/${index}/horizon`,
      `"${name}" stops asking before nothing-there could be believed (settle + lag = ${settle.forMs + lagMs} ms); make the horizon at least that long`,
    );
  });
}

function barrierHolds(contract: Contract): readonly LintFinding[] {
  const { barrier } = contract;
  if (barrier.kind === "none") return [];
  const named = names(contract, barrier.request);
  return [
    ...(named
      ? []
      : finding(
          "barrier-unnamed",
          "/barrier/request",
          "the barrier does not name our operation and could stop another's; put {{op.id}} or {{op.key}} into it",
        )),
    ...(authoritativeLookup(contract) === undefined
      ? finding(
          "barrier-without-lookup",
          "/barrier",
          "after the barrier somebody must look whether it came too late; add a lookup with strength: authoritative, or write barrier: none",
        )
      : []),
  ];
}

function completionNamesTheOperation(contract: Contract): readonly LintFinding[] {
  const { completion } = contract;
  if (completion === undefined || names(contract, completion.request) || names(contract, completion.done))
    return [];
  return finding(
    "completion-unnamed",
    "/completion/request",
    "the question whether it has finished does not name our operation; put {{op.id}} or {{op.key}} into it",
  );
}

function somethingConfirms(
  { outcomes, lookup, completion }: Contract,
  { local }: Transport,
): readonly LintFinding[] {
  if (local || lookup.length > 0) return [];
  const says = (meaning: string) => outcomes.some((rule) => rule.is === meaning);
  if (says("effect") || says("duplicate") || (says("accepted") && completion !== undefined)) return [];
  return finding(
    "nothing-confirms",
    "/outcomes",
    "no answer means that it happened, so every operation would end with a person; add an outcome that is: effect",
  );
}

function duplicatesNeedAnIdentity({ identity, outcomes }: Contract): readonly LintFinding[] {
  if (identity.kind !== "none") return [];
  return outcomes.flatMap((rule, index) =>
    rule.is === "duplicate"
      ? finding(
          "duplicate-without-identity",
          `/outcomes/${index}`,
          "without an identity the provider cannot know that this is a duplicate of ours; declare the identity, or write is: unknown",
        )
      : [],
  );
}
