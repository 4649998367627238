import type { OperationId } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import type { Credentials } from "../service/identity-port.ts";
import { seesAll, visible } from "../service/inspect.ts";
import type { Change } from "../service/ledger-port.ts";
import type { Bell } from "./bell.ts";
import type { Door } from "./door.ts";
import type { Positions } from "./position.ts";

const PAGE_MAX = 200;
const SEEN_MAX = 5_000;
const RETRY_MS = 2_000;

/** One caller who watches, from a place on. */
export interface Watching {
  readonly door: Door;
  readonly bell: Bell;
  readonly session: Session;
  readonly credentials: Credentials;
  readonly positions: Positions;
  readonly from: number;
  /** Aborted when the caller hangs up or the server closes. */
  readonly signal: AbortSignal;
}

/**
 * The changes that the caller may see, as an event stream: ids and versions only, so that whoever wants more asks for it, under their own
 * rights at that moment. It ends when the token or the browser session does, and the caller goes on from the last id that they heard.
 */
export async function* stream(watching: Watching): AsyncGenerator<string> {
  const { door, bell, positions, signal } = watching;
  const { tenantId } = watching.session;
  const sees = sight(watching);
  let seq = watching.from;
  yield `retry: ${RETRY_MS}\nid: ${positions.write(seq)}\nevent: open\ndata: {}\n\n`;
  try {
    for (let beatAt = performance.now() + door.bounds.heartbeatMs; !signal.aborted; ) {
      const page = await door.ports.ledger.changes(tenantId, seq, PAGE_MAX);
      for (const change of page.changes) if (await sees(change.operationId)) yield frame(change, positions);
      seq = page.seq;
      if (page.changes.length === PAGE_MAX) continue;
      await rungBefore(bell, watching, seq, beatAt);
      if (performance.now() < beatAt) continue;
      beatAt = performance.now() + door.bounds.heartbeatMs;
      if (!(await stillHolds(watching))) return;
      // A block without data is no event, but moves the caller's last id past what they may not see.
      yield `: still here\nid: ${positions.write(seq)}\n\n`;
    }
  } catch (error) {
    door.ports.log.warn("stream", { tenant: tenantId, what: String(error) });
  }
}

function frame(change: Change, positions: Positions): string {
  const data = {
    operationId: change.operationId,
    type: change.type,
    n: change.n,
    at: new Date(change.at).toISOString(),
  };
  return `id: ${positions.write(change.seq)}\nevent: change\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Whose operation it is never changes, so it is asked once for each. */
function sight({ door, session }: Watching): (id: OperationId) => Promise<boolean> {
  const known = new Map<OperationId, boolean>();
  return async (id) => {
    if (seesAll(session)) return true;
    const before = known.get(id);
    if (before !== undefined) return before;
    if (known.size >= SEEN_MAX) known.clear();
    const mine = await mayRead(door, session, id);
    known.set(id, mine);
    return mine;
  };
}

async function mayRead(door: Door, session: Session, id: OperationId): Promise<boolean> {
  try {
    await visible(door.ports, session, id);
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === "not_found") return false;
    throw error;
  }
}

async function rungBefore(
  bell: Bell,
  { session, signal }: Watching,
  seq: number,
  untilMs: number,
): Promise<void> {
  const patience = AbortSignal.timeout(Math.max(0, Math.ceil(untilMs - performance.now())));
  await bell.rung(session.tenantId, seq, AbortSignal.any([patience, signal]));
}

/** The same token or browser session must still open the same session: neither ended nor with other roles. */
async function stillHolds({ door, session, credentials }: Watching): Promise<boolean> {
  try {
    const now = await door.identify(credentials, "again");
    return (
      now.tenantId === session.tenantId &&
      now.principalId === session.principalId &&
      seesAll(now) === seesAll(session)
    );
  } catch {
    return false;
  }
}
