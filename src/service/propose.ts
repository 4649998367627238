import { freezeAction } from "../core/action.ts";
import { type Instant, operationIdOf } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import { Problem } from "../core/problem.ts";
import { demand, type Proposal, proposalDigest } from "../core/proposal.ts";
import type { Session } from "../core/session.ts";
import { withDefaults } from "../core/tool.ts";
import { backed } from "./backing.ts";
import type { Place } from "./capacity.ts";
import { claimAndExecute } from "./claim.ts";
import { tellPeople } from "./consent.ts";
import { asProbed, decide, haltedBy, toolClosedBy } from "./decide.ts";
import { type Claimed, performClaimed } from "./execute.ts";
import type { Authority, OpenAnswer, Opening } from "./ledger-port.ts";
import { deferred, openingOf } from "./opening.ts";
import type { OfferedTool, Ports } from "./ports.ts";

/** An operation as the caller is answered, and how it came to be that one. `done` resolves when an execution begun here has ended. */
export interface Proposed {
  readonly operation: Operation;
  readonly how: "opened" | "replayed" | "joined";
  readonly done?: Promise<Operation>;
}

const DECISIONS_MAX = 4;
/** When to ask again about a room that only an outcome can make, not time. */
const LIMIT_AGAIN_MS = 60_000;
/** People take their time. */
const WAITING_AGAIN_MS = 30_000;

/** From a claim to an operation: normalize, decide, store, and execute when it is allowed now. The only way in. */
export async function propose(ports: Ports, asking: Session, asked: Proposal): Promise<Proposed> {
  try {
    return await proposeNew(ports, asking, asked);
  } catch (error) {
    // A tool that changed or went says nothing about what was asked for before: its key still has its operation.
    if (!(error instanceof Problem) || !UNREADABLE.has(error.code)) throw error;
    return (await replayed(ports, asking, asked)) ?? fail(error);
  }
}

const UNREADABLE: ReadonlySet<string> = new Set([
  "unknown_tool",
  "invalid",
  "version_required",
  "idempotency-key-missing",
]);

function fail(error: Problem): never {
  throw error;
}

/** The operation that the caller's intent key names, if this is the proposal that it was sent with. */
async function replayed(ports: Ports, session: Session, asked: Proposal): Promise<Proposed | undefined> {
  if (asked.intentKey === undefined) return undefined;
  const intent = await ports.ledger.intent(session.tenantId, session.principalId, asked.intentKey);
  if (intent === undefined) return undefined;
  if (intent.operation === undefined) throw refusal({ kind: "key_spent" });
  if (intent.proposalDigest !== proposalDigest(asked)) throw refusal({ kind: "key_reused" });
  return { operation: intent.operation, how: "replayed" };
}

async function proposeNew(ports: Ports, asking: Session, asked: Proposal): Promise<Proposed> {
  const found = ports.catalog.tool(asking.tenantId, asked.tool);
  if (found === undefined) {
    throw new Problem("unknown_tool", `there is no tool named "${asked.tool}"`, {
      at: "/tool",
      next: "Ask GET /v1/tools for what is offered.",
    });
  }
  let authority = await ports.authority.known(asking.tenantId);
  const offered = asProbed(found, authority);
  demand(offered.tool, asked);
  const normalized = { ...asked, arguments: withDefaults(offered.tool.input, asked.arguments) };
  offered.validate(normalized.arguments);
  const session = await backed(ports, asking, authority);
  const frozen = freezeAction(offered.tool, normalized, session, {
    operationId: operationIdOf(ports.entropy.uuid7()),
    salt: ports.entropy.salt(),
    toolDigest: offered.digest,
    settingsDigest: offered.settingsDigest,
    tenantKey: ports.catalog.tenantKey(session.tenantId),
  });
  for (let tries = 0; tries < DECISIONS_MAX; tries++) {
    const decision = await decide(ports, session, offered.tool, frozen.action, authority);
    // A refusal is never given on an old view of authority.
    const old = tries === 0 && decision.effect !== "allow";
    if (old || (tries === 0 && stopped(authority, session, offered) !== undefined)) {
      authority = await ports.authority.refresh(session.tenantId);
      if (old) continue;
    }
    const halted = stopped(authority, session, offered);
    if (halted !== undefined && asked.intentKey === undefined) throw halted;
    const started = { monotonicMs: ports.clock.monotonicMs(), wallMs: ports.clock.wallMs() };
    // Under a halt a known key still has its operation. Epoch 0 is no tenant's, so nothing new is stored.
    const decided = halted === undefined ? decision : { ...decision, epoch: 0 };
    const placed = placeFor(ports, openingOf(ports, session, asked, frozen, offered, decided));
    const answer = await ports.ledger.open(placed.opening).catch(freeing(placed));
    if (answer.kind !== "stale_authority") return answered(ports, answer, offered, placed, started);
    placed.place?.free();
    if (halted !== undefined) throw halted;
    authority = await ports.authority.refresh(session.tenantId);
  }
  throw new Problem(
    "overloaded",
    "the tenant's authority changes too fast to decide under it; nothing was stored",
    { retryAfterMs: 1000 },
  );
}

/** An opening with its place among what is under way, where its effect is elsewhere and happens now. */
interface Placed {
  readonly opening: Opening;
  readonly place?: Place;
}

/** Where there is no place for it, it is stored as authorized: nobody waits in memory for a provider that is busy. */
function placeFor(ports: Ports, opening: Opening): Placed {
  if (opening.claim === undefined || opening.local !== undefined) return { opening };
  const place = ports.capacity.take(opening.operation.provider, opening.operation.tenantId);
  return place === undefined ? { opening: deferred(opening) } : { opening, place };
}

function freeing({ place }: Placed): (error: unknown) => never {
  return (error) => {
    place?.free();
    throw error;
  };
}

/** What keeps anything new of this tool out: a person's halt, or a probe. */
function stopped(authority: Authority, session: Session, offered: OfferedTool): Problem | undefined {
  return haltedBy(authority, session, offered.tool) ?? toolClosedBy(authority, offered);
}

async function answered(
  ports: Ports,
  answer: OpenAnswer,
  offered: OfferedTool,
  { opening, place }: Placed,
  started: Claimed["started"],
): Promise<Proposed> {
  if (answer.kind === "opened" && answer.operation.state === "executing") {
    const { operation, clock } = answer;
    if (operation.attempts.at(-1)?.claimId === opening.claim?.claimId) {
      const done = performClaimed(ports, { operation, clock, started, offered });
      return { operation, how: "opened", done: done.finally(() => place?.free()) };
    }
  }
  place?.free();
  switch (answer.kind) {
    case "opened": {
      const { operation } = answer;
      const runs = operation.state === "authorized" && operation.execute === "now";
      if (operation.state === "proposed") tellPeople(ports, operation);
      return runs && opening.supersede !== undefined
        ? run(ports, operation, answer.clock)
        : { operation, how: "opened" };
    }
    case "replayed":
    case "joined":
      return { operation: answer.operation, how: answer.kind };
    default:
      throw refusal(answer);
  }
}

/** What was stored as authorized in a commit of its own (it superseded another) is claimed by the next. */
async function run(ports: Ports, operation: Operation, clock: Instant): Promise<Proposed> {
  const executed = await claimAndExecute(ports, operation, clock);
  return {
    operation: executed.operation,
    how: "opened",
    ...(executed.done === undefined ? {} : { done: executed.done }),
  };
}

/** Section 10 of the protocol, in words for the caller. Nothing was stored. */
function refusal(answer: Exclude<OpenAnswer, { kind: "opened" | "replayed" | "joined" }>): Problem {
  const other = "other" in answer && answer.other !== undefined ? { operationId: answer.other } : {};
  switch (answer.kind) {
    case "key_reused":
      return new Problem("key_reused", "this intent key already names another proposal", {
        at: "Idempotency-Key",
        next: "Use a new key for a new intent.",
      });
    case "key_spent":
      return new Problem(
        "key_spent",
        "this intent key was used long ago and its details were pruned; nothing was executed",
        { next: "Use a new key if you mean a new intent." },
      );
    case "looks_the_same":
      return new Problem("looks_the_same", "an equal change succeeded a moment ago", {
        ...other,
        next: "If you mean a second one, send it again with a new Idempotency-Key.",
      });
    case "equal_effect_in_doubt":
      return new Problem("equal_effect_in_doubt", "an equal change is still being executed or is in doubt", {
        ...other,
        next: "Wait until that operation has settled, then decide again.",
      });
    case "not_cancellable": {
      const why =
        answer.state === undefined ? "there is no such operation of yours" : `it is ${answer.state}`;
      return new Problem("not_cancellable", `the operation to supersede cannot be cancelled: ${why}`, {
        at: "/supersedes",
      });
    }
    case "not_settled":
      return new Problem("not_settled", "only a succeeded operation can be compensated", {
        at: "/compensates",
      });
    case "already_compensated":
      return new Problem("not_settled", "that operation already has a compensation", { at: "/compensates" });
    case "limit_reached":
      return new Problem("limit_exceeded", `the limit "${answer.limit}" has no room for this now`, {
        retryAfterMs: answer.retryAt === undefined ? LIMIT_AGAIN_MS : answer.retryAt - answer.clock,
        next: "Nothing was stored. Send it again when there is room, with the same key.",
      });
    case "too_many_waiting":
      return new Problem("limit_exceeded", "too many proposals of this client wait for people already", {
        retryAfterMs: WAITING_AGAIN_MS,
        next: "Nothing was stored. Wait until people have decided, or withdraw what is not wanted any more.",
      });
    case "stale_authority":
      return new Problem("overloaded", "authority changed while deciding", { retryAfterMs: 1000 });
  }
}
