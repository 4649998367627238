import type { TenantId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import { type OfferChange, type Offered, offerDiff } from "../core/offer-diff.ts";
import type { RuleChange } from "../core/policy-diff.ts";
import { Problem } from "../core/problem.ts";
import type { Definition, Enrolment } from "./ledger-port.ts";
import { comparePolicy, policiesOf } from "./policy.ts";
import type { PolicyText } from "./policy-port.ts";
import type { Ports } from "./ports.ts";

/** Everything that a configuration's folder says is offered, and under which rules. */
export interface Offer {
  readonly definitions: readonly Definition[];
  /** A fresh one for each tenant. */
  readonly enrolment: () => Enrolment;
  readonly policy: PolicyText;
}

/** What applying a configuration would change for one tenant, against what was in force when it was looked at. */
export interface Plan {
  readonly tenantId: TenantId;
  /** Names what was in force; "" where nothing ever was. */
  readonly expects: string;
  readonly changes: readonly OfferChange[];
  readonly policy: {
    readonly digest: string;
    readonly standing: string;
    readonly changes: readonly RuleChange[];
  };
}

type ApplyPorts = Pick<Ports, "ledger" | "policies" | "authority">;

/** What would change. Throws `invalid` with every mistake of the folder's policy. Nothing is written. */
export async function planApply(ports: ApplyPorts, tenantId: TenantId, offer: Offer): Promise<Plan> {
  const mistakes = policiesOf(ports).bench.check(offer.policy);
  if (mistakes.length > 0) throw new Problem("invalid", mistakes.join("\n"));
  const standing = await ports.ledger.inForce(tenantId);
  const before: Offered = {
    settings: standing.settings,
    tools: Object.fromEntries(
      await Promise.all(
        Object.entries(standing.tools).map(async ([name, digest]) => {
          const kept = await ports.ledger.definition(tenantId, digest);
          return [name, (kept?.tool ?? {}) as JsonObject] as const; // A tool is plain JSON.
        }),
      ),
    ),
  };
  const after: Offered = {
    settings: offer.enrolment().settings ?? {},
    tools: Object.fromEntries(
      offer.definitions.map(({ tool }) => [tool.name, tool as unknown as JsonObject]), // A tool is plain JSON.
    ),
  };
  return {
    tenantId,
    expects: standing.offered,
    changes: offerDiff(before, after),
    policy: await comparePolicy(ports, { tenantId }, offer.policy),
  };
}

/**
 * Puts a configuration in force as it was planned: operations that wait under tools or rules that change are decided again, or superseded,
 * before they can be claimed. Throws `policy_moved` when something else was put in force since the plan was made; then nothing more is changed.
 */
export async function applyPlan(ports: ApplyPorts, plan: Plan, offer: Offer, actor: string): Promise<void> {
  const { tenantId, expects, policy } = plan;
  const enrolled = await ports.ledger.enroll(tenantId, offer.definitions, {
    ...offer.enrolment(),
    expects,
    actor,
  });
  if (enrolled.standing !== enrolled.offered) throw moved();
  if (policy.changes.length === 0 && policy.standing !== "") return;
  const { store } = policiesOf(ports);
  await store.keep(tenantId, policy.digest, offer.policy, actor);
  const reason = "applied with its configuration";
  const answer = await store.activate(tenantId, {
    digest: policy.digest,
    expects: policy.standing,
    actor,
    reason,
  });
  if (answer.kind !== "activated") throw moved();
}

function moved(): Problem {
  return new Problem("policy_moved", "something else was put in force since this was looked at", {
    next: "Look at what it would change now, and apply it again.",
  });
}
