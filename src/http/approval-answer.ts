import { type Action, thawAction } from "../core/action.ts";
import type { Slot } from "../core/approval.ts";
import { inert, shown } from "../core/display.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { timeText } from "../core/outlook.ts";
import type { Requirement } from "../core/policy.ts";
import type { Passkey } from "../service/approval-port.ts";
import type { Waiting } from "../service/waiting.ts";
import type { ApprovalAnswer, AskedAnswer, FieldAnswer, PasskeyAnswer } from "../wire/approval.ts";

/** Everything that a person decides on, made from the stored action alone; what the agent says of it stands apart. */
export function approvalAnswer(waiting: Waiting): ApprovalAnswer {
  const { operation, tool, view, said, passkey, mine, current } = waiting;
  const action = thawAction(operation.action);
  const { review } = operation;
  return {
    operationId: operation.id,
    state: operation.state,
    revision: operation.revision,
    waitsForMe: mine.length > 0 && said === undefined,
    digest: operation.digest,
    ...(view === undefined ? {} : { nonce: view.nonce, nonceExpiresAt: timeText(view.expiresAt) }),
    tenant: operation.tenantId,
    tool: operation.tool,
    title: tool?.title ?? operation.tool,
    resource: operation.resource,
    parents: action.resource.parents.map(({ type, id }) => `${type}:${id}`),
    fields: fieldsOf(action, waiting),
    ...(operation.expectedVersion === undefined ? {} : { expectedVersion: operation.expectedVersion }),
    ...(current?.version === undefined ? {} : { currentVersion: inert(current.version) }),
    ...(operation.compensates === undefined ? {} : { compensates: operation.compensates }),
    ...(operation.supersedes === undefined ? {} : { supersedes: operation.supersedes }),
    provider: operation.provider,
    ...(tool === undefined ? {} : { reversible: tool.reversible }),
    promise: [...waiting.promise],
    principal: operation.principalId,
    client: operation.clientId,
    delegation: action.delegation,
    asked: waiting.slots.map((slot) => askedAnswer(slot, waiting)),
    policies: [...(review?.policies ?? [])],
    policyVersion: review?.policyVersion ?? "",
    ...(said === undefined ? {} : { said: { decision: said.decision, at: timeText(said.at) } }),
    ...(operation.note === undefined ? {} : { note: inert(operation.note) }),
    ...(passkey === undefined ? {} : { passkey: { ...passkey, credentials: [...passkey.credentials] } }),
    createdAt: timeText(operation.createdAt),
    until: timeText(operation.expiresAt),
  };
}

/** Every argument, whole: what the tool does not describe is shown too, and said to be so. */
function fieldsOf(action: Action, { tool, current }: Waiting): FieldAnswer[] {
  const stands = current?.value;
  const before = stands !== null && typeof stands === "object" ? (stands as JsonObject) : {};
  const properties = tool?.input.properties;
  const known = properties !== null && typeof properties === "object" ? (properties as JsonObject) : {};
  return Object.entries(action.arguments).map(([name, after]) => {
    const { text, warnings } = shown(textOf(after));
    const named = shown(name);
    return {
      name: named.text,
      ...(Object.hasOwn(before, name) ? { before: before[name] } : {}),
      after,
      shown: text,
      warnings: [...named.warnings, ...warnings],
      described: Object.hasOwn(known, name),
    };
  });
}

/** A text as it is, anything else as JSON. */
function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function askedAnswer({ requirement, approval, until }: Slot, { mine, notMine }: Waiting): AskedAnswer {
  const { policy, role, by, reason, withinMs, assurance } = requirement;
  const why = notMine.find((each) => each.requirement === requirement)?.why;
  return {
    policy,
    role,
    by,
    reason,
    withinSeconds: withinMs / 1000,
    ...(assurance === undefined ? {} : { assurance: assuranceOf(assurance) }),
    ...(approval === undefined || until === undefined
      ? {}
      : { answered: { person: approval.person, at: timeText(approval.at), until: timeText(until) } }),
    mine: mine.includes(requirement),
    ...(why === undefined ? {} : { why }),
  };
}

function assuranceOf({ webauthn, acr, maxAgeMs }: NonNullable<Requirement["assurance"]>): JsonObject {
  return {
    ...(webauthn === undefined ? {} : { passkey: true }),
    ...(acr === undefined ? {} : { acr }),
    ...(maxAgeMs === undefined ? {} : { maxAgeSeconds: maxAgeMs / 1000 }),
  };
}

export function passkeyAnswer({ id, name, createdAt, usedAt, suspectAt }: Passkey): PasskeyAnswer {
  return {
    id,
    name,
    createdAt: timeText(createdAt),
    ...(usedAt === undefined ? {} : { usedAt: timeText(usedAt) }),
    ...(suspectAt === undefined ? {} : { suspectAt: timeText(suspectAt) }),
  };
}
