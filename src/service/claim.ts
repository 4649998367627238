import { digestHolds, thawAction } from "../core/action.ts";
import type { Authorization } from "../core/authorization.ts";
import type { Contract } from "../core/contract.ts";
import { usesOf } from "../core/delegation.ts";
import { haltOf } from "../core/halt.ts";
import type { Instant } from "../core/ids.ts";
import type { Operation, Reason } from "../core/operation.ts";
import { standingOf } from "../core/recovery.ts";
import { maySend } from "../core/sending.ts";
import { linksOf } from "./backing.ts";
import { type Claimable, claimingOf, underBoth } from "./claiming.ts";
import { agreement, tellPeople } from "./consent.ts";
import { decide, pinnedNow, toolClosedBy } from "./decide.ts";
import { type Claimed, performClaimed } from "./execute.ts";
import type { Authority } from "./ledger-port.ts";
import type { OfferedTool, Ports } from "./ports.ts";
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
    const links = await linksOf(ports, sessionOf(checked.operation), authority);
    const answer = await ports.ledger.claim(claimingOf(ports, checked, usesOf(links)));
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
      case "limit_reached": {
        const why = `the limit "${answer.limit}" has no room`;
        const { operation: waiting } = await wait(ports, current, answer.clock, why, answer.retryAt);
        return { operation: waiting, halted: why };
      }
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
  | ({ readonly kind: "claim" } & Claimable)
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
  const { tool } = offered;
  const asker = sessionOf(operation);
  const decision = await decide(ports, asker, tool, action, authority, clock);
  const agreed = await agreement(ports, { operation, asker, authority, clock }, tool, decision);
  if (agreed.kind === "same")
    return agreed.authorization === undefined || operation.state === "unknown"
      ? { kind: "claim", operation, offered, epoch: authority.epoch, decided: decision }
      : authorizedAgain(ports, operation, offered, agreed.authorization, clock);
  if (operation.state === "unknown")
    return wait(ports, operation, clock, "authority changed since it was decided");
  if (agreed.kind === "ask") {
    const actor = { policy: decision.policyVersion };
    const { review, authorization } = agreed;
    const reopened: Told = {
      happening: { type: "reopened", review },
      actor,
      data: { ...underBoth(operation, decision), why: decision.why ?? "" },
    };
    if (authorization === undefined) {
      const checked = await record(ports, operation, tool.contract, clock, reopened);
      if (checked.operation.state === "proposed") tellPeople(ports, checked.operation);
      return checked;
    }
    const told: Told = { happening: { type: "authorized", authorization }, actor };
    return record(ports, operation, tool.contract, clock, reopened, told);
  }
  return reject(ports, operation, decision.reason ?? "denied", offered.tool.contract, clock, {
    ...underBoth(operation, decision),
    why: decision.why ?? "",
  });
}

/** The same people permit it, under other rules: what it rests on, and when that ends, is written down before the claim. */
async function authorizedAgain(
  ports: Ports,
  operation: Operation,
  offered: OfferedTool,
  authorization: Authorization,
  clock: Instant,
): Promise<Checked> {
  const told: Told = {
    happening: { type: "authorized", authorization },
    actor: { policy: authorization.policyVersion },
    data: { ...underBoth(operation, authorization), again: true },
  };
  const { contract } = offered.tool;
  const answer = await ports.ledger.record(recordingOf(ports, operation, [told], { contract, clock }));
  if (answer.kind === "changed")
    return { kind: "ended", operation: await readAgain(ports, operation), why: "it moved" };
  return { kind: "claim", operation: answer.operation, offered, epoch: authorization.epoch };
}

async function readAgain(ports: Ports, operation: Operation): Promise<Operation> {
  return (await ports.ledger.read(operation.tenantId, operation.id))?.value ?? operation;
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
  ...told: readonly [Told, ...Told[]]
): Promise<Checked> {
  const answer = await ports.ledger.record(recordingOf(ports, operation, told, { contract, clock }));
  const now = answer.kind === "recorded" ? answer.operation : await readAgain(ports, operation);
  return { kind: "ended", operation: now, why: told[0].happening.type };
}

async function wait(
  ports: Ports,
  operation: Operation,
  clock: Instant,
  why: string,
  until: Instant = clock + HALTED_AGAIN_MS,
): Promise<Checked> {
  await ports.ledger.postpone(operation, Math.min(until, Math.max(clock, operation.expiresAt)));
  return { kind: "halted", operation, why };
}
