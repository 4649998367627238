import type { Plan } from "../../src/core/recovery.ts";
import type { ContractClass } from "./contract-class.ts";
import type { Rules } from "./rules.ts";
import type { What } from "./words.ts";
import type { World } from "./world.ts";

/** `who` is a worker's place or -1, `n` the attempt; `witness` names something rarer that this step also shows. */
export type Emit = (to: World, what: What, who: number, n: number, witness?: string) => void;

/** One world, with what its steps are computed from. */
export interface Scene {
  readonly world: World;
  readonly cls: ContractClass;
  readonly rules: Rules;
  readonly emit: Emit;
  /** What the core would do next, while the outcome is unknown. */
  readonly plan: Plan | undefined;
}

/** Before a claim is sent: decided under this epoch, nothing halted, attempts left, and the gate would open. */
export function claimable(world: World, cls: ContractClass, rules: Rules): boolean {
  const { ledger, clock, epoch, authority } = world;
  const { authorization, attempts } = ledger;
  if (authorization === undefined || authority === "halt" || !rules.epochHolds(authorization.epoch, epoch))
    return false;
  if (attempts.length >= cls.contract.attemptsMax) return false;
  const sending = {
    n: attempts.length + 1,
    leaseUntil: clock + cls.contract.leaseMs,
    expiresAt: authorization.expiresAt,
  };
  return rules.maySend(ledger, sending, cls.contract, clock, 0).open;
}
