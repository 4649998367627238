import type { Contract, Match, OutcomeMeaning, Picks } from "./contract.ts";
import { requestsOf } from "./contract-requests.ts";
import type { LintFinding } from "./lint-finding.ts";
import type { Transport } from "./transport.ts";

type Rule = (contract: Contract, transport: Transport) => readonly LintFinding[];

/** What a contract asks of its transport that the transport does not have, or that it does not prove. */
export function transportMistakes(contract: Contract, transport: Transport): readonly LintFinding[] {
  return RULES.flatMap((rule) => rule(contract, transport));
}

const RULES: readonly Rule[] = [
  somethingIsSent,
  messagesHold,
  phasesExist,
  phasesProve,
  headersExist,
  ownRules,
];

function ownRules(contract: Contract, { lint }: Transport): readonly LintFinding[] {
  return lint?.(contract) ?? [];
}

function finding(rule: string, at: string, says: string): readonly LintFinding[] {
  return [{ rule, at, says }];
}

function somethingIsSent(
  { transport, request, outcomes, lookup }: Contract,
  { local }: Transport,
): readonly LintFinding[] {
  if (local) {
    if (request === undefined && outcomes.length === 0 && lookup.length === 0) return [];
    return finding(
      "ledger-has-no-request",
      "/transport",
      `transport ${transport} commits the effect with the receipt and sends nothing; leave request, outcomes and lookup out`,
    );
  }
  return request === undefined
    ? finding(
        "request-missing",
        "/request",
        `transport ${transport} needs a request; write the one that changes the resource`,
      )
    : [];
}

/** What the transport's own grammar finds in a message. */
function messagesHold(contract: Contract, { message }: Transport): readonly LintFinding[] {
  return requestsOf(contract).flatMap(({ at, request }) => message.lint?.(request, at) ?? []);
}

function phasesExist({ transport, outcomes }: Contract, { phases }: Transport): readonly LintFinding[] {
  const known = Object.keys(phases);
  return outcomes.flatMap(({ when }, index) =>
    (when.phase ?? [])
      .filter((phase) => !known.includes(phase))
      .flatMap((phase) =>
        finding(
          "phase-unknown",
          `/outcomes/${index}/when/phase`,
          `transport ${transport} never reports the phase "${phase}"; ${known.length === 0 ? "it reports none" : `it reports ${known.join(", ")}`}`,
        ),
      ),
  );
}

/** After the first byte left, silence is a no only where the transport proves that nothing can happen any more. */
function phasesProve({ outcomes }: Contract, { phases }: Transport): readonly LintFinding[] {
  return outcomes.flatMap(({ when, is }, index) => {
    const open = when.phase?.find((phase) => phases[phase] === "unknown");
    if (when.phase === undefined || is === "unknown") return [];
    if (open === undefined && NOTHING.includes(is)) return [];
    const says =
      open === undefined
        ? `no answer came, so it cannot mean "${is}"; write one of ${NOTHING.join(", ")}, or unknown`
        : `an answer that is lost in phase "${open}" says nothing about the effect; write is: unknown`;
    return finding("silence-read-as-answer", `/outcomes/${index}/is`, says);
  });
}

/** What a silence may mean where nothing can have happened. */
const NOTHING: readonly OutcomeMeaning[] = ["not_sent", "transient_no", "final_no"];

function headersExist(contract: Contract, { headers }: Transport): readonly LintFinding[] {
  if (headers) return [];
  const { transport, read } = contract;
  const says = `an answer of transport ${transport} has no headers; look into its body`;
  return [
    ...answersOf(contract).flatMap(({ at, match, picks }) => [
      ...(match?.headers === undefined ? [] : finding("headers-unknown", `${at}/headers`, says)),
      ...Object.entries(picks ?? {}).flatMap(([name, from]) =>
        from.startsWith("header:") ? finding("headers-unknown", `${at}/${name}`, says) : [],
      ),
    ]),
    ...contract.lookup.flatMap(({ digestAt }, index) =>
      digestAt?.startsWith("header:") === true
        ? finding("headers-unknown", `/lookup/${index}/digestAt`, says)
        : [],
    ),
    ...(read !== undefined && "header" in read.version
      ? finding("headers-unknown", "/read/version/header", says)
      : []),
  ];
}

interface AnswerPlace {
  readonly at: string;
  readonly match?: Match | undefined;
  readonly picks?: Picks | undefined;
}

/** Every place of a contract that looks into an answer. */
function answersOf({ outcomes, lookup, barrier, completion }: Contract): readonly AnswerPlace[] {
  return [
    ...outcomes.flatMap(({ when, receipt }, index) => [
      { at: `/outcomes/${index}/when`, match: when },
      { at: `/outcomes/${index}/receipt`, picks: receipt },
    ]),
    ...lookup.flatMap((one, index) => [
      { at: `/lookup/${index}/found`, match: one.found },
      { at: `/lookup/${index}/absent`, match: one.absent },
      { at: `/lookup/${index}/barrier`, match: one.barrier },
      { at: `/lookup/${index}/receipt`, picks: one.receipt },
    ]),
    ...(barrier.kind === "none" ? [] : [{ at: "/barrier/raised", match: barrier.raised }]),
    { at: "/completion/done", match: completion?.done },
    { at: "/completion/refused", match: completion?.refused },
    { at: "/completion/receipt", picks: completion?.receipt },
  ];
}
