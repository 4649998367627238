import { chainOpinions, type DelegatedRequest, type Delegation, holds } from "../core/delegation.ts";
import type { Instant } from "../core/ids.ts";
import type { Opinion } from "../core/policy.ts";
import { Problem } from "../core/problem.ts";
import { type Revocation, revocationOpinions } from "../core/revocation.ts";
import type { Session } from "../core/session.ts";
import type { Authority } from "./ledger-port.ts";
import type { Ports } from "./ports.ts";

type Asking = Pick<Ports, "authority">;

/** What stands behind a session under this authority. Without links: the record that it names gives it nothing. */
interface Behind {
  readonly links: readonly Delegation[] | undefined;
  readonly revocations: readonly Revocation[];
  readonly clock: Instant;
}

async function behind({ authority }: Asking, session: Session, now: Authority): Promise<Behind> {
  const { tenantId, principalId, clientId } = session;
  const delegationId = session.delegationId ?? session.delegation.at(-1)?.id;
  const claimant = { principalId, clientId, ...(delegationId === undefined ? {} : { delegationId }) };
  const { links, revocations, clock } = await authority.backing(tenantId, claimant, now);
  // What belongs to somebody else is answered as what is not there.
  const own = delegationId === undefined || (links !== undefined && holds(session, links));
  return { links: own ? links : undefined, revocations, clock };
}

/** The session with its chain as the ledger has it. One that names what gives it nothing has no chain, and `voices` denies it. */
export async function backed(ports: Asking, session: Session, now: Authority): Promise<Session> {
  if (session.delegationId === undefined && session.delegation.length === 0) return session;
  const { links } = await behind(ports, session, now);
  return { ...session, delegation: links ?? [] };
}

/** The voices of what stands behind a session: nobody in the chain is revoked, and every link, evaluated afresh, covers the request. */
export async function voices(
  ports: Asking,
  session: Session,
  request: DelegatedRequest,
  now: Authority,
  clock: Instant,
): Promise<readonly Opinion[]> {
  const { links, revocations, clock: readAt } = await behind(ports, session, now);
  const against = revocationOpinions(revocations);
  if (links === undefined) return [...against, NOTHING];
  return [...against, ...chainOpinions(links, request, Math.max(clock, readAt))];
}

const NOTHING: Opinion = {
  of: "delegation",
  effect: "deny",
  policies: [],
  requirements: [],
  obligations: [],
  why: "the delegation that this session names gives it nothing",
};

/** The links of an operation's chain, for what its claim draws of them. Nothing is read where there is no chain. */
export async function linksOf(
  ports: Asking,
  session: Session,
  now: Authority,
): Promise<readonly Delegation[]> {
  if (session.delegation.length === 0) return [];
  return (await behind(ports, session, now)).links ?? [];
}

/**
 * Throws `revoked` when the person or the client of this session may not act any more, read now: a token lives on after whoever revoked
 * its holder. Asked by every verb that changes authority or speaks for a person.
 */
export async function requireUnrevoked(ports: Asking, session: Session): Promise<void> {
  const now = await ports.authority.refresh(session.tenantId);
  const [standing] = (await behind(ports, session, now)).revocations;
  if (standing !== undefined)
    throw new Problem("revoked", `the ${standing.scope} of this session was revoked: ${standing.reason}`);
}
