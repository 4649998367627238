import type { Instant } from "./ids.ts";
import type { Json, JsonObject } from "./json.ts";

/** People who must say yes before an operation may execute. */
export interface Requirement {
  /** The rule that asks, by id. */
  readonly policy: string;
  readonly role: string;
  readonly quorum: number;
  readonly withinMs: number;
  /** `second_person`: nobody through whom the authority ran. `principal`: the principal, in a session of their own. */
  readonly by: "second_person" | "principal";
  readonly reason: string;
  readonly assurance?: Assurance;
}

/** How sure it must be that it is this person, now. */
export interface Assurance {
  /** The digest is signed by the person's own authenticator. */
  readonly webauthn?: true;
  /** The session's authentication context class (OpenID Connect `acr`) is this one. */
  readonly acr?: string;
  /** The person authenticated at most so long ago (`auth_time`). */
  readonly maxAgeMs?: number;
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
  /** Of a deny: why, as the operation's reason. Default `denied`. */
  readonly reason?: "denied" | "revoked" | "expired";
  /** The permission ends no later than this. */
  readonly endsAt?: Instant;
  /** What was looked up for it. */
  readonly facts?: PolicyFacts;
}

/** What policy looked up elsewhere, kept with the decision so that it can be made again from the same. */
export interface PolicyFacts {
  /** Absent: nobody asked, or it could not be read. */
  readonly current?: Current;
  readonly recent?: Recent;
}

/** A resource as its provider showed it before the decision. */
export interface Current {
  readonly version?: string;
  readonly value?: Json;
}

/** What happened lately to operations on the resource. */
export interface Recent {
  readonly denials: number;
  readonly conflicts: number;
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
  readonly reason?: "denied" | "revoked" | "expired";
  /** The earliest end of what it rests on; absent when only the tool's own lifetime ends it. */
  readonly endsAt?: Instant;
  readonly facts?: PolicyFacts;
}

/** The intersection of all voices. With no voice at all the answer is deny. */
export function combine(opinions: readonly Opinion[], policyVersion: string, epoch: number): Decision {
  const denial = opinions.find((opinion) => opinion.effect === "deny");
  const all = {
    policyVersion,
    epoch,
    policies: [...new Set(opinions.flatMap((opinion) => opinion.policies))],
    requirements: distinct(opinions.flatMap((opinion) => opinion.requirements)),
    obligations: opinions.flatMap((opinion) => opinion.obligations),
    ...endOf(opinions),
    ...factsOf(opinions),
  };
  if (opinions.length === 0) return { ...all, effect: "deny", why: "no policy speaks for this" };
  if (denial !== undefined)
    return {
      ...all,
      effect: "deny",
      policies: denial.policies,
      why: denial.why ?? `denied by ${denial.of}`,
      ...(denial.reason === undefined ? {} : { reason: denial.reason }),
    };
  if (!opinions.some((opinion) => opinion.effect === "review")) return { effect: "allow", ...all };
  const why = all.requirements[0]?.reason;
  return why === undefined ? { ...all, effect: "review" } : { ...all, effect: "review", why };
}

/** One rule that speaks for the user and for a client alike asks its people once. */
function distinct(requirements: readonly Requirement[]): readonly Requirement[] {
  return [...new Map(requirements.map((each) => [JSON.stringify(each), each])).values()];
}

function endOf(opinions: readonly Opinion[]): Pick<Decision, "endsAt"> {
  const ends = opinions.flatMap(({ endsAt }) => endsAt ?? []);
  return ends.length === 0 ? {} : { endsAt: Math.min(...ends) };
}

function factsOf(opinions: readonly Opinion[]): Pick<Decision, "facts"> {
  const facts = opinions.find((opinion) => opinion.facts !== undefined)?.facts;
  return facts === undefined ? {} : { facts };
}

/** After a change of authority: does the new decision permit exactly what the old one permitted? */
export function sameAnswer(old: Pick<Decision, "effect" | "obligations">, fresh: Decision): boolean {
  return old.effect === fresh.effect && JSON.stringify(old.obligations) === JSON.stringify(fresh.obligations);
}

/** Autonomy is earned: without a fresh drill a person is asked, unless the operator chose otherwise. */
export function autonomyOpinion(
  autonomy: "drilled" | "allowed" | "never",
  drilled: boolean,
  role = "approver",
): Opinion | undefined {
  if (autonomy === "allowed" || (autonomy === "drilled" && drilled)) return undefined;
  const reason =
    autonomy === "never"
      ? "this tool always asks a person"
      : "no fresh drill has shown what this provider does when an answer is lost";
  const requirement: Requirement = {
    policy: `autonomy.${autonomy}`,
    role,
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
