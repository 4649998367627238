import type { JsonObject } from "./json.ts";

/** People who must say yes before an operation may execute. */
interface Requirement {
  readonly role: string;
  readonly quorum: number;
  readonly withinMs: number;
  readonly by: "second_person" | "principal";
  readonly reason: string;
}

/** One voice: a policy evaluated for one principal, a delegation link's rules, the tool's autonomy. Silence is deny. */
export interface Opinion {
  readonly of: string;
  readonly effect: "allow" | "review" | "deny";
  /** The policies that spoke, by id. */
  readonly policies: readonly string[];
  readonly requirements: readonly Requirement[];
  readonly obligations: readonly JsonObject[];
  readonly why?: string;
}

/** Deny wins, silence is deny, an error is deny; obligations are the union over all voices. */
export interface Decision {
  readonly effect: "allow" | "review" | "deny";
  readonly policyVersion: string;
  /** Read before deciding; the claim compares it. */
  readonly epoch: number;
  readonly policies: readonly string[];
  readonly requirements: readonly Requirement[];
  readonly obligations: readonly JsonObject[];
  readonly why?: string;
}

/** The intersection of all voices. With no voice at all the answer is deny. */
export function combine(opinions: readonly Opinion[], policyVersion: string, epoch: number): Decision {
  const denial = opinions.find((opinion) => opinion.effect === "deny");
  const all = {
    policyVersion,
    epoch,
    policies: [...new Set(opinions.flatMap((opinion) => opinion.policies))],
    requirements: opinions.flatMap((opinion) => opinion.requirements),
    obligations: opinions.flatMap((opinion) => opinion.obligations),
  };
  if (opinions.length === 0) return { ...all, effect: "deny", why: "no policy speaks for this" };
  if (denial !== undefined)
    return { ...all, effect: "deny", policies: denial.policies, why: denial.why ?? `denied by ${denial.of}` };
  if (!opinions.some((opinion) => opinion.effect === "review")) return { effect: "allow", ...all };
  const why = all.requirements[0]?.reason;
  return why === undefined ? { ...all, effect: "review" } : { ...all, effect: "review", why };
}

/** After a change of authority: does the new decision permit exactly what the old one permitted? */
export function sameAnswer(old: Pick<Decision, "effect" | "obligations">, fresh: Decision): boolean {
  return old.effect === fresh.effect && JSON.stringify(old.obligations) === JSON.stringify(fresh.obligations);
}

/** Autonomy is earned: without a fresh drill a person is asked, unless the operator chose otherwise. */
export function autonomyOpinion(
  autonomy: "drilled" | "allowed" | "never",
  drilled: boolean,
): Opinion | undefined {
  if (autonomy === "allowed" || (autonomy === "drilled" && drilled)) return undefined;
  const reason =
    autonomy === "never"
      ? "this tool always asks a person"
      : "no fresh drill has shown what this provider does when an answer is lost";
  const requirement: Requirement = {
    role: "approver",
    quorum: 1,
    withinMs: 15 * 60_000,
    by: "second_person",
    reason,
  };
  return {
    of: "autonomy",
    effect: "review",
    policies: [`autonomy.${autonomy}`],
    requirements: [requirement],
    obligations: [],
  };
}
