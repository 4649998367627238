import type { Delegation } from "../core/delegation.ts";
import { timeText } from "../core/outlook.ts";
import type { Revocation } from "../core/revocation.ts";
import type { DelegationAnswer, RevocationAnswer } from "./delegation.ts";

/** A delegation as every surface tells it. */
export function delegationAnswer(record: Delegation): DelegationAnswer {
  const {
    id,
    parentId,
    principalId,
    by,
    delegator,
    holder,
    depth,
    depthMax,
    usesMax,
    createdBy,
    reason,
    revoked,
  } = record;
  return {
    id,
    ...(parentId === undefined ? {} : { parent: parentId }),
    principal: principalId,
    by,
    delegator,
    holder,
    // The wire's lists may be written to; the record's are only read.
    rules: record.rules as DelegationAnswer["rules"],
    depth,
    depthMax,
    ...(usesMax === undefined ? {} : { uses: usesMax }),
    notBefore: timeText(record.notBefore),
    expiresAt: timeText(record.expiresAt),
    createdAt: timeText(record.createdAt),
    createdBy,
    ...(reason === undefined ? {} : { reason }),
    ...(revoked === undefined ? {} : { revoked: { ...revoked, at: timeText(revoked.at) } }),
  };
}

export function revocationAnswer(revocation: Revocation): RevocationAnswer {
  return { ...revocation, at: timeText(revocation.at) };
}
