import type { Json, JsonObject } from "../core/json.ts";
import type { Opinion, Requirement } from "../core/policy.ts";
import { clientsInChain, type Session } from "../core/session.ts";
import type { Log, PolicyEngine, PolicyQuestion } from "../service/ports.ts";
import { type PrincipalKind, principalsOf } from "./request.ts";

/** A policy decision point of somebody else's, asked over the AuthZEN Authorization API 1.0. */
export interface DecisionPoint {
  /** Rejects for whatever is no whole answer. */
  readonly ask: (
    path: string,
    body: Json,
    signal: AbortSignal,
  ) => Promise<{ readonly status: number; readonly body: Json }>;
  /** Whom a denial asks that names this template of an access request. What is not here stays a no. */
  readonly templates?: Readonly<Record<string, string>>;
  readonly log: Log;
  readonly withinMs?: number;
}

const WITHIN_MS = 1_000;
const PATH = "/access/v1/evaluation";
const REVIEW_WITHIN_MS = 15 * 60_000;

/** Our own policy AND theirs. Only what ours does not deny is asked; silence, an error and a duty that we do not know are a no. */
export function withDecisionPoint(engine: PolicyEngine, point: DecisionPoint): PolicyEngine {
  return {
    ...engine,
    opinions: async (question) => {
      const own = await engine.opinions(question);
      if (own.length === 0 || own.some(({ effect }) => effect === "deny")) return own;
      const principals = principalsOf(question.session);
      const signal = AbortSignal.timeout(point.withinMs ?? WITHIN_MS);
      return [
        ...own,
        ...(await Promise.all(principals.map((each) => opinionOf(point, question, each, signal)))),
      ];
    },
  };
}

interface Principal {
  readonly kind: PrincipalKind;
  readonly name: string;
}

async function opinionOf(
  point: DecisionPoint,
  question: PolicyQuestion,
  principal: Principal,
  signal: AbortSignal,
): Promise<Opinion> {
  const of = `decision point for ${principal.kind === "user" ? "user" : "client"} ${principal.name}`;
  try {
    const { status, body } = await point.ask(PATH, asked(question, principal), signal);
    if (status !== 200) throw new Error(`it answered ${status}`);
    return meaning(point, of, body);
  } catch (error) {
    const why = `the decision point gave no decision: ${error instanceof Error ? error.message : String(error)}`;
    point.log.warn("policy", { tenant: question.session.tenantId, what: "the decision point denies", why });
    return denied(of, why);
  }
}

/** Authorization API 1.0, section 5: subject, action, resource, context. */
function asked(
  { session, tool, resource, expectedVersion, ...question }: PolicyQuestion,
  principal: Principal,
): JsonObject {
  return {
    subject: {
      type: principal.kind === "user" ? "user" : "service",
      id: principal.name,
      properties: { roles: rolesOf(session, principal) },
    },
    action: { name: tool.name },
    resource: {
      type: resource.type,
      id: resource.id,
      properties: {
        tenant: session.tenantId,
        parents: resource.parents.map(({ type, id }) => ({ type, id })),
      },
    },
    context: {
      arguments: question.arguments,
      ...(expectedVersion === undefined ? {} : { expected_version: expectedVersion }),
      on_behalf_of: session.itself === true ? null : session.principalId,
      client: session.clientId,
      clients: [...clientsInChain(session)],
      reversible: tool.reversible,
    },
  };
}

/** A client that acts for somebody has no roles of its own. */
function rolesOf({ roles }: Session, { kind }: Principal): readonly string[] {
  return kind === "client" ? [] : roles;
}

function meaning(point: DecisionPoint, of: string, body: Json): Opinion {
  if (!isObject(body) || typeof body.decision !== "boolean")
    throw new Error("it answered without a decision");
  const context = body.context === undefined ? {} : body.context;
  if (!isObject(context)) throw new Error("its context is no object");
  // Obligations profile: who does not know one must not go on. We know none.
  const { obligations } = context;
  if (obligations !== undefined && !(Array.isArray(obligations) && obligations.length === 0))
    return denied(of, "the decision point asks for something that is not known here");
  if (body.decision) return { ...silent(of), effect: "allow", policies: ["pdp"] };
  const requirement = requirementOf(point, context);
  if (requirement === undefined) return denied(of, reasonOf(context));
  return { ...silent(of), effect: "review", policies: ["pdp"], requirements: [requirement] };
}

/** A denial that names how access is asked for: only what the operator mapped to a role, and never the address that it names. */
function requirementOf(
  { templates = {} }: DecisionPoint,
  { access_request: asked }: JsonObject,
): Requirement | undefined {
  const template = isObject(asked) ? asked.template : undefined;
  if (typeof template !== "string" || !Object.hasOwn(templates, template)) return undefined;
  const role = templates[template];
  if (role === undefined) return undefined;
  return {
    policy: `pdp.${template}`,
    role,
    quorum: 1,
    withinMs: REVIEW_WITHIN_MS,
    by: "second_person",
    reason: `the decision point asks for an approval by ${role}`,
  };
}

/** What it says to its users, where it says it in the form of section 6.2. */
function reasonOf({ reason_user: reason }: JsonObject): string {
  const text = isObject(reason) ? Object.values(reason).find((each) => typeof each === "string") : reason;
  return typeof text === "string"
    ? `the decision point denies it: ${text.slice(0, 300)}`
    : "the decision point denies it";
}

function silent(of: string): Omit<Opinion, "effect" | "policies"> {
  return { of, requirements: [], obligations: [] };
}

function denied(of: string, why: string): Opinion {
  return { ...silent(of), effect: "deny", policies: ["pdp"], why };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
