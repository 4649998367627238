import { lackingAssurance } from "../core/approval.ts";
import type { Instant, OperationId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { Operation } from "../core/operation.ts";
import type { Requirement } from "../core/policy.ts";
import { Problem } from "../core/problem.ts";
import { type Approval, type SignedApproval, standingApprovals } from "../core/review.ts";
import type { Session } from "../core/session.ts";
import { storable } from "../core/storable.ts";
import type { Tool } from "../core/tool.ts";
import { abilities, mayRefuse, type Seen, seen, statementOf } from "./asked.ts";
import { claimAndExecute, type Executed } from "./claim.ts";
import { consent, permission } from "./consent.ts";
import type { Ports } from "./ports.ts";
import { recordingOf, type Told } from "./settle.ts";
import { readView } from "./viewing.ts";

/** One person's answer to what they were shown. */
export interface DecisionGiven {
  readonly decision: "approve" | "reject";
  /** As displayed: the answer is to exactly this change. */
  readonly digest: string;
  /** Of the view that is answered. */
  readonly nonce: string;
  readonly comment?: string | undefined;
  /** What the person's passkey signed (AuthenticationResponse, JSON). */
  readonly assertion?: JsonObject | undefined;
}

const TRIES_MAX = 16;
const APPROVALS_MAX = 200;

/**
 * Takes one person's yes or no. The last yes that is needed authorizes, and what runs now is claimed at once; a no ends the operation,
 * whatever else is broken, until it is claimed. The same answer to the same view, sent twice, is given once.
 */
export async function answer(
  ports: Ports,
  session: Session,
  id: OperationId,
  given: DecisionGiven,
): Promise<Executed> {
  const first = await seen(ports, session, id);
  const before = alreadyGiven(first.operation, session, given);
  if (before !== undefined) return before;
  answerable(first, given);
  if (given.decision === "reject") return refuse(ports, session, first, given);
  const able = await answeredBy(ports, session, first, given);
  const viewEndsAt = readView(ports, first.operation, session.principalId, given.nonce, first.clock);
  const signed = await signature(ports, session, first, able, given, viewEndsAt);
  return agree(ports, session, first, given, signed);
}

/** The same view answered again, or a second yes of the same person: the first answer stands. */
function alreadyGiven(operation: Operation, session: Session, given: DecisionGiven): Executed | undefined {
  const mine = operation.review?.approvals.filter(({ person }) => person === session.principalId) ?? [];
  const same = mine.find(({ nonce }) => nonce === given.nonce);
  if (same !== undefined && (same.withdrawnAt !== undefined || same.decision !== given.decision))
    throw new Problem("decision_refused", "this view was answered already", {
      at: "/nonce",
      operationId: operation.id,
      next: "Look at it again, and answer what you see then.",
    });
  if (same !== undefined) return { operation };
  const standing = standingApprovals(operation.review).find(({ person }) => person === session.principalId);
  const again = standing?.decision === given.decision && given.digest === operation.digest;
  return again ? { operation } : undefined;
}

/** What must hold of any answer, a yes or a no. */
function answerable({ operation, clock }: Seen, given: DecisionGiven): void {
  const about = { operationId: operation.id };
  if (given.digest !== operation.digest)
    throw new Problem("decision_refused", "the digest is not the one of this operation", {
      ...about,
      at: "/digest",
      next: "Look at it again, and answer what you see then.",
    });
  if (operation.state !== "proposed" && operation.state !== "authorized")
    throw new Problem(
      "decision_refused",
      `it is ${operation.state}: people decide before it is claimed, not afterwards`,
      about,
    );
  // No sweeper has to have run for a deadline to hold.
  if (operation.state === "proposed" && clock >= operation.expiresAt)
    throw new Problem("expired", "nobody decided in time: that means no", about);
}

/** What this person's yes can count for. Throws what is in the way when it is nothing, or what the session lacks (RFC 9470). */
async function answeredBy(
  ports: Ports,
  session: Session,
  the: Seen,
  { assertion }: DecisionGiven,
): Promise<readonly Requirement[]> {
  const about = { operationId: the.operation.id };
  if (the.operation.state === "authorized")
    throw new Problem("decision_refused", "people have already permitted it; nobody else is needed", about);
  const { able, unable } = await abilities(ports, session, the);
  if (able.length === 0)
    throw new Problem(
      "forbidden",
      `you cannot approve this: ${[...new Set(unable.map(({ why }) => why))].join("; ")}`,
      about,
    );
  const lacking = able.map((requirement) => lackingNow(ports, session, requirement, the.clock, assertion));
  const [first] = lacking;
  if (first !== undefined && lacking.every((each) => each !== undefined)) throw first;
  return able;
}

/** What the session lacks for this requirement, named so that the person can step up. */
function lackingNow(
  { approvals }: Pick<Ports, "approvals">,
  { authentication }: Session,
  requirement: Requirement,
  clock: Instant,
  assertion: JsonObject | undefined,
): Problem | undefined {
  const { acr, webauthn, maxAgeMs = Number.POSITIVE_INFINITY } = requirement.assurance ?? {};
  const ageMs = Math.min(maxAgeMs, approvals.maxAgeMs ?? Number.POSITIVE_INFINITY);
  const needed = {
    ...(acr === undefined ? {} : { acr }),
    ...(ageMs === Number.POSITIVE_INFINITY ? {} : { maxAgeMs: ageMs }),
  };
  const yes = { at: clock, ...(authentication === undefined ? {} : { authentication }) };
  const why = lackingAssurance(yes, { ...requirement, assurance: needed });
  if (why !== undefined)
    return new Problem("insufficient_user_authentication", why, {
      stepUp: {
        ...(acr === undefined ? {} : { acrValues: [acr] }),
        ...(ageMs === Number.POSITIVE_INFINITY ? {} : { maxAgeS: Math.floor(ageMs / 1000) }),
      },
      next: "Sign in again as it asks, and answer then.",
    });
  if (webauthn !== true || assertion !== undefined) return undefined;
  return new Problem("insufficient_user_authentication", "it needs the signature of your passkey", {
    at: "/assertion",
    next: "Approve it in the console, where your passkey can sign it.",
  });
}

/** What the passkey signed, checked against exactly the statement that was shown. */
async function signature(
  { approvals }: Ports,
  session: Session,
  { operation }: Seen,
  able: readonly Requirement[],
  given: DecisionGiven,
  viewEndsAt: Instant,
): Promise<SignedApproval | undefined> {
  if (given.assertion === undefined) return undefined;
  if (approvals.passkeys === undefined)
    throw new Problem("decision_refused", "this installation knows no passkeys", { at: "/assertion" });
  const view = { nonce: given.nonce, expiresAt: viewEndsAt };
  const statement = statementOf(operation, session.principalId, given.decision, able, view);
  const holder = { tenantId: session.tenantId, person: session.principalId };
  return approvals.passkeys.verify(holder, statement, given.assertion);
}

/** Records a yes over whatever other people said meanwhile; the one that completes the review authorizes in the same commit. */
async function agree(
  ports: Ports,
  session: Session,
  first: Seen,
  given: DecisionGiven,
  signed: SignedApproval | undefined,
): Promise<Executed> {
  let the = first;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { operation, clock } = the;
    const offered = await ports.catalog.pinned(operation.tenantId, operation.toolDigest);
    if (offered === undefined)
      throw new Problem("decision_refused", "its tool is not known here any more: it can only be rejected", {
        operationId: operation.id,
      });
    const told = await yesOf(ports, session, the, offered.tool, given, signed);
    const moment = { contract: offered.tool.contract, clock };
    const recorded = await ports.ledger.record(recordingOf(ports, operation, told, moment));
    if (recorded.kind === "recorded") {
      const now = recorded.operation;
      return now.state === "authorized" && now.execute === "now"
        ? claimAndExecute(ports, now, clock)
        : { operation: now };
    }
    the = await seen(ports, session, operation.id);
    const before = alreadyGiven(the.operation, session, given);
    if (before !== undefined) return before;
    answerable(the, given);
    readView(ports, the.operation, session.principalId, given.nonce, the.clock);
    await answeredBy(ports, session, the, given);
  }
  throw moving(first.operation);
}

async function yesOf(
  ports: Ports,
  session: Session,
  { operation, review, authority, asker, clock }: Seen,
  tool: Tool,
  given: DecisionGiven,
  signed: SignedApproval | undefined,
): Promise<readonly Told[]> {
  if (review.approvals.length >= APPROVALS_MAX)
    throw new Problem(
      "decision_refused",
      "too much was said about this already: reject it, or let it expire",
      {
        operationId: operation.id,
      },
    );
  const actor = { principal: session.principalId, client: session.clientId };
  const approval = { ...approvalOf(session, given, clock), ...(signed === undefined ? {} : { signed }) };
  const after = { ...operation, review: { ...review, approvals: [...review.approvals, approval] } };
  const answered = await consent(ports, { operation: after, asker, authority, clock }, review.requirements);
  const said: Told = { happening: { type: "approved", approval }, actor };
  if (!answered.complete) return [said];
  const authorization = permission(after, tool, answered, clock);
  return [
    said,
    { happening: { type: "authorized", authorization }, actor: { policy: authorization.policyVersion } },
  ];
}

function approvalOf(session: Session, given: DecisionGiven, clock: Instant): Approval {
  const { authentication } = session;
  return {
    decision: given.decision,
    person: session.principalId,
    client: session.clientId,
    roles: session.roles,
    digest: given.digest,
    at: clock,
    nonce: given.nonce,
    ...(given.comment === undefined ? {} : { comment: storable(given.comment) }),
    ...(authentication === undefined ? {} : { authentication }),
  };
}

/** A no needs nothing but the person: no policy, no tool, no provider, no signature. */
async function refuse(ports: Ports, session: Session, first: Seen, given: DecisionGiven): Promise<Executed> {
  if (!(await mayRefuse(ports, session, first)))
    throw new Problem("forbidden", "a no comes from somebody who is asked, or from the principal", {
      operationId: first.operation.id,
    });
  readView(ports, first.operation, session.principalId, given.nonce, first.clock);
  let the = first;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { operation, clock } = the;
    const told: Told = {
      happening: {
        type: "denied",
        reason: "review_denied",
        approval: approvalOf(session, given, clock),
      },
      actor: { principal: session.principalId, client: session.clientId },
    };
    const recorded = await ports.ledger.record(
      recordingOf(ports, operation, [told], { contract: undefined, clock }),
    );
    if (recorded.kind === "recorded") return { operation: recorded.operation };
    the = await seen(ports, session, operation.id);
    const before = alreadyGiven(the.operation, session, given);
    if (before !== undefined) return before;
    answerable(the, given);
    readView(ports, the.operation, session.principalId, given.nonce, the.clock);
  }
  throw moving(first.operation);
}

function moving({ id }: Operation): Problem {
  return new Problem("decision_refused", "it moved while you answered; look at it again", {
    operationId: id,
  });
}
