import { type Answered, approvalsOf, approverOf, assign } from "../core/approval.ts";
import type { Authorization } from "../core/authorization.ts";
import type { Instant } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import { type Decision, type Requirement, sameAnswer } from "../core/policy.ts";
import { type Approval, type Review, standingApprovals } from "../core/review.ts";
import { peopleInChain, type Session } from "../core/session.ts";
import type { Tool } from "../core/tool.ts";
import type { Authority } from "./ledger-port.ts";
import type { ApprovalQuestion, Ports } from "./ports.ts";

type Asking = Pick<Ports, "policy" | "authority">;

/** An operation that people answer for, seen at one moment. */
export interface Asked {
  readonly operation: Operation;
  /** Who proposed it, as far as the ledger kept it. */
  readonly asker: Session;
  readonly authority: Authority;
  readonly clock: Instant;
}

/** Whether people have said what these requirements ask. Who may say it is asked of policy afresh; an error is a no. */
export async function consent(
  ports: Asking,
  { operation, asker, authority, clock }: Asked,
  requirements: readonly Requirement[],
): Promise<Answered> {
  const approvals = standingApprovals(operation.review);
  const may = new Map<Approval, ReadonlySet<Requirement>>();
  for (const approval of approvals) {
    const session = approverOf(operation.tenantId, approval);
    const able = new Set<Requirement>();
    for (const requirement of requirements)
      if (await mayAnswer(ports, { session, operation, requirement, authority })) able.add(requirement);
    may.set(approval, able);
  }
  return assign(requirements, approvals, {
    digest: operation.digest,
    principalId: operation.principalId,
    chain: peopleInChain(asker),
    clock,
    eligible: (approval, requirement) => may.get(approval)?.has(requirement) === true,
  });
}

/** Whoever was revoked says nothing any more, and a broken policy lets nobody say yes. */
export async function mayAnswer(ports: Asking, question: ApprovalQuestion): Promise<boolean> {
  const { tenantId, principalId, clientId } = question.session;
  try {
    const claimant = { principalId, clientId };
    const { revocations } = await ports.authority.backing(tenantId, claimant, question.authority);
    return revocations.length === 0 && (await ports.policy.approves(question));
  } catch {
    return false;
  }
}

/** What a decision made again means to an operation that was permitted before. */
export type Agreement =
  /** Permitted as before; `authorization` where what it rests on changed. */
  | { readonly kind: "same"; readonly authorization?: Authorization }
  /** People are asked; `authorization` where they have answered already. */
  | { readonly kind: "ask"; readonly review: Review; readonly authorization?: Authorization }
  | { readonly kind: "no" };

/** Decided again: is it still permitted, also by the people who said yes, as they may speak now? */
export async function agreement(
  ports: Asking,
  asked: Asked,
  tool: Tool,
  decision: Decision,
): Promise<Agreement> {
  const { operation, clock } = asked;
  const before = operation.authorization;
  const obligations = before?.obligations ?? [];
  if (decision.effect !== "review")
    return before !== undefined && sameAnswer({ effect: "allow", obligations }, decision)
      ? { kind: "same" }
      : { kind: "no" };
  const answered = await consent(ports, asked, decision.requirements);
  const review = freshReview(asked, tool, decision);
  if (!answered.complete) return { kind: "ask", review };
  const fresh = permission({ ...operation, review }, tool, answered, clock);
  if (before === undefined || !sameAnswer({ effect: "review", obligations }, decision))
    return { kind: "ask", review, authorization: fresh };
  const expiresAt = Math.min(before.expiresAt, fresh.expiresAt);
  return { kind: "same", authorization: { ...fresh, authorizedAt: before.authorizedAt, expiresAt } };
}

/** The permission that people's answers complete. It ends with the first of all that it rests on. */
export function permission(
  operation: Operation & { readonly review: Review },
  tool: Tool,
  answered: Answered,
  clock: Instant,
): Authorization {
  const { policyVersion, epoch, roles, policies, obligations, endsAt } = operation.review;
  return {
    digest: operation.digest,
    policyVersion,
    epoch,
    authorizedAt: clock,
    expiresAt: Math.min(
      clock + tool.permissionForMs,
      endsAt ?? Number.POSITIVE_INFINITY,
      answered.endsAt ?? Number.POSITIVE_INFINITY,
    ),
    roles,
    policies,
    obligations,
    approvals: approvalsOf(answered),
  };
}

/** Whoever listens outside hears that people are asked: that, and where to look, and nothing of what it is. */
export function tellPeople({ approvals }: Pick<Ports, "approvals">, operation: Operation): void {
  const { tenantId, id, review } = operation;
  approvals.notifier?.waiting({ tenantId, id: `${id}.${review?.since ?? 0}`, operationId: id });
}

/** Asks people from now on; what they said before stays with it. */
function freshReview({ operation, asker, clock }: Asked, tool: Tool, decision: Decision): Review {
  const { requirements, policyVersion, epoch, policies, obligations, endsAt } = decision;
  return {
    requirements,
    policyVersion,
    epoch,
    policies,
    obligations,
    roles: asker.roles,
    ...(endsAt === undefined ? {} : { endsAt }),
    since: operation.revision + 1,
    until: clock + tool.reviewForMs,
    approvals: operation.review?.approvals ?? [],
  };
}
