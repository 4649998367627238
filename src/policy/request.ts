import type { CedarValueJson, EntityJson, TypeAndId } from "@cedar-policy/cedar-wasm/nodejs";
import type { Action } from "../core/action.ts";
import { contractStrength } from "../core/contract-promise.ts";
import type { JsonObject } from "../core/json.ts";
import type { PolicyFacts } from "../core/policy.ts";
import { clientsInChain, type Session } from "../core/session.ts";
import type { Tool } from "../core/tool.ts";
import type { ApprovalQuestion, PolicyQuestion } from "../service/ports.ts";
import { APPROVE, type Asked, currentKind, NAMESPACE } from "./model.ts";
import type { Visible } from "./schema.ts";
import { cedarParts, cedarRecord, wellFormed } from "./values.ts";

/** One question to Cedar. The entities are the principal, the resource with its ancestors, and the tenant: nobody else can be asked about. */
export interface CedarRequest {
  readonly principal: TypeAndId;
  readonly action: TypeAndId;
  readonly resource: TypeAndId;
  readonly context: Record<string, CedarValueJson>;
  readonly entities: readonly EntityJson[];
}

export type PrincipalKind = "user" | "client" | "itself";

/** Whom policy is asked about: the user and each distinct client of the chain, or a service alone that acts for itself. */
export function principalsOf(
  session: Session,
): readonly { readonly kind: PrincipalKind; readonly name: string }[] {
  if (session.itself === true) return [{ kind: "itself", name: session.clientId }];
  const clients = clientsInChain(session).map((name) => ({ kind: "client" as const, name }));
  return [{ kind: "user", name: session.principalId }, ...clients];
}

/** The parts of a question that are the same for every principal. */
export interface Subject {
  readonly resource: TypeAndId;
  readonly context: Record<string, CedarValueJson>;
  readonly entities: readonly EntityJson[];
}

export interface Surrounding {
  readonly environment: string;
  readonly asked: Asked;
  readonly facts: PolicyFacts;
}

/** Throws `Unspeakable` for arguments that Cedar would not see as they are. */
export function subjectOf(question: PolicyQuestion, { record }: Visible, around: Surrounding): Subject {
  const { session, tool } = question;
  return {
    resource: uid(question.resource.type, question.resource.id),
    entities: [tenantEntity(session), ...resourceEntities(session, question.resource)],
    context: {
      input: cedarRecord(record, question.arguments),
      ...(question.expectedVersion === undefined
        ? {}
        : { expectedVersion: wellFormed(question.expectedVersion) }),
      ...knownOf(tool),
      environment: around.environment,
      itself: session.itself === true,
      ...(session.itself === true ? {} : { onBehalfOf: wellFormed(session.principalId) }),
      client: wellFormed(session.clientId),
      clients: clientsInChain(session).map(wellFormed),
      ...(around.asked.current ? currentOf(around.facts, record) : {}),
      ...(around.asked.recent ? recentOf(around.facts) : {}),
    },
  };
}

/** What the tool and its contract say of themselves. */
function knownOf({ reversible, contract }: Tool): Record<string, CedarValueJson> {
  const { precondition } = contract;
  return {
    reversible,
    contract: {
      strength: contractStrength(contract),
      condition: precondition.kind === "none" ? "none" : precondition.atomic,
    },
    // No drill has run until drills exist.
    drill: "none",
  };
}

function currentOf({ current }: PolicyFacts, record: Visible["record"]): Record<string, CedarValueJson> {
  if (current === undefined) return {};
  const { version, value } = current;
  return {
    current: {
      ...(version === undefined ? {} : { version: wellFormed(version) }),
      value: isObject(value) ? cedarParts(currentKind(record), value) : {},
    },
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function recentOf({ recent }: PolicyFacts): Record<string, CedarValueJson> {
  if (recent === undefined) throw new Error("a policy asks for what happened lately, and nobody read it");
  return { recent: { denials: recent.denials, conflicts: recent.conflicts } };
}

/** The question about one principal. */
export function requestOf(
  session: Session,
  tool: string,
  subject: Subject,
  { kind, name }: { readonly kind: PrincipalKind; readonly name: string },
): CedarRequest {
  const principal = kind === "user" ? userEntity(session, name) : serviceEntity(session, name, kind);
  return {
    principal: principal.uid as TypeAndId, // Written by `uid`.
    action: uid("Action", tool),
    resource: subject.resource,
    context: subject.context,
    entities: [principal, ...subject.entities],
  };
}

/** May this person answer for this requirement? */
export function approvalRequest(question: ApprovalQuestion, environment: string): CedarRequest {
  const { session, operation, requirement } = question;
  const person = userEntity(session, session.principalId);
  const delegators = delegatorsOf(operation.action);
  const resource: EntityJson = {
    uid: uid("Operation", operation.id),
    attrs: {
      tenant: ref("Tenant", session.tenantId),
      tool: operation.tool,
      target: operation.resource,
      onBehalfOf: ref("User", operation.principalId),
      delegators: delegators.map((name) => ref("User", name)),
      client: operation.clientId,
    },
    parents: [uid("Tenant", session.tenantId)],
  };
  return {
    principal: person.uid as TypeAndId, // Written by `uid`.
    action: uid("Action", APPROVE),
    resource: resource.uid as TypeAndId, // See above.
    context: { requirement: requirement.role, policy: requirement.policy, by: requirement.by, environment },
    entities: [person, resource, tenantEntity(session)],
  };
}

/** Everybody who gave authority in the chain of a stored action. */
function delegatorsOf(bytes: string): readonly string[] {
  const { delegation } = JSON.parse(bytes) as { readonly delegation?: Session["delegation"] }; // Written by freezeAction.
  return [...new Set((delegation ?? []).map(({ delegator }) => delegator))];
}

function tenantEntity({ tenantId }: Session): EntityJson {
  return { uid: uid("Tenant", tenantId), attrs: {}, parents: [] };
}

function userEntity({ tenantId, roles }: Session, name: string): EntityJson {
  const cut = name.lastIndexOf("#");
  return {
    uid: uid("User", name),
    attrs: {
      tenant: ref("Tenant", tenantId),
      roles: roles.map(wellFormed),
      issuer: cut < 0 ? "" : name.slice(0, cut),
      subject: name.slice(cut + 1),
    },
    parents: [uid("Tenant", tenantId)],
  };
}

/** A client that acts for somebody has no roles of its own: those of the session are the person's. */
function serviceEntity({ tenantId, roles }: Session, name: string, kind: PrincipalKind): EntityJson {
  return {
    uid: uid("Service", name),
    attrs: { tenant: ref("Tenant", tenantId), roles: kind === "itself" ? roles.map(wellFormed) : [], name },
    parents: [uid("Tenant", tenantId)],
  };
}

/** The resource and all above it; each of those stands directly above it, as the tool says. */
function resourceEntities({ tenantId }: Session, resource: Action["resource"]): readonly EntityJson[] {
  const tenant = uid("Tenant", tenantId);
  const entity = ({ type, id }: { type: string; id: string }, parents: TypeAndId[]): EntityJson => ({
    uid: uid(type, id),
    attrs: { tenant: ref("Tenant", tenantId), name: id },
    parents: [...parents, tenant],
  });
  const above = resource.parents.filter(
    (parent, index, all) =>
      all.findIndex(({ type, id }) => type === parent.type && id === parent.id) === index,
  );
  return [
    entity(
      resource,
      above.map(({ type, id }) => uid(type, id)),
    ),
    ...above.map((parent) => entity(parent, [])),
  ];
}

function uid(type: string, id: string): TypeAndId {
  return { type: `${NAMESPACE}::${type}`, id: wellFormed(id) };
}

function ref(type: string, id: string): CedarValueJson {
  return { __entity: uid(type, id) };
}
