import { chainOpinions, type DelegatedRequest, type Delegation, holds } from "../core/delegation.ts";
import type { Instant, TenantId } from "../core/ids.ts";
import type { Opinion } from "../core/policy.ts";
import { Problem } from "../core/problem.ts";
import { type Revocation, revocationOpinions } from "../core/revocation.ts";
import type { Session } from "../core/session.ts";
import type { Backing, Claimant } from "./delegation-port.ts";
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
  return ownPart(session, await authority.backing(session.tenantId, claimantOf(session), now));
}

/** What belongs to somebody else is answered as what is not there, and nothing of what stands against them is told. */
function ownPart(session: Session, { links, revocations, clock }: Backing): Behind {
  const { principalId, clientId } = session;
  const named = claimantOf(session).delegationId !== undefined;
  if (!named || (links !== undefined && holds(session, links))) return { links, revocations, clock };
  const own = revocations.filter(
    ({ scope, name }) => name === (scope === "principal" ? principalId : clientId),
  );
  return { links: undefined, revocations: own, clock };
}

function claimantOf({ principalId, clientId, delegationId, delegation }: Session): Claimant {
  const id = delegationId ?? delegation.at(-1)?.id;
  return { principalId, clientId, ...(id === undefined ? {} : { delegationId: id }) };
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
 * Throws `revoked` when the person or the client of this session may not act any more: a token lives on after whoever revoked its holder.
 * Read from the ledger now, by every verb that changes authority or speaks for a person.
 */
export async function requireUnrevoked({ ledger }: Pick<Ports, "ledger">, session: Session): Promise<void> {
  const read = await ledger.delegations.backing(session.tenantId, claimantOf(session));
  const [standing] = ownPart(session, read).revocations;
  if (standing !== undefined)
    throw new Problem("revoked", `the ${standing.scope} of this session was revoked: ${standing.reason}`);
}

/** After a change of authority: what this process holds of it is read again. Whether that succeeds says nothing about the change. */
export async function lookAgain({ authority }: Asking, tenantId: TenantId): Promise<void> {
  await authority.refresh(tenantId).catch(() => undefined);
}
