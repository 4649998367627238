import { wrongPerson } from "../core/approval.ts";
import type { OperationId } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import type { Requirement } from "../core/policy.ts";
import { Problem } from "../core/problem.ts";
import type { ApprovalStatement, Review } from "../core/review.ts";
import { peopleInChain, type Session } from "../core/session.ts";
import { requireUnrevoked } from "./backing.ts";
import { type Asked, mayAnswer } from "./consent.ts";
import { asksRole, seesAll } from "./inspect.ts";
import type { Ports } from "./ports.ts";
import { sessionOf } from "./standing.ts";
import type { View } from "./viewing.ts";

/** An operation that people are asked about, seen by one person who may see it. */
export interface Seen extends Asked {
  readonly review: Review;
}

/**
 * What a person looks at. Only a person in a session of their own, never a service that acts for itself and never a client through which
 * the operation's authority ran. Throws `not_found` for what is absent, foreign, or nobody's business here: the three read alike.
 */
export async function seen(ports: Ports, session: Session, id: OperationId): Promise<Seen> {
  if (session.itself === true)
    throw new Problem("forbidden", "people decide this, and a service that acts for itself is not a person");
  await requireUnrevoked(ports, session);
  const read = await ports.ledger.read(session.tenantId, id);
  if (read === undefined) throw nothing();
  const { value: operation, clock } = read;
  const authority = await ports.authority.refresh(session.tenantId);
  const asker = sessionOf(operation);
  const { review } = operation;
  if (!(await concerns(ports, session, { operation, asker, authority, clock }))) throw nothing();
  if (peopleInChain(asker).has(session.clientId))
    throw new Problem("forbidden", "nobody decides through a client that is in the chain of its authority", {
      operationId: id,
      next: "Decide in a session of your own, in the console or at the command line.",
    });
  if (review === undefined)
    throw new Problem("decision_refused", "no person is asked about this operation", { operationId: id });
  return { operation, review, asker, authority, clock };
}

function nothing(): Problem {
  return new Problem("not_found", "no such operation");
}

/** Is it this person's business: their own, their role's to see, or theirs to answer? */
export async function concerns(
  ports: Pick<Ports, "policy" | "authority">,
  session: Session,
  the: Asked,
): Promise<boolean> {
  const { operation } = the;
  if (seesAll(session) || operation.principalId === session.principalId || asksRole(operation, session))
    return true;
  const { able } = await abilities(ports, session, the);
  return able.length > 0;
}

/** A no is a person's who is asked, who watches over the tenant, or whose change it is. */
export async function mayRefuse(
  ports: Pick<Ports, "policy" | "authority">,
  session: Session,
  the: Asked,
): Promise<boolean> {
  const { operation } = the;
  if (operation.principalId === session.principalId || asksRole(operation, session)) return true;
  if (session.roles.some((role) => role === "operator" || role === "approver")) return true;
  return (await abilities(ports, session, the)).able.length > 0;
}

export interface Abilities {
  /** What this person's yes can count for. */
  readonly able: readonly Requirement[];
  readonly unable: readonly { readonly requirement: Requirement; readonly why: string }[];
}

/** Which requirements a person could answer now, and why not the others. How sure it is that it is they is asked apart. */
export async function abilities(
  ports: Pick<Ports, "policy" | "authority">,
  session: Session,
  { operation, asker, authority }: Asked,
): Promise<Abilities> {
  const { principalId, clientId, authentication } = session;
  const yes = {
    person: principalId,
    client: clientId,
    ...(authentication === undefined ? {} : { authentication }),
  };
  const chain = { principalId: operation.principalId, chain: peopleInChain(asker) };
  const able: Requirement[] = [];
  const unable: { requirement: Requirement; why: string }[] = [];
  for (const requirement of operation.review?.requirements ?? []) {
    const wrong = session.itself === true ? "it is not a person" : wrongPerson(yes, requirement, chain);
    if (wrong === undefined && (await mayAnswer(ports, { session, operation, requirement, authority })))
      able.push(requirement);
    else unable.push({ requirement, why: wrong ?? `policy asks for ${requirement.role}` });
  }
  return { able, unable };
}

/** Exactly what a passkey signs of an answer to this view. */
export function statementOf(
  operation: Operation,
  approver: string,
  decision: "approve" | "reject",
  able: readonly Requirement[],
  view: View,
): ApprovalStatement {
  return {
    actionDigest: operation.digest,
    operationId: operation.id,
    decision,
    approver,
    requirement: able.map(({ policy }) => policy).sort(),
    nonce: view.nonce,
    expiresAt: new Date(view.expiresAt).toISOString(),
  };
}
