import { thawAction } from "../core/action.ts";
import { challengeOf, type Slot } from "../core/approval.ts";
import { promise } from "../core/contract-promise.ts";
import type { OperationId } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import type { Current, Requirement } from "../core/policy.ts";
import { type Approval, standingApprovals } from "../core/review.ts";
import type { Session } from "../core/session.ts";
import type { Tool } from "../core/tool.ts";
import { abilities, concerns, mayRefuse, type Seen, seen, statementOf } from "./asked.ts";
import { consent } from "./consent.ts";
import { within } from "./looking.ts";
import type { Ports } from "./ports.ts";
import { sessionOf } from "./standing.ts";
import { type View, viewOf } from "./viewing.ts";

/** Everything that a person needs to see before they decide. */
export interface Waiting {
  readonly operation: Operation;
  readonly tool?: Tool;
  readonly promise: readonly string[];
  /** Whom it asks, and who has answered. */
  readonly slots: readonly Slot[];
  /** What this person's yes would count for. */
  readonly mine: readonly Requirement[];
  /** Why it would not count for the others. */
  readonly notMine: readonly { readonly requirement: Requirement; readonly why: string }[];
  /** What this person has said, and not taken back. */
  readonly said?: Approval;
  /** What stands there, as its provider showed it a moment ago: a help, never evidence. */
  readonly current?: Current;
  /** Present where this person may say something. */
  readonly view?: View;
  /** Present where a passkey of this person can sign. */
  readonly passkey?: PasskeyAsked;
}

interface PasskeyAsked {
  readonly rpId: string;
  readonly credentials: readonly string[];
  /** What it signs: the challenge of a yes and of a no, base64url. */
  readonly challenges: { readonly approve: string; readonly reject: string };
}

export interface WaitingQuery {
  /** `me`: what this person can answer. `all`: everything that is their business, with the reason why it is not theirs. */
  readonly of: "me" | "all";
  readonly before?: OperationId | undefined;
  readonly max: number;
}

export interface WaitingPage {
  readonly items: readonly Waiting[];
  /** From here on nothing was looked at yet. */
  readonly cursor?: OperationId;
}

const PAGE = 50;
const PAGES_MAX = 4;

/** What waits for people, newest first. A page may hold less than asked for and still have a next one. */
export async function waiting(ports: Ports, session: Session, query: WaitingQuery): Promise<WaitingPage> {
  const items: Waiting[] = [];
  if (session.itself === true) return { items };
  const authority = await ports.authority.refresh(session.tenantId);
  let before = query.before;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const found = await ports.ledger.list(session.tenantId, { state: "proposed", before, max: PAGE });
    const [newest] = found;
    const clock = newest && (await ports.ledger.read(session.tenantId, newest.id))?.clock;
    for (const operation of found) {
      before = operation.id;
      const { review } = operation;
      if (clock === undefined || review === undefined || clock >= operation.expiresAt) continue;
      const the = { operation, review, asker: sessionOf(operation), authority, clock };
      if (!(await concerns(ports, session, the))) continue;
      const item = await lookedAt(ports, session, the);
      if (query.of === "me" && (item.mine.length === 0 || item.said !== undefined)) continue;
      items.push(item);
      if (items.length >= query.max) return { items, cursor: operation.id };
    }
    if (found.length < PAGE) return { items };
  }
  return before === undefined ? { items } : { items, cursor: before };
}

/** One operation as a person looks at it, also when enough people have said yes: until it is claimed, a no ends it. */
export async function look(ports: Ports, session: Session, id: OperationId): Promise<Waiting> {
  const the = await seen(ports, session, id);
  const [looked, current] = await Promise.all([
    lookedAt(ports, session, the),
    currentOf(ports, the.operation),
  ]);
  return current === undefined ? looked : { ...looked, current };
}

const CURRENT_WITHIN_MS = 1_000;

/** Whatever a provider does not say in time is not shown; nobody waits for it to decide. */
async function currentOf({ catalog }: Ports, operation: Operation): Promise<Current | undefined> {
  try {
    const offered = await catalog.pinned(operation.tenantId, operation.toolDigest);
    const { resource, arguments: args } = thawAction(operation.action);
    const connector = offered?.connector;
    if (connector?.current === undefined || offered === undefined) return undefined;
    const { tool } = offered;
    const signal = AbortSignal.timeout(CURRENT_WITHIN_MS);
    const question = { tenantId: operation.tenantId, resource, arguments: args, tool, signal };
    return await within(connector.current(question), signal);
  } catch {
    return undefined;
  }
}

async function lookedAt(ports: Ports, session: Session, the: Seen): Promise<Waiting> {
  const { operation, review, clock } = the;
  const offered = await ports.catalog.pinned(operation.tenantId, operation.toolDigest);
  const { able, unable } = await abilities(ports, session, the);
  const answered = await consent(ports, the, review.requirements);
  const said = standingApprovals(review).find(({ person }) => person === session.principalId);
  const open = operation.state === "proposed" || operation.state === "authorized";
  const view =
    open && (able.length > 0 || (await mayRefuse(ports, session, the)))
      ? viewOf(ports, operation, session.principalId, clock)
      : undefined;
  const passkey = view === undefined ? undefined : await passkeyAsked(ports, session, operation, able, view);
  return {
    operation,
    promise: offered === undefined ? [] : promise(offered.tool.contract),
    slots: answered.slots,
    mine: operation.state === "proposed" ? able : [],
    notMine: unable,
    ...(offered === undefined ? {} : { tool: offered.tool }),
    ...(said === undefined ? {} : { said }),
    ...(view === undefined ? {} : { view }),
    ...(passkey === undefined ? {} : { passkey }),
  };
}

async function passkeyAsked(
  { approvals }: Ports,
  session: Session,
  operation: Operation,
  able: readonly Requirement[],
  view: View,
): Promise<PasskeyAsked | undefined> {
  if (approvals.passkeys === undefined || able.length === 0) return undefined;
  const known = await approvals.passkeys.store.list(session.tenantId, session.principalId);
  const usable = known.filter(({ suspectAt }) => suspectAt === undefined);
  if (usable.length === 0) return undefined;
  const challenge = (decision: "approve" | "reject") =>
    challengeOf(statementOf(operation, session.principalId, decision, able, view));
  return {
    rpId: approvals.passkeys.rpId,
    credentials: usable.map(({ id }) => id),
    challenges: { approve: challenge("approve"), reject: challenge("reject") },
  };
}
