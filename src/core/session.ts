import type { Instant, TenantId } from "./ids.ts";
import type { Json } from "./json.ts";

/** One step of authority that a parent gave a client. Records live in the ledger; a token only names one. */
export interface DelegationLink {
  readonly id: string;
  /** In which capacity the delegator gave it: as the principal, as the client that held the authority above, or an operator for a service. */
  readonly by: "principal" | "client" | "operator";
  readonly delegator: string;
  /** The client that may act under it. */
  readonly holder: string;
  /** How many operations may be claimed under it, all in all. */
  readonly usesMax?: number;
}

/** Who asks. Made from a verified token and from nothing else; a proposal that names its own identity is refused. */
export interface Session {
  readonly tenantId: TenantId;
  /** `issuer#subject` of the person, or of the service when it acts for itself. */
  readonly principalId: string;
  /** The agent or service that holds the token. */
  readonly clientId: string;
  readonly roles: readonly string[];
  /** The chain through which the client got its authority, root first. */
  readonly delegation: readonly DelegationLink[];
  /** Names the ledger's record that the client acts under, before it is resolved into `delegation`. */
  readonly delegationId?: string;
  /** The client acts for itself: no person stands behind it, and policy must say so explicitly. */
  readonly itself?: true;
  readonly authentication?: Authentication;
}

/** How the caller was authenticated. */
export interface Authentication {
  /** `console`: the person in a browser session of their own. Approvals are never taken through the client that proposed. */
  readonly via: "token" | "console";
  /** When the person last proved who they are (OpenID Connect `auth_time`). */
  readonly at?: Instant;
  /** In which way (`acr`). */
  readonly acr?: string;
}

/** The chain as an action and its events name it. */
export function chainOf(session: Pick<Session, "delegation">): Json {
  return session.delegation.map(({ id, by, delegator, holder }) => ({ id, by, delegator, holder }));
}

/** Every distinct client through whom this authority runs: policy must allow it to each of them. */
export function clientsInChain(session: Pick<Session, "clientId" | "delegation">): readonly string[] {
  const links = session.delegation.flatMap(({ by, delegator, holder }) =>
    by === "client" ? [delegator, holder] : [holder],
  );
  return [...new Set([...links, session.clientId])];
}

/** The service's name when it acts for itself (RFC 9068: the subject is the client), else undefined. An issuer's URL has no `#`. */
export function serviceName({
  principalId,
  clientId,
}: Pick<Session, "principalId" | "clientId">): string | undefined {
  return principalId.slice(principalId.indexOf("#") + 1) === clientId ? clientId : undefined;
}

/** Everybody through whom this authority ran: none of them gives a second person's approval or ruling. */
export function peopleInChain(
  session: Pick<Session, "principalId" | "clientId" | "delegation">,
): ReadonlySet<string> {
  const people = new Set([session.principalId, session.clientId]);
  for (const link of session.delegation) people.add(link.delegator).add(link.holder);
  return people;
}
