import type { TenantId } from "../core/ids.ts";
import type { Current, Opinion, PolicyFacts, Recent } from "../core/policy.ts";
import type { Tool } from "../core/tool.ts";
import type { Authority } from "../service/ledger-port.ts";
import {
  digestOfVersion,
  type PastQuestion,
  type PolicyBench,
  type PolicyStore,
  type PolicyText,
} from "../service/policy-port.ts";
import type { ApprovalQuestion, Log, PolicyEngine, PolicyQuestion } from "../service/ports.ts";
import { parsed } from "./load.ts";
import type { Asked } from "./model.ts";
import { approvalRequest, type PrincipalKind, principalsOf, requestOf, subjectOf } from "./request.ts";
import { mistakesIn, policyDigest, type Ruleset, rulesetOf } from "./ruleset.ts";
import type { Verdict } from "./slice.ts";

export interface CedarParts {
  readonly store: Pick<PolicyStore, "read">;
  /** What is offered: what the rules have to fit. */
  readonly tools: readonly Tool[];
  readonly environment: "development" | "production";
  readonly look: Look;
  readonly log: Log;
  /** Verdicts remembered for each version of the rules. */
  readonly verdictsMax?: number;
}

/** Where rules that ask for it get what neither the action nor the session says. */
interface Look {
  /** Undefined where it cannot be read, or not in time. */
  current(question: PolicyQuestion, signal: AbortSignal): Promise<Current | undefined>;
  recent(tenantId: TenantId, resource: string): Promise<Recent>;
}

const VERDICTS_MAX = 5_000;
// One for each tenant; what is let go is compiled again, which takes as long as checking it.
const RULESETS_MAX = 512;
const CURRENT_MAX_MS = 2_000;

/**
 * Policy in Cedar: one evaluation for each principal, of the rules of one tool, under the version that stands. Whatever goes wrong, with a
 * rule, with an argument or with Cedar itself, is a no that says why.
 */
export function cedarEngine(parts: CedarParts): PolicyEngine {
  const standing = rulesets(parts);
  return {
    version: ({ policyVersion }) => policyVersion,
    opinions: async (question) => {
      try {
        return await opinionsOf(
          parts,
          await standing(question.session.tenantId, question.authority),
          question,
        );
      } catch (error) {
        return [broken(parts, question.session.tenantId, error)];
      }
    },
    approves: async (question) => {
      try {
        return approves(await standing(question.session.tenantId, question.authority), question, parts);
      } catch (error) {
        broken(parts, question.session.tenantId, error);
        return false;
      }
    },
  };
}

/** The rules that stand for a tenant, compiled once for each content. What does not fit the tools stays broken until other rules stand. */
function rulesets({
  store,
  tools,
  verdictsMax,
}: CedarParts): (tenant: TenantId, now: Authority) => Promise<Ruleset> {
  const compiled = new Map<string, Ruleset | Error>();
  const compile = async (tenantId: TenantId, digest: string): Promise<Ruleset | Error> => {
    const text = await store.read(tenantId, digest);
    if (text === undefined) return new Error("the rules that stand are not in the ledger");
    // Whoever changes a row behind our back changes nothing.
    if (policyDigest(text) !== digest)
      return new Error("the rules that stand were changed after they were stored");
    try {
      return rulesetOf(text, tools, verdictsMax ?? VERDICTS_MAX);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  return async (tenantId, { policyVersion }) => {
    if (policyVersion === "") throw new Error("no policy stands for this tenant");
    const digest = digestOfVersion(policyVersion);
    // By version: what one version remembers is gone with it, also where the next says the same.
    const name = JSON.stringify([tenantId, policyVersion]);
    const known = compiled.get(name) ?? (await compile(tenantId, digest));
    if (compiled.size >= RULESETS_MAX && !compiled.has(name))
      compiled.delete(compiled.keys().next().value ?? "");
    compiled.set(name, known);
    if (known instanceof Error) throw known;
    return known;
  };
}

async function opinionsOf(
  parts: CedarParts,
  rules: Ruleset,
  question: PolicyQuestion,
): Promise<readonly Opinion[]> {
  const { asked } = rules.slice(question.tool);
  const facts = await factsFor(parts, asked, question);
  return judged(rules, question, { environment: parts.environment, facts });
}

function judged(
  rules: Ruleset,
  question: PolicyQuestion,
  around: { readonly environment: string; readonly facts: PolicyFacts },
): readonly Opinion[] {
  const { session, tool } = question;
  const slice = rules.slice(tool);
  const subject = subjectOf(question, slice.visible, { ...around, asked: slice.asked });
  const opinions: Opinion[] = [];
  for (const principal of principalsOf(session)) {
    const request = requestOf(session, tool.name, subject, principal);
    const verdict = rules.verdicts.evaluate(slice.of[principal.kind], request);
    opinions.push(opinionOf(verdict, principal, around.facts));
    // One no is enough; nobody is asked after it.
    if (verdict.effect === "deny") break;
  }
  return opinions;
}

function opinionOf(
  verdict: Verdict,
  { kind, name }: { readonly kind: PrincipalKind; readonly name: string },
  facts: PolicyFacts,
): Opinion {
  const { effect, policies, requirements, why } = verdict;
  const of = kind === "user" ? `user ${name}` : `client ${name}`;
  const said = why === undefined ? {} : { why: kind === "user" ? why : `${of}: ${why}` };
  const seen = Object.keys(facts).length === 0 ? {} : { facts };
  return { of, effect, policies, requirements, obligations: [], ...said, ...seen };
}

/** Only what a rule asks for is asked for. What cannot be read is not there, and the rules that ask have to say what then. */
async function factsFor({ look }: CedarParts, asked: Asked, question: PolicyQuestion): Promise<PolicyFacts> {
  const { session, resource } = question;
  const current = asked.current ? await currentOf(look, question) : undefined;
  const recent = asked.recent
    ? await look.recent(session.tenantId, `${resource.type}:${resource.id}`)
    : undefined;
  return { ...(current === undefined ? {} : { current }), ...(recent === undefined ? {} : { recent }) };
}

async function currentOf(look: Look, question: PolicyQuestion): Promise<Current | undefined> {
  try {
    return await look.current(question, AbortSignal.timeout(CURRENT_MAX_MS));
  } catch {
    return undefined;
  }
}

function approves(rules: Ruleset, question: ApprovalQuestion, { environment }: CedarParts): boolean {
  const request = approvalRequest(question, environment);
  return rules.verdicts.evaluate(rules.approvals, request).effect === "allow";
}

/** Said to whoever asked and to the operator alike: a policy that errs is a policy that nobody can rely on. */
function broken({ log }: Pick<CedarParts, "log">, tenantId: TenantId, error: unknown): Opinion {
  const why = error instanceof Error ? error.message : String(error);
  log.warn("policy", { tenant: tenantId, what: "policy could not be asked and denies", why });
  return { of: "policy", effect: "deny", policies: [], requirements: [], obligations: [], why };
}

/** Rules before they stand, and what they would have said. */
export function policyBench(parts: Pick<CedarParts, "tools" | "environment" | "log">): PolicyBench {
  const compiled = new Map<string, Ruleset>();
  const rulesetFor = (policy: PolicyText): Ruleset => {
    const digest = policyDigest(policy);
    const rules = compiled.get(digest) ?? rulesetOf(policy, parts.tools, 0);
    if (compiled.size >= RULESETS_MAX && !compiled.has(digest)) compiled.clear();
    compiled.set(digest, rules);
    return rules;
  };
  return {
    digest: policyDigest,
    check: (policy) => mistakesIn(policy, parts.tools),
    rules: (policy) =>
      parsed(policy).rules.map(({ id, effect, text, place }) => ({ id, effect, text, place })),
    looksUp: (policy, tool) => {
      try {
        return rulesetFor(policy).slice(tool).asked;
      } catch {
        return undefined;
      }
    },
    judge: (policy, past) => {
      try {
        return judgePast(rulesetFor(policy), past, parts.environment);
      } catch (error) {
        return [broken(parts, past.session.tenantId, error)];
      }
    },
  };
}

function judgePast(rules: Ruleset, past: PastQuestion, environment: string): readonly Opinion[] {
  const { session, tool, action, facts } = past;
  const question: PolicyQuestion = {
    session,
    tool,
    resource: action.resource,
    arguments: action.arguments,
    ...(action.expectedVersion === undefined ? {} : { expectedVersion: action.expectedVersion }),
    authority: { epoch: 0, offered: "", halts: [], probes: [], policyVersion: "" },
  };
  return judged(rules, question, { environment, facts });
}
