import type { Delegation, DelegationRule } from "../../src/core/delegation.ts";
import type { Session } from "../../src/core/session.ts";
import type { NewDelegation } from "../../src/service/delegation-port.ts";
import type { Rig } from "./rig.ts";

/** Everything that the tests' tools can touch. */
const EVERYTHING: readonly DelegationRule[] = [
  { tools: ["orders.place"], resources: ["Order:*"] },
  { tools: ["inventory.*"], resources: ["Warehouse:*"] },
];

let made = 0;

/** A record of a chain, straight into the ledger: below `above`, or the principal's own. */
export async function linked(
  here: Pick<Rig, "ledger" | "session">,
  holder: string,
  above?: Delegation,
  changes: Partial<NewDelegation> = {},
): Promise<Delegation> {
  made += 1;
  const id = `dlg_${made.toString(16).padStart(8, "0")}${Math.random().toString(16).slice(2).padEnd(24, "0").slice(0, 24)}`;
  const place =
    above === undefined
      ? { by: "principal" as const, delegator: here.session.principalId, depth: 0 }
      : { by: "client" as const, delegator: above.holder, depth: above.depth + 1, parentId: above.id };
  const answer = await here.ledger.delegations.grant({
    tenantId: here.session.tenantId,
    id,
    principalId: here.session.principalId,
    ...place,
    holder,
    rules: EVERYTHING,
    depthMax: 7,
    lasts: { forMs: 3_600_000 },
    createdBy: "test",
    ...changes,
  });
  if (answer.kind === "ended") throw new Error("the delegation was not granted");
  return answer.delegation;
}

/** A session of the link's holder that names the link, as a token would. */
export function under(here: Pick<Rig, "session">, link: Delegation): Session {
  return { ...here.session, clientId: link.holder, delegationId: link.id };
}

/** From the principal to agent-1, to agent-2, to agent-3. `changes` are the middle one's. */
export async function chained(
  here: Pick<Rig, "ledger" | "session">,
  changes: Partial<NewDelegation> = {},
): Promise<readonly [Delegation, Delegation, Delegation]> {
  const root = await linked(here, "agent-1");
  const middle = await linked(here, "agent-2", root, changes);
  return [root, middle, await linked(here, "agent-3", middle)];
}
