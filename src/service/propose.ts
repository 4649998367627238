import { freezeAction } from "../core/action.ts";
import { type Instant, operationIdOf } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import { Problem } from "../core/problem.ts";
import { demand, type Proposal } from "../core/proposal.ts";
import type { Session } from "../core/session.ts";
import { withDefaults } from "../core/tool.ts";
import { claimAndExecute } from "./claim.ts";
import { asProbed, decide, haltedBy, toolClosedBy } from "./decide.ts";
import { type Claimed, performClaimed } from "./execute.ts";
import { openingOf } from "./opening.ts";
import type { Authority, OfferedTool, OpenAnswer, Opening, Ports } from "./ports.ts";

/** An operation as the caller is answered, and how it came to be that one. `done` resolves when an execution begun here has ended. */
export interface Proposed {
  readonly operation: Operation;
  readonly how: "opened" | "replayed" | "joined";
  readonly done?: Promise<Operation>;
}

const DECISIONS_MAX = 4;

/** From a claim to an operation: normalize, decide, store, and execute when it is allowed now. The only way in. */
export async function propose(ports: Ports, session: Session, asked: Proposal): Promise<Proposed> {
  const found = ports.catalog.tool(session.tenantId, asked.tool);
  if (found === undefined) {
    throw new Problem("unknown_tool", `there is no tool named "${asked.tool}"`, {
      at: "/tool",
      next: "Ask GET /v1/tools for what is offered.",
    });
  }
  let authority = await ports.authority.known(session.tenantId);
  const offered = asProbed(found, authority);
  demand(offered.tool, asked);
  const normalized = { ...asked, arguments: withDefaults(offered.tool.input, asked.arguments) };
  offered.validate(normalized.arguments);
  const frozen = freezeAction(offered.tool, normalized, session, {
    operationId: operationIdOf(ports.entropy.uuid7()),
    salt: ports.entropy.salt(),
    toolDigest: offered.digest,
    settingsDigest: offered.settingsDigest,
    tenantKey: ports.catalog.tenantKey(session.tenantId),
  });
  for (let tries = 0; tries < DECISIONS_MAX; tries++) {
    const decision = decide(ports, session, offered.tool, frozen.action, authority);
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
    const opening = openingOf(ports, session, asked, frozen, offered, decided);
    const answer = await ports.ledger.open(opening);
    if (answer.kind !== "stale_authority") return answered(ports, answer, offered, opening, started);
    if (halted !== undefined) throw halted;
    authority = await ports.authority.refresh(session.tenantId);
  }
  throw new Problem(
    "overloaded",
    "the tenant's authority changes too fast to decide under it; nothing was stored",
    { retryAfterMs: 1000 },
  );
}

/** What keeps anything new of this tool out: a person's halt, or a probe. */
function stopped(authority: Authority, session: Session, offered: OfferedTool): Problem | undefined {
  return haltedBy(authority, session, offered.tool) ?? toolClosedBy(authority, offered);
}

async function answered(
  ports: Ports,
  answer: OpenAnswer,
  offered: OfferedTool,
  opening: Opening,
  started: Claimed["started"],
): Promise<Proposed> {
  switch (answer.kind) {
    case "opened": {
      const mine = answer.operation.attempts.at(-1)?.claimId === opening.claim?.claimId;
      if (answer.operation.state === "authorized" && answer.operation.execute === "now")
        return run(ports, answer.operation, answer.clock);
      if (answer.operation.state !== "executing" || !mine)
        return { operation: answer.operation, how: "opened" };
      return {
        operation: answer.operation,
        how: "opened",
        done: performClaimed(ports, { operation: answer.operation, clock: answer.clock, started, offered }),
      };
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
    case "stale_authority":
      return new Problem("overloaded", "authority changed while deciding", { retryAfterMs: 1000 });
  }
}
