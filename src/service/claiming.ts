import { thawAction } from "../core/action.ts";
import type { Authorization } from "../core/authorization.ts";
import type { ClaimId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { Draw } from "../core/limits.ts";
import type { Operation } from "../core/operation.ts";
import type { Decision } from "../core/policy.ts";
import { settleLocal } from "./execute.ts";
import type { Claiming } from "./ledger-port.ts";
import { drawing } from "./opening.ts";
import type { OfferedTool, Ports } from "./ports.ts";
import { workerActor } from "./settle.ts";

/** What may be claimed now, and under which epoch; `decided` where that was decided again. */
export interface Claimable {
  readonly operation: Operation;
  readonly offered: OfferedTool;
  readonly epoch: number;
  readonly decided?: Decision;
}

/** The claim as the ledger takes it, with the effect that goes with it where that is our own database's. */
export function claimingOf(
  ports: Ports,
  { operation, offered, epoch, decided }: Claimable,
  uses: readonly Draw[],
): Claiming {
  const { contract } = offered.tool;
  const ticket = {
    claimId: ports.entropy.uuid4() as ClaimId,
    worker: ports.worker,
    leaseMs: contract.leaseMs,
    ...drawing(offered.tool, thawAction(operation.action), operation.resource, uses),
  };
  const authorization = authorizationNow(operation, decided, epoch);
  const local = offered.connector.localEffect;
  const again =
    decided === undefined
      ? []
      : [
          {
            type: "authorized" as const,
            actor: { policy: decided.policyVersion },
            data: { ...underBoth(operation, decided), policies: decided.policies, again: true },
          },
        ];
  return {
    operation: authorization === undefined ? operation : { ...operation, authorization },
    epoch,
    ticket,
    events: [
      ...again,
      {
        type: "claimed",
        actor: workerActor(ports),
        data: { claim: ticket.claimId, attempt: operation.attempts.length + 1 },
      },
    ],
    ...(local === undefined
      ? {}
      : {
          local: {
            effect: local(thawAction(operation.action), offered.tool),
            settle: settleLocal(ports, contract),
          },
        }),
  };
}

function authorizationNow(
  operation: Operation,
  decided: Decision | undefined,
  epoch: number,
): Authorization | undefined {
  const before = operation.authorization;
  if (before === undefined || decided === undefined) return before;
  return { ...before, epoch, policyVersion: decided.policyVersion, policies: decided.policies };
}

/** Under which policy and epoch it is decided now, and was before: both are told. */
export function underBoth(operation: Operation, now: Pick<Decision, "policyVersion" | "epoch">): JsonObject {
  const before = operation.authorization;
  const was =
    before === undefined ? {} : { was: { policyVersion: before.policyVersion, epoch: before.epoch } };
  return { policyVersion: now.policyVersion, epoch: now.epoch, ...was };
}
