import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { OperationId } from "../core/ids.ts";
import { type Operation, settled } from "../core/operation.ts";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import { visible } from "../service/inspect.ts";
import { WAIT_DEFAULT_S, WAIT_MAX_S } from "./bounds.ts";
import type { Door } from "./door.ts";

const LOOK_FIRST_MS = 50;
const LOOK_MAX_MS = 500;
const SECONDS = /^(?:[0-9]|[12][0-9]|30)$/;

/** RFC 7240 4.3: how long the caller would rather wait than be told "not yet". */
export function preferredWaitS(request: FastifyRequest, reply: FastifyReply): number {
  // The header may be sent in several lines; node gives it as one text then.
  const preferences = String(request.headers.prefer ?? "").split(",");
  const wanted = preferences
    .map((each) => /^\s*wait\s*(?:=\s*"?([^";]*)"?\s*)?(?:;.*)?$/i.exec(each))
    .find((found) => found !== null);
  if (wanted === undefined || wanted === null) return WAIT_DEFAULT_S;
  const seconds = wanted[1]?.trim() ?? "";
  if (!SECONDS.test(seconds))
    throw new Problem("invalid_request", `wait is a whole number of seconds from 0 to ${WAIT_MAX_S}`, {
      at: "Prefer",
    });
  void reply.header("preference-applied", `wait=${seconds}`);
  return Number(seconds);
}

/** What a call began, as far as it got within the caller's patience. It goes on after that, and after the caller is gone. */
export async function ended(
  door: Door,
  begun: { readonly operation: Operation; readonly done?: Promise<Operation> },
  waitS: number,
): Promise<Operation> {
  if (begun.done === undefined) return begun.operation;
  const { operation } = begun;
  const outcome = begun.done.catch((error: unknown) => {
    // Whatever broke, the ledger still says where the operation is, and the reconciler takes it from there.
    door.ports.log.error("execution", {
      tenant: operation.tenantId,
      operation: operation.id,
      what: String(error),
    });
    return operation;
  });
  door.running.add(outcome);
  void outcome.finally(() => door.running.delete(outcome));
  const patience = new AbortController();
  const late = sleep(waitS * 1000, operation, { signal: patience.signal }).catch(() => operation);
  try {
    return await Promise.race([outcome, late]);
  } finally {
    patience.abort();
  }
}

/** Looks at an operation, gently, until it has settled or patience ends: the caller's, the server's, or that of too many others. */
export async function watched(
  door: Door,
  session: Session,
  id: OperationId,
  waitS: number,
  gone: AbortSignal,
): Promise<Operation> {
  let { value } = await visible(door.ports, session, id);
  if (waitS === 0 || settled(value) || door.waiting.count >= door.bounds.waitingMax) return value;
  const signal = AbortSignal.any([gone, door.closing]);
  const untilMs = performance.now() + waitS * 1000;
  door.waiting.count++;
  try {
    for (
      let pauseMs = LOOK_FIRST_MS;
      !settled(value) && !signal.aborted;
      pauseMs = Math.min(LOOK_MAX_MS, pauseMs * 2)
    ) {
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) break;
      await sleep(Math.min(pauseMs, leftMs), undefined, { signal }).catch(() => undefined);
      value = (await visible(door.ports, session, id)).value;
    }
  } finally {
    door.waiting.count--;
  }
  return value;
}

/** Aborted when the caller hangs up. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  return gone.signal;
}
