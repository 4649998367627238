import { type FrozenAction, freezeAction } from "../core/action.ts";
import { type ClaimId, type Instant, operationIdOf } from "../core/ids.ts";
import type { EventDraft } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import type { Operation } from "../core/operation.ts";
import type { Decision } from "../core/policy.ts";
import { Problem } from "../core/problem.ts";
import { demand, type Proposal, proposalDigest } from "../core/proposal.ts";
import { receiptClaims } from "../core/receipt.ts";
import { chainOf, type Session } from "../core/session.ts";
import { withDefaults } from "../core/tool.ts";
import { claimAndExecute } from "./claim.ts";
import { decide, refuseHalted } from "./decide.ts";
import { type Claimed, performClaimed, settleLocal } from "./execute.ts";
import type { NewOperation, OfferedTool, OpenAnswer, Opening, Ports } from "./ports.ts";
import { recordingOf } from "./settle.ts";

/** An operation as the caller is answered, and how it came to be that one. `done` resolves when an execution begun here has ended. */
export interface Proposed {
  readonly operation: Operation;
  readonly how: "opened" | "replayed" | "joined";
  readonly done?: Promise<Operation>;
}

const DECISIONS_MAX = 4;

/** From a claim to an operation: normalize, decide, store, and execute when it is allowed now. The only way in. */
export async function propose(ports: Ports, session: Session, asked: Proposal): Promise<Proposed> {
  const offered = ports.catalog.tool(session.tenantId, asked.tool);
  if (offered === undefined) {
    throw new Problem("unknown_tool", `there is no tool named "${asked.tool}"`, { at: "/tool", next: "Ask GET /v1/tools for what is offered." });
  }
  demand(offered.tool, asked);
  const normalized = { ...asked, arguments: withDefaults(offered.tool.input, asked.arguments) };
  offered.validate(normalized.arguments);
  const frozen = freezeAction(offered.tool, normalized, session, {
    operationId: operationIdOf(ports.entropy.uuid7()),
    salt: ports.entropy.salt(),
    toolDigest: offered.digest,
    settingsDigest: offered.settingsDigest,
    tenantKey: ports.catalog.tenantKey(session.tenantId),
  });
  let authority = await ports.authority.known(session.tenantId);
  for (let tries = 0; tries < DECISIONS_MAX; tries++) {
    const decision = decide(ports, session, offered.tool, frozen.action, authority);
    // A refusal is never given on an old view of authority.
    const old = tries === 0 && decision.effect !== "allow";
    if (old || (tries === 0 && authority.halts.length > 0)) {
      authority = await ports.authority.refresh(session.tenantId);
      if (old) continue;
    }
    refuseHalted(authority, session, offered.tool);
    const started = { monotonicMs: ports.clock.monotonicMs(), wallMs: ports.clock.wallMs() };
    const opening = openingOf(ports, session, asked, frozen, offered, decision);
    const answer = await ports.ledger.open(opening);
    if (answer.kind !== "stale_authority") return answered(ports, answer, offered, opening, started);
    authority = await ports.authority.refresh(session.tenantId);
  }
  throw new Problem("overloaded", "the tenant's authority changes too fast to decide under it; nothing was stored", { retryAfterMs: 1000 });
}

function openingOf(ports: Ports, session: Session, asked: Proposal, frozen: FrozenAction, offered: OfferedTool, decision: Decision): Opening {
  const { tool } = offered;
  const now = decision.effect === "allow" && asked.execute === "now" && asked.supersedes === undefined;
  const local = offered.connector.localEffect;
  const operation: NewOperation = {
    tenantId: session.tenantId,
    id: frozen.action.operationId,
    state: decision.effect === "deny" ? "rejected" : decision.effect === "review" ? "proposed" : now ? "executing" : "authorized",
    ...(decision.effect === "deny" ? { reason: "denied" as const } : {}),
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
    ...(asked.note === undefined ? {} : { note: asked.note }),
  };
  const ticket = { claimId: ports.entropy.uuid4() as ClaimId, worker: ports.worker, leaseMs: tool.contract.leaseMs };
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
    events: openingEvents(session, operation, decision, now ? { claim: ticket.claimId, attempt: 1, worker: ports.worker } : undefined),
    ...(now ? { claim: ticket } : {}),
    ...(now && local !== undefined ? { local: { effect: local(frozen.action, tool), settle: settleLocal(ports, tool.contract) } } : {}),
    ...(decision.effect === "deny" ? { receipt: deniedReceipt(ports, operation) } : {}),
    ...(asked.supersedes === undefined ? {} : { supersede: superseded(ports, session, frozen.action.operationId, offered) }),
  };
}

function openingEvents(session: Session, operation: NewOperation, decision: Decision, claim: JsonObject | undefined): readonly EventDraft[] {
  const actor: JsonObject = { principal: session.principalId, client: session.clientId, delegation: chainOf(session) };
  const proposed: EventDraft = { type: "proposed", actor, data: { tool: operation.tool, resource: operation.resource, digest: operation.digest } };
  const verdict: JsonObject = { policyVersion: decision.policyVersion, epoch: decision.epoch, policies: decision.policies };
  const policy: JsonObject = { policy: decision.policyVersion };
  if (decision.effect === "deny") return [proposed, { type: "denied", actor: policy, data: { ...verdict, reason: "denied", why: decision.why ?? "" } }];
  if (decision.effect === "review") {
    const requirements = decision.requirements as unknown as JsonObject[]; // Requirements are plain JSON.
    return [{ ...proposed, data: { ...proposed.data, review: requirements, ...verdict } }];
  }
  const authorized: EventDraft = { type: "authorized", actor: policy, data: verdict };
  if (claim === undefined) return [proposed, authorized];
  return [proposed, authorized, { type: "claimed", actor: { worker: claim["worker"] ?? "" }, data: { claim: claim["claim"] ?? "", attempt: 1 } }];
}

function deniedReceipt(ports: Ports, operation: NewOperation): string {
  const at = ports.clock.wallMs();
  const shell = { ...operation, attempts: [], inquiry: { looked: 0, unclearInRow: 0 }, revision: 1, createdAt: at, updatedAt: at, expiresAt: at };
  return ports.signer.sign(receiptClaims(shell, at));
}

/** The old operation's last change, while it can still be cancelled. */
function superseded(ports: Ports, session: Session, by: string, offered: OfferedTool): NonNullable<Opening["supersede"]> {
  return (old, clock) => {
    if (old.state !== "proposed" && old.state !== "authorized") return undefined;
    const told = { happening: { type: "denied", reason: "superseded" } as const, actor: { principal: session.principalId, client: session.clientId }, data: { by } };
    return recordingOf(ports, old, [told], { contract: offered.tool.contract, clock });
  };
}

async function answered(ports: Ports, answer: OpenAnswer, offered: OfferedTool, opening: Opening, started: Claimed["started"]): Promise<Proposed> {
  switch (answer.kind) {
    case "opened": {
      const mine = answer.operation.attempts.at(-1)?.claimId === opening.claim?.claimId;
      if (answer.operation.state === "authorized" && answer.operation.execute === "now") return run(ports, answer.operation, answer.clock);
      if (answer.operation.state !== "executing" || !mine) return { operation: answer.operation, how: "opened" };
      return { operation: answer.operation, how: "opened", done: performClaimed(ports, { operation: answer.operation, clock: answer.clock, started, offered }) };
    }
    case "replayed":
    case "joined":
      return { operation: answer.operation, how: answer.kind };
    default:
      throw refusal(answer);
  }
}

/** What was stored as authorized in a commit of its own (it superseded another) is claimed by the next. */
async function run(ports: Ports, operation: Operation, clock: Instant): Promise<Proposed> {
  const executed = await claimAndExecute(ports, operation, clock);
  return { operation: executed.operation, how: "opened", ...(executed.done === undefined ? {} : { done: executed.done }) };
}

/** Section 10 of the protocol, in words for the caller. Nothing was stored. */
function refusal(answer: Exclude<OpenAnswer, { kind: "opened" | "replayed" | "joined" }>): Problem {
  const other = "other" in answer && answer.other !== undefined ? { operationId: answer.other } : {};
  switch (answer.kind) {
    case "key_reused":
      return new Problem("key_reused", "this intent key already names another proposal", { at: "Idempotency-Key", next: "Use a new key for a new intent." });
    case "key_spent":
      return new Problem("key_spent", "this intent key was used long ago and its details were pruned; nothing was executed", { next: "Use a new key if you mean a new intent." });
    case "looks_the_same":
      return new Problem("looks_the_same", "an equal change succeeded a moment ago", { ...other, next: "If you mean a second one, send it again with a new Idempotency-Key." });
    case "equal_effect_in_doubt":
      return new Problem("equal_effect_in_doubt", "an equal change is still being executed or is in doubt", { ...other, next: "Wait until that operation has settled, then decide again." });
    case "not_cancellable": {
      const why = answer.state === undefined ? "there is no such operation of yours" : `it is ${answer.state}`;
      return new Problem("not_cancellable", `the operation to supersede cannot be cancelled: ${why}`, { at: "/supersedes" });
    }
    case "not_settled":
      return new Problem("not_settled", "only a succeeded operation can be compensated", { at: "/compensates" });
    case "already_compensated":
      return new Problem("not_settled", "that operation already has a compensation", { at: "/compensates" });
    case "stale_authority":
      return new Problem("overloaded", "authority changed while deciding", { retryAfterMs: 1000 });
  }
}
