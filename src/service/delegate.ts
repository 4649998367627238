import {
  CHAIN_MAX,
  chainState,
  contains,
  type Delegation,
  type DelegationRule,
  holds,
} from "../core/delegation.ts";
import type { Instant } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import { storable } from "../core/storable.ts";
import { requireUnrevoked } from "./backing.ts";
import type { DelegationQuery, NewDelegation } from "./delegation-port.ts";
import { requireRole, seesAll } from "./inspect.ts";
import type { Ports } from "./ports.ts";

/** What somebody gives of their authority. */
export interface DelegationOrder {
  /** The client that may act under it. */
  readonly holder: string;
  /** A service that acts for itself, `issuer#client`: an operator gives to it. */
  readonly service?: string | undefined;
  readonly rules: readonly DelegationRule[];
  /** How many links may follow below it. */
  readonly depth?: number | undefined;
  readonly uses?: number | undefined;
  readonly notBefore?: Instant | undefined;
  readonly lasts: NewDelegation["lasts"];
  readonly reason?: string | undefined;
}

type Place = Pick<NewDelegation, "principalId" | "by" | "delegator" | "depth" | "parentId"> & {
  readonly above?: Delegation;
};

/**
 * Gives a client a part of what the session holds. The principal gives in a session of their own; a client gives what it holds itself, under
 * its own record or, without one, as the agent of its principal; an operator gives to a service that acts for itself.
 */
export async function delegate(ports: Ports, session: Session, order: DelegationOrder): Promise<Delegation> {
  await requireUnrevoked(ports, session);
  const { above, ...place } =
    order.service === undefined ? await placeOf(ports, session) : forService(session, order);
  const depthMax = place.depth + (order.depth ?? 0);
  if (
    depthMax >= CHAIN_MAX ||
    place.depth > (above?.depthMax ?? CHAIN_MAX) ||
    depthMax > (above?.depthMax ?? CHAIN_MAX)
  )
    throw new Problem("forbidden", "no further link may follow this deep", { at: "/depth" });
  refuseNonsense(order);
  const tools = ports.catalog.offered(session.tenantId).map(({ tool }) => tool);
  if (above !== undefined && !contains(order.rules, above.rules, tools)) {
    throw new Problem("forbidden", "the rules give more than the session's own delegation certainly holds", {
      at: "/rules",
      next: "Give each rule tools, resources and argument limits that lie within one rule of the delegation above.",
    });
  }
  const answer = await ports.ledger.delegations.grant({
    ...place,
    tenantId: session.tenantId,
    id: `dlg_${ports.entropy.uuid7().replaceAll("-", "")}`,
    holder: order.holder,
    rules: order.rules,
    depthMax,
    ...(order.uses === undefined ? {} : { usesMax: order.uses }),
    ...(order.notBefore === undefined ? {} : { notBefore: order.notBefore }),
    lasts: order.lasts,
    ...(order.reason === undefined ? {} : { reason: storable(order.reason) }),
    createdBy: session.principalId,
  });
  if (answer.kind === "granted") return answer.delegation;
  throw new Problem(
    "invalid",
    "it would have ended before it begins, or what it was to be a part of has ended",
    {
      at: "/lastsSeconds",
    },
  );
}

/** Where in a chain the session gives. */
async function placeOf(ports: Ports, session: Session): Promise<Place> {
  const { principalId, clientId, tenantId } = session;
  const id = session.delegationId ?? session.delegation.at(-1)?.id;
  if (id !== undefined) {
    const links = await ports.ledger.delegations.chain(tenantId, id);
    const above = standing(links, session);
    return {
      principalId,
      by: "client",
      delegator: clientId,
      depth: above.depth + 1,
      parentId: above.id,
      above,
    };
  }
  // Whoever only holds the person's token is the person's agent: what it gives is asked of policy for the agent too.
  if (session.authentication?.via !== "console")
    return { principalId, by: "client", delegator: clientId, depth: 0 };
  return { principalId, by: "principal", delegator: principalId, depth: 0 };
}

/** What the database's clock says to its end is for the ledger; what was revoked or is somebody else's gives nothing on. */
function standing(links: readonly Delegation[], session: Session): Delegation {
  const above = links.at(-1);
  if (above === undefined || !holds(session, links))
    throw new Problem("forbidden", "the delegation that this session names gives it nothing");
  const state = chainState(links, above.notBefore);
  if (!state.ok && state.why === "revoked")
    throw new Problem("revoked", `the delegation ${state.link} was revoked`);
  if (!state.ok && state.why === "broken")
    throw new Problem("forbidden", `the delegation ${state.link} does not follow from the one above it`);
  return above;
}

function forService(session: Session, { service = "", holder }: DelegationOrder): Place {
  requireRole(session, "operator");
  if (!service.endsWith(`#${holder}`)) {
    throw new Problem(
      "invalid_request",
      "a service that acts for itself is its own holder: issuer, #, and the holder's name",
      {
        at: "/service",
      },
    );
  }
  return { principalId: service, by: "operator", delegator: session.principalId, depth: 0 };
}

/** What no argument could meet is a mistake, not a very tight limit; what cannot be kept as it is written is refused. */
function refuseNonsense({ rules }: DelegationOrder): void {
  if (JSON.stringify(storable(rules)) !== JSON.stringify(rules))
    throw new Problem("invalid", "the rules hold characters that no database keeps", { at: "/rules" });
  for (const [index, rule] of rules.entries())
    for (const [name, limit] of Object.entries(rule.arguments ?? {}))
      if (limit.min !== undefined && limit.max !== undefined && limit.min > limit.max)
        throw new Problem("invalid", `nothing is at least ${limit.min} and at most ${limit.max}`, {
          at: `/rules/${index}/arguments/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
        });
}

/** Newest first: all of the tenant for roles that see it, else what the session's own authority gave or holds. */
export async function delegations(
  ports: Pick<Ports, "ledger">,
  session: Session,
  query: Omit<DelegationQuery, "of">,
): Promise<readonly Delegation[]> {
  return ports.ledger.delegations.list(
    session.tenantId,
    seesAll(session) ? query : { ...query, of: ownOf(session) },
  );
}

/** Under a delegation a client sees its own part of the principal's authority, and not the rest. */
function ownOf({
  principalId,
  clientId,
  delegationId,
  delegation,
}: Session): NonNullable<DelegationQuery["of"]> {
  const whole = delegationId === undefined && delegation.length === 0;
  return whole ? { principalId } : { principalId, clientId };
}
