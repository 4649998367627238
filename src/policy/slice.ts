import {
  type AuthorizationAnswer,
  type PolicyJson,
  statefulIsAuthorized,
} from "@cedar-policy/cedar-wasm/nodejs";
import type { Requirement } from "../core/policy.ts";
import type { Tool } from "../core/tool.ts";
import { actionsOf, type Rule } from "./load.ts";
import { APPROVE, type Asked, approveSchema, groupsOf, NAMESPACE, type Schema, toolSchema } from "./model.ts";
import { mentions, type Reads, readsOf } from "./reads.ts";
import type { CedarRequest, PrincipalKind } from "./request.ts";
import { type Visible, visible } from "./schema.ts";
import { nameOfSet, type Preparsed, slotOf } from "./slots.ts";

/** What one principal is told. */
export interface Verdict {
  readonly effect: "allow" | "review" | "deny";
  readonly policies: readonly string[];
  readonly requirements: readonly Requirement[];
  readonly why?: string;
}

/** The rules that can speak about one tool, by who is asked. Slicing only leaves out what could never apply. */
export interface Slice {
  readonly visible: Visible;
  readonly asked: Asked;
  readonly of: Readonly<Record<PrincipalKind, SliceOf>>;
}

/** The rules for one kind of principal: with those that people can lift, and without. */
export interface SliceOf {
  readonly reads: Reads;
  evaluate(request: CedarRequest): Verdict;
}

export function sliceFor(rules: readonly Rule[], tool: Tool): Slice {
  const about = rules.filter((rule) => speaksOf(rule.json, tool));
  const kinds = ["user", "client", "itself"] as const;
  const sets = kinds.map((kind) => about.filter((rule) => speaksTo(rule, kind)));
  const reads = sets.map((set) => readsOf(set.map(({ json }) => json)));
  const asked: Asked = {
    current: reads.some((each) => mentions(each, "current")),
    recent: reads.some((each) => mentions(each, "recent")),
  };
  const schema = toolSchema(tool, asked);
  const of = (index: number) => evaluator(sets[index] ?? [], reads[index] ?? readsOf([]), schema);
  return { visible: visible(tool.input), asked, of: { user: of(0), client: of(1), itself: of(2) } };
}

/** The rules about who may answer for a requirement. */
export function approvalSlice(rules: readonly Rule[]): SliceOf {
  const about = rules.filter(
    (rule) =>
      actionsOf(rule.json)?.includes(APPROVE) !== false &&
      isOf(rule.json.principal, "User") &&
      isOf(rule.json.resource, "Operation"),
  );
  return evaluator(about, readsOf(about.map(({ json }) => json)), approveSchema());
}

/** Can the head of a rule fit a request for this tool? */
export function speaksOf(json: PolicyJson, tool: Tool): boolean {
  const actions = actionsOf(json);
  const named = [tool.name, ...groupsOf(tool.name)];
  return (
    (actions === undefined || actions.some((name) => named.includes(name))) &&
    isOf(json.resource, tool.resource.type)
  );
}

/** A service that acts for itself is permitted only by rules whose head says so; forbids stand for everybody. */
function speaksTo({ json, effect }: Rule, kind: PrincipalKind): boolean {
  if (!isOf(json.principal, kind === "user" ? "User" : "Service")) return false;
  return kind !== "itself" || effect === "forbid" || namesService(json.principal);
}

function namesService(principal: PolicyJson["principal"]): boolean {
  if (principal.op === "is") return principal.entity_type === `${NAMESPACE}::Service`;
  return (
    principal.op === "==" && "entity" in principal && typeIn(principal.entity) === `${NAMESPACE}::Service`
  );
}

/** Can the head of a rule fit an entity of this type? */
function isOf(constraint: PolicyJson["principal"], type: string): boolean {
  const full = `${NAMESPACE}::${type}`;
  if (constraint.op === "is") return constraint.entity_type === full;
  if (constraint.op === "==" && "entity" in constraint) return typeIn(constraint.entity) === full;
  return true;
}

function typeIn(
  entity: { readonly type: string } | { readonly __entity: { readonly type: string } },
): string {
  return "__entity" in entity ? entity.__entity.type : entity.type;
}

function evaluator(rules: readonly Rule[], reads: Reads, schema: Schema): SliceOf {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const setOf = (some: readonly Rule[]): { set: Preparsed; name: () => string } => {
    const set = { policies: Object.fromEntries(some.map(({ id, text }) => [id, text])), schema };
    let name: string | undefined;
    return {
      set,
      name: () => {
        name ??= nameOfSet(set);
        return name;
      },
    };
  };
  const all = setOf(rules);
  const hard = setOf(rules.filter(({ requirement }) => requirement === undefined));
  const ask = ({ set, name }: typeof all, request: CedarRequest) => asked(name(), set, request);
  return {
    reads,
    evaluate: (request) => {
      const first = ask(all, request);
      if (first.kind === "error") return silent(first.why);
      if (first.decision === "allow") return { effect: "allow", policies: first.policies, requirements: [] };
      const speaking = first.policies.map((id) => byId.get(id));
      const requirements = speaking.flatMap((rule) => rule?.requirement ?? []);
      if (requirements.length === 0 || requirements.length !== speaking.length)
        return denied(first.policies, byId);
      // Nobody is asked to approve what would be denied anyway.
      const second = ask(hard, request);
      if (second.kind === "error") return silent(second.why);
      if (second.decision === "deny") return denied(second.policies, byId);
      return { effect: "review", policies: [...second.policies, ...first.policies], requirements };
    },
  };
}

function silent(why: string): Verdict {
  return { effect: "deny", policies: [], requirements: [], why };
}

function denied(policies: readonly string[], byId: ReadonlyMap<string, Rule>): Verdict {
  const hard = policies.filter((id) => byId.get(id)?.requirement === undefined);
  const [first] = hard;
  const why =
    first === undefined ? "no rule permits it" : (byId.get(first)?.reason ?? `the rule ${first} forbids it`);
  return { effect: "deny", policies, requirements: [], why };
}

type Asking =
  | { readonly kind: "answer"; readonly decision: "allow" | "deny"; readonly policies: readonly string[] }
  | { readonly kind: "error"; readonly why: string };

/** One evaluation. Cedar leaves out a rule that errs, a forbid like any other: an error is a no. So is whatever the binding throws. */
function asked(name: string, set: Preparsed, request: CedarRequest): Asking {
  try {
    const slot = slotOf(name, set);
    return meaning(
      statefulIsAuthorized({
        principal: request.principal,
        action: request.action,
        resource: request.resource,
        context: request.context,
        entities: [...request.entities],
        validateRequest: true,
        preparsedPolicySetId: slot.policies,
        preparsedSchemaName: slot.schema,
      }),
    );
  } catch (error) {
    return { kind: "error", why: `policy could not be asked: ${String(error).slice(0, 300)}` };
  }
}

function meaning(answer: AuthorizationAnswer): Asking {
  if (answer.type === "failure") {
    const why = answer.errors.map(({ message }) => message).join("; ");
    return { kind: "error", why: `policy could not be asked: ${why.slice(0, 300)}` };
  }
  const { decision, diagnostics } = answer.response;
  // Cedar gives sets in any order.
  const [error] = diagnostics.errors.toSorted((one, other) => (one.policyId < other.policyId ? -1 : 1));
  if (error !== undefined)
    return { kind: "error", why: `the rule ${error.policyId} cannot be evaluated: ${error.error.message}` };
  if (decision === "allow" && diagnostics.reason.length === 0)
    return { kind: "error", why: "policy allowed it without a rule that says so" };
  return { kind: "answer", decision, policies: diagnostics.reason.toSorted() };
}
