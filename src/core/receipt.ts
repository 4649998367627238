import type { Instant } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Operation } from "./operation.ts";

/** The claims of the signed statement of a settled operation. `observedAt` is the database's clock at the claim or read, plus the time since. */
export function receiptClaims(operation: Operation, observedAt: Instant): JsonObject {
  const { authorization, evidence, reason } = operation;
  return {
    v: 1,
    tenantId: operation.tenantId,
    operationId: operation.id,
    state: operation.state,
    ...(reason === undefined ? {} : { reason }),
    digest: operation.digest,
    tool: operation.tool,
    toolDigest: operation.toolDigest,
    provider: operation.provider,
    resource: operation.resource,
    ...(operation.expectedVersion === undefined ? {} : { expectedVersion: operation.expectedVersion }),
    ...(operation.compensates === undefined ? {} : { compensates: operation.compensates }),
    principalId: operation.principalId,
    clientId: operation.clientId,
    ...(authorization === undefined
      ? {}
      : {
          authorization: {
            policyVersion: authorization.policyVersion,
            epoch: authorization.epoch,
            policies: authorization.policies,
            approvals: authorization.approvals,
            authorizedAt: authorization.authorizedAt,
            expiresAt: authorization.expiresAt,
          },
        }),
    ...refusedBy(operation),
    attempts: operation.attempts.map((attempt) => ({
      n: attempt.n,
      claimedAt: attempt.claimedAt,
      learned: attempt.outcome?.kind ?? "nothing",
    })),
    ...(evidence === undefined ? {} : { evidence: { kind: evidence.kind, data: evidence.data } }),
    observedAt,
  };
}

/** Whose no ended it. */
function refusedBy({ review, reason }: Operation): JsonObject {
  const no = reason === "review_denied" ? review?.approvals.at(-1) : undefined;
  if (no === undefined) return {};
  const { person, client, at, comment } = no;
  return { refusedBy: { person, client, at, ...(comment === undefined ? {} : { comment }) } };
}
