import { digestHolds, thawAction } from "../core/action.ts";
import type { Authorization } from "../core/authorization.ts";
import type { Contract } from "../core/contract.ts";
import { haltOf } from "../core/halt.ts";
import type { ClaimId, Instant } from "../core/ids.ts";
import type { Operation, Reason } from "../core/operation.ts";
import { type Decision, sameAnswer } from "../core/policy.ts";
import { standingOf } from "../core/recovery.ts";
import { maySend } from "../core/sending.ts";
import { decide, pinnedNow, toolClosedBy } from "./decide.ts";
import { type Claimed, performClaimed, settleLocal } from "./execute.ts";
import type { Authority, Claiming, OfferedTool, Ports } from "./ports.ts";
import { recordingOf, type Told, workerActor } from "./settle.ts";
import { sameProvider, sessionOf, subjectOf } from "./standing.ts";

/** What became of an operation that somebody wanted to execute. `done` ends when the execution begun here has. */
export interface Executed {
  readonly operation: Operation;
  readonly done?: Promise<Operation>;
  /** Nothing was done, because a halt stands. */
  readonly halted?: string;
}

const CLAIMS_MAX = 4;
/** A halted operation is looked at again after this; a lift is noticed by then. */
const HALTED_AGAIN_MS = 5_000;

/**
 * Claims an operation that is authorized (or, for a repeat, unknown) and begins to execute it. Everything that may have changed since the
 * decision is checked again here; what no longer holds rejects it with its reason.
 */
export async function claimAndExecute(ports: Ports, operation: Operation, clock: Instant): Promise<Executed> {
  let current = operation;
  let authority = await ports.authority.known(operation.tenantId);
  // A refusal is never given on an old view of authority: somebody else may have lifted the halt.
  if (authority.halts.length > 0 || authority.epoch !== operation.authorization?.epoch)
    authority = await ports.authority.refresh(operation.tenantId);
  for (let tries = 0; tries < CLAIMS_MAX; tries++) {
    const offered = await pinnedNow(ports, current);
    const checked = await check(ports, current, offered, authority, clock);
    if (checked.kind !== "claim")
      return { operation: checked.operation, ...(checked.kind === "halted" ? { halted: checked.why } : {}) };
    const started = { monotonicMs: ports.clock.monotonicMs(), wallMs: ports.clock.wallMs() };
    const answer = await ports.ledger.claim(claimingOf(ports, checked));
    switch (answer.kind) {
      case "claimed":
        return begun(ports, {
          operation: answer.operation,
          clock: answer.clock,
          started,
          offered: checked.offered,
        });
      case "expired":
        clock = answer.clock;
        break;
      case "stale_authority":
        authority = await ports.authority.refresh(current.tenantId);
        break;
      case "changed":
        return { operation: (await ports.ledger.read(current.tenantId, current.id))?.value ?? current };
    }
    current = (await ports.ledger.read(current.tenantId, current.id))?.value ?? current;
    // Whether a repeat is still right is for the next look at it to say.
    if (current.state === "unknown") return { operation: current };
  }
  return { operation: current };
}

function begun(ports: Ports, claimed: Claimed): Executed {
  if (claimed.operation.state !== "executing") return { operation: claimed.operation };
  return { operation: claimed.operation, done: performClaimed(ports, claimed) };
}

type Checked =
  | {
      readonly kind: "claim";
      readonly operation: Operation;
      readonly offered: OfferedTool;
      readonly epoch: number;
      readonly decided?: Decision;
    }
  | { readonly kind: "ended" | "halted"; readonly operation: Operation; readonly why: string };

/** The table of refused claims (section 5 of the protocol), before a claim is sent. */
async function check(
  ports: Ports,
  operation: Operation,
  offered: OfferedTool | undefined,
  authority: Authority,
  clock: Instant,
): Promise<Checked> {
  const isRepeat = operation.state === "unknown";
  if (operation.state !== "authorized" && !isRepeat)
    return { kind: "ended", operation, why: operation.state };
  if (offered === undefined) return wait(ports, operation, clock, "its tool is not known here");
  const { contract } = offered.tool;
  if (!digestHolds(operation.action, operation.digest)) {
    ports.log.error("invariant", {
      tenant: operation.tenantId,
      operation: operation.id,
      what: "the stored action does not hash to its digest",
    });
    return isRepeat
      ? wait(ports, operation, clock, "the stored action does not hash")
      : reject(ports, operation, "invalid", contract, clock);
  }
  if (!sameProvider(operation, offered) || (operation.attempts.length === 0 && moved(ports, operation)))
    return isRepeat
      ? wait(ports, operation, clock, "the provider's settings changed")
      : reject(ports, operation, "superseded", contract, clock);
  const lapsed = lapse(operation, contract, clock);
  if (lapsed !== undefined)
    return isRepeat
      ? wait(ports, operation, clock, lapsed)
      : reject(ports, operation, lapsed, contract, clock);
  const halt = haltOf(authority.halts, subjectOf(operation));
  if (halt !== undefined) return wait(ports, operation, clock, `halted: ${halt.reason}`);
  const closed = toolClosedBy(authority, offered);
  if (closed !== undefined) return wait(ports, operation, clock, closed.message);
  if (operation.authorization?.epoch === authority.epoch)
    return { kind: "claim", operation, offered, epoch: authority.epoch };
  return decideAgain(ports, operation, offered, authority, clock);
}

/** Permission that ended, or attempts that are spent; asked with the same predicate as the send gate. */
function lapse(operation: Operation, contract: Contract, clock: Instant): Reason | undefined {
  const standing = standingOf(operation, contract, clock);
  if (!standing.live) return standing.why === "attempts_spent" ? "not_applied" : "expired";
  const sending = {
    n: operation.attempts.length + 1,
    leaseUntil: clock + contract.leaseMs,
    expiresAt: operation.expiresAt,
  };
  const gate = maySend(operation, sending, contract, clock, 0);
  if (gate.open) return undefined;
  return gate.why === "window" ? "not_applied" : "expired";
}

/** What was offered when it was decided is not what is offered now. */
function moved(ports: Ports, operation: Operation): boolean {
  return ports.catalog.tool(operation.tenantId, operation.tool)?.digest !== operation.toolDigest;
}

/** Authority changed since the decision: the same answer goes on, more approval reopens, a no rejects. A repeat needs the same answer. */
async function decideAgain(
  ports: Ports,
  operation: Operation,
  offered: OfferedTool,
  authority: Authority,
  clock: Instant,
): Promise<Checked> {
  const action = thawAction(operation.action);
  const decision = decide(ports, sessionOf(operation), offered.tool, action, authority);
  const before = operation.authorization;
  const same =
    before !== undefined && sameAnswer({ effect: "allow", obligations: before.obligations }, decision);
  if (same) return { kind: "claim", operation, offered, epoch: authority.epoch, decided: decision };
  if (operation.state === "unknown")
    return wait(ports, operation, clock, "authority changed since it was decided");
  if (decision.effect === "review") {
    return record(ports, operation, offered.tool.contract, clock, {
      happening: { type: "reopened" },
      actor: { policy: decision.policyVersion },
      data: { why: decision.why ?? "", epoch: authority.epoch },
    });
  }
  return reject(ports, operation, "denied", offered.tool.contract, clock, {
    policyVersion: decision.policyVersion,
    epoch: authority.epoch,
    why: decision.why ?? "",
  });
}

async function reject(
  ports: Ports,
  operation: Operation,
  reason: Reason,
  contract: Contract,
  clock: Instant,
  data = {},
): Promise<Checked> {
  return record(ports, operation, contract, clock, {
    happening: { type: "denied", reason },
    actor: workerActor(ports),
    data,
  });
}

async function record(
  ports: Ports,
  operation: Operation,
  contract: Contract,
  clock: Instant,
  told: Told,
): Promise<Checked> {
  const answer = await ports.ledger.record(recordingOf(ports, operation, [told], { contract, clock }));
  const now =
    answer.kind === "recorded"
      ? answer.operation
      : ((await ports.ledger.read(operation.tenantId, operation.id))?.value ?? operation);
  return { kind: "ended", operation: now, why: told.happening.type };
}

async function wait(ports: Ports, operation: Operation, clock: Instant, why: string): Promise<Checked> {
  await ports.ledger.postpone(
    operation,
    Math.min(clock + HALTED_AGAIN_MS, Math.max(clock, operation.expiresAt)),
  );
  return { kind: "halted", operation, why };
}

function claimingOf(ports: Ports, checked: Extract<Checked, { kind: "claim" }>): Claiming {
  const { operation, offered, epoch, decided } = checked;
  const { contract } = offered.tool;
  const ticket = {
    claimId: ports.entropy.uuid4() as ClaimId,
    worker: ports.worker,
    leaseMs: contract.leaseMs,
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
            data: { policyVersion: decided.policyVersion, epoch, policies: decided.policies, again: true },
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
