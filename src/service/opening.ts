import type { Action, FrozenAction } from "../core/action.ts";
import { usesOf } from "../core/delegation.ts";
import type { EventDraft } from "../core/event.ts";
import type { ClaimId } from "../core/ids.ts";
import { NO_INQUIRY } from "../core/inquiry.ts";
import type { JsonObject } from "../core/json.ts";
import { type Draw, drawsOf } from "../core/limits.ts";
import type { NewOperation } from "../core/operation.ts";
import type { Decision } from "../core/policy.ts";
import { type Proposal, proposalDigest } from "../core/proposal.ts";
import { receiptClaims } from "../core/receipt.ts";
import { chainOf, type Session } from "../core/session.ts";
import { storable } from "../core/storable.ts";
import type { Tool } from "../core/tool.ts";
import { settleLocal } from "./execute.ts";
import type { ClaimTicket, Opening } from "./ledger-port.ts";
import type { OfferedTool, Ports } from "./ports.ts";
import { recordingOf } from "./settle.ts";

/** Everything the ledger needs to decide and store one proposal, and to claim it when it runs now. */
export function openingOf(
  ports: Ports,
  session: Session,
  asked: Proposal,
  frozen: FrozenAction,
  offered: OfferedTool,
  decision: Decision,
): Opening {
  const { tool } = offered;
  const now = decision.effect === "allow" && asked.execute === "now" && asked.supersedes === undefined;
  const local = offered.connector.localEffect;
  const operation: NewOperation = {
    tenantId: session.tenantId,
    id: frozen.action.operationId,
    state:
      decision.effect === "deny"
        ? "rejected"
        : decision.effect === "review"
          ? "proposed"
          : now
            ? "executing"
            : "authorized",
    ...(decision.effect === "deny" ? { reason: decision.reason ?? "denied" } : {}),
    tool: tool.name,
    toolDigest: offered.digest,
    provider: tool.provider,
    resource: `${frozen.action.resource.type}:${frozen.action.resource.id}`,
    principalId: session.principalId,
    clientId: session.clientId,
    digest: frozen.digest,
    action: frozen.bytes,
    execute: asked.execute,
    ...(asked.expectedVersion === undefined ? {} : { expectedVersion: asked.expectedVersion }),
    ...(asked.compensates === undefined ? {} : { compensates: asked.compensates }),
    ...(asked.supersedes === undefined ? {} : { supersedes: asked.supersedes }),
    ...(asked.intentKey === undefined ? {} : { intentKey: asked.intentKey }),
    ...(asked.note === undefined ? {} : { note: storable(asked.note) }),
  };
  const ticket = {
    claimId: ports.entropy.uuid4() as ClaimId,
    worker: ports.worker,
    leaseMs: tool.contract.leaseMs,
    ...drawing(tool, frozen.action, operation.resource, usesOf(session.delegation)),
  };
  return {
    operation,
    decision,
    roles: session.roles,
    permissionForMs: tool.permissionForMs,
    reviewForMs: tool.reviewForMs,
    proposalDigest: proposalDigest(asked),
    contentDigest: frozen.contentDigest,
    effectDigest: frozen.effectDigest,
    lookalikes: tool.lookalikes,
    ...(decision.effect === "review" ? { askingMax: ports.approvals.openMax } : {}),
    events: openingEvents(session, operation, decision, now ? ticket : undefined),
    ...(now ? { claim: ticket } : {}),
    ...(now && local !== undefined
      ? { local: { effect: local(frozen.action, tool), settle: settleLocal(ports, tool.contract) } }
      : {}),
    ...(decision.effect === "deny" ? { receipt: deniedReceipt(ports, operation) } : {}),
    ...(asked.supersedes === undefined || decision.effect === "deny"
      ? {}
      : { supersede: superseded(ports, session, frozen.action.operationId, offered) }),
  };
}

/** The same, authorized and due now: a worker claims it when it has a place for it. */
export function deferred(opening: Opening): Opening {
  const { claim: _later, ...rest } = opening;
  return {
    ...rest,
    operation: { ...rest.operation, state: "authorized" },
    events: rest.events.filter(({ type }) => type !== "claimed"),
  };
}

/** What its first claim reserves, in the claim's own commit: of the tool's limits, and of its chain's uses. */
export function drawing(
  tool: Tool,
  action: Action,
  resource: string,
  uses: readonly Draw[],
): Pick<ClaimTicket, "draws"> {
  const limited = drawsOf(tool.limits ?? [], {
    tool: tool.name,
    principalId: action.principalId,
    clientId: action.clientId,
    resource,
    arguments: action.arguments,
  });
  const draws = [...limited, ...uses];
  return draws.length === 0 ? {} : { draws };
}

function openingEvents(
  session: Session,
  operation: NewOperation,
  decision: Decision,
  claim: ClaimTicket | undefined,
): readonly EventDraft[] {
  const actor: JsonObject = {
    principal: session.principalId,
    client: session.clientId,
    delegation: chainOf(session),
  };
  const proposed: EventDraft = {
    type: "proposed",
    actor,
    data: { tool: operation.tool, resource: operation.resource, digest: operation.digest },
  };
  const verdict: JsonObject = {
    policyVersion: decision.policyVersion,
    epoch: decision.epoch,
    policies: decision.policies,
    ...(decision.facts === undefined ? {} : { facts: decision.facts as unknown as JsonObject }), // Plain JSON.
  };
  const policy: JsonObject = { policy: decision.policyVersion };
  if (decision.effect === "deny")
    return [
      proposed,
      {
        type: "denied",
        actor: policy,
        // Nothing else keeps the roles of who was denied.
        data: {
          ...verdict,
          reason: decision.reason ?? "denied",
          why: decision.why ?? "",
          roles: session.roles,
        },
      },
    ];
  if (decision.effect === "review") {
    const requirements = decision.requirements as unknown as JsonObject[]; // Requirements are plain JSON.
    return [{ ...proposed, data: { ...proposed.data, review: requirements, ...verdict } }];
  }
  const authorized: EventDraft = { type: "authorized", actor: policy, data: verdict };
  if (claim === undefined) return [proposed, authorized];
  return [
    proposed,
    authorized,
    {
      type: "claimed",
      actor: { worker: claim.worker },
      data: { claim: claim.claimId, attempt: 1 },
    },
  ];
}

function deniedReceipt(ports: Ports, operation: NewOperation): string {
  const at = ports.clock.wallMs();
  const shell = {
    ...operation,
    attempts: [],
    inquiry: NO_INQUIRY,
    revision: 1,
    createdAt: at,
    updatedAt: at,
    expiresAt: at,
  };
  return ports.signer.sign(receiptClaims(shell, at));
}

/** The old operation's last change, while it can still be cancelled. */
function superseded(
  ports: Ports,
  session: Session,
  by: string,
  offered: OfferedTool,
): NonNullable<Opening["supersede"]> {
  return (old, clock) => {
    if (old.state !== "proposed" && old.state !== "authorized") return undefined;
    const told = {
      happening: { type: "denied", reason: "superseded" } as const,
      actor: { principal: session.principalId, client: session.clientId },
      data: { by },
    };
    return recordingOf(ports, old, [told], { contract: offered.tool.contract, clock });
  };
}
