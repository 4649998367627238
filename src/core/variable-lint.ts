import type { Contract, Match } from "./contract.ts";
import { requestsOf } from "./contract-requests.ts";
import type { Json } from "./json.ts";
import type { LintFinding } from "./lint-finding.ts";
import type { MessageForm } from "./message.ts";
import { knownName, variablesIn } from "./template.ts";
import type { Transport } from "./transport.ts";

/** Where variables stand, and which kinds of them have a value there. */
interface Place {
  readonly at: string;
  readonly value: Json | undefined;
  readonly secrets: boolean;
  readonly vars: boolean;
  /** There is an operation already. */
  readonly operation: boolean;
}

/** Variables that nobody vouches for: neither in the stored action, nor pinned settings, nor a secret where secrets may go. */
export function variableMistakes(contract: Contract, transport: Transport): readonly LintFinding[] {
  return placesOf(contract, transport).flatMap((place) =>
    variablesIn(place.value, place.at).flatMap(({ variable: { name }, at }) => {
      const mistake = mistakeOf(name, place, contract, transport);
      return mistake === undefined ? [] : [{ at, ...mistake }];
    }),
  );
}

function mistakeOf(
  name: string,
  place: Place,
  contract: Contract,
  { base }: Transport,
): Omit<LintFinding, "at"> | undefined {
  if (name === "base" && !base) {
    return {
      rule: "unknown-variable",
      says: `{{base}} has no value here: a provider of transport ${contract.transport} has no base; leave it out`,
    };
  }
  if (!knownName(name, place.vars ? contract.vars : {})) {
    const vars = name.startsWith("vars.")
      ? `; declare "${name.slice(5)}" under vars, and let vars use none`
      : "";
    return {
      rule: "unknown-variable",
      says: `{{${name}}} is neither in the authorized action, nor pinned settings, nor a secret, so nobody authorized what it would send${vars}`,
    };
  }
  if (name.startsWith("secret:") && !place.secrets) {
    return {
      rule: "secret-in-the-open",
      says: `{{${name}}} may stand in a header or a body only; addresses and answers are logged and kept`,
    };
  }
  if (!place.operation && /^(op|expected|vars)\./.test(name)) {
    return {
      rule: "read-before-operation",
      says: `{{${name}}} has no value when the resource is read for a proposal; use args, resource, tenant or base`,
    };
  }
  return undefined;
}

function placesOf(contract: Contract, { message }: Transport): readonly Place[] {
  const { barrier, completion, lookup, outcomes, vars } = contract;
  return [
    ...requestsOf(contract).flatMap(({ at, request }) => requestPlaces(at, message.parts(request))),
    ...outcomes.flatMap((rule, index) => matchPlaces(`/outcomes/${index}/when`, rule.when)),
    ...lookup.flatMap(({ found, absent, barrier: own, digestIs }, index) => [
      { at: `/lookup/${index}/digestIs`, value: digestIs, secrets: false, vars: true, operation: true },
      ...matchPlaces(`/lookup/${index}/found`, found),
      ...matchPlaces(`/lookup/${index}/absent`, absent),
      ...matchPlaces(`/lookup/${index}/barrier`, own),
    ]),
    ...(barrier.kind === "none" ? [] : matchPlaces("/barrier/raised", barrier.raised)),
    ...matchPlaces("/completion/done", completion?.done),
    ...matchPlaces("/completion/refused", completion?.refused),
    { at: "/vars", value: vars, secrets: false, vars: false, operation: true },
  ];
}

function requestPlaces(at: string, parts: ReturnType<MessageForm["parts"]>): readonly Place[] {
  const common = { vars: true, operation: at !== "/read/request" };
  return parts.map((part) => ({ ...part, at: `${at}${part.at}`, ...common }));
}

function matchPlaces(at: string, match: Match | undefined): readonly Place[] {
  if (match === undefined) return [];
  const common = { secrets: false, vars: true, operation: true };
  return [
    { at: `${at}/headers`, value: match.headers, ...common },
    { at: `${at}/body`, value: match.body, ...common },
    { at: `${at}/contains`, value: match.contains, ...common },
  ];
}
