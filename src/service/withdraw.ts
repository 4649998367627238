import type { OperationId } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import { Problem } from "../core/problem.ts";
import { standingApprovals, withdrawn } from "../core/review.ts";
import type { Session } from "../core/session.ts";
import { type Seen, seen } from "./asked.ts";
import { consent } from "./consent.ts";
import type { Ports } from "./ports.ts";
import { recordingOf, type Told } from "./settle.ts";

const TRIES_MAX = 16;

/** Takes one's own yes back, until the operation is claimed. What no longer has enough people waits for them again. Twice is once. */
export async function withdraw(ports: Ports, session: Session, id: OperationId): Promise<Operation> {
  const person = session.principalId;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const the = await seen(ports, session, id);
    const { operation, review, clock } = the;
    if (!standingApprovals(review).some((each) => each.person === person && each.decision === "approve")) {
      if (review.approvals.some((each) => each.person === person && each.withdrawnAt !== undefined))
        return operation;
      throw new Problem("decision_refused", "you have said nothing that could be withdrawn", {
        operationId: id,
      });
    }
    if (operation.state !== "proposed" && operation.state !== "authorized")
      throw new Problem("decision_refused", `it is ${operation.state}: it is too late to withdraw`, {
        operationId: id,
      });
    const offered = await ports.catalog.pinned(operation.tenantId, operation.toolDigest);
    const told = await without(ports, session, the, offered?.tool.reviewForMs ?? 0);
    const moment = { contract: offered?.tool.contract, clock };
    const recorded = await ports.ledger.record(recordingOf(ports, operation, told, moment));
    if (recorded.kind === "recorded") return recorded.operation;
  }
  throw new Problem("decision_refused", "it moved while you withdrew; look at it again", { operationId: id });
}

async function without(
  ports: Ports,
  session: Session,
  the: Seen,
  reviewForMs: number,
): Promise<readonly Told[]> {
  const { operation, review, clock } = the;
  const person = session.principalId;
  const actor = { principal: person, client: session.clientId };
  const taken: Told = { happening: { type: "withdrawn", person, at: clock }, actor };
  const after = withdrawn(review, person, clock);
  const left = await consent(
    ports,
    { ...the, operation: { ...operation, review: after } },
    review.requirements,
  );
  if (operation.state === "proposed") return [taken];
  const { authorization } = operation;
  // Enough are left of those who were asked then. Whether they are enough now, the claim asks: epoch 0 is no tenant's.
  if (left.complete && authorization !== undefined)
    return [
      taken,
      { happening: { type: "authorized", authorization: { ...authorization, epoch: 0 } }, actor },
    ];
  // The deadline is the one that it had: taking a yes back gives nobody more time.
  const until = review.until ?? operation.createdAt + reviewForMs;
  return [taken, { happening: { type: "reopened", review: { ...after, until } }, actor }];
}
