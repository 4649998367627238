import { Agent, request } from "undici";
import type { Notifier } from "../../service/approval-port.ts";
import type { Log, ProcessClock } from "../../service/ports.ts";
import { type EgressRule, guardedConnector } from "./egress.ts";

export interface WebhookSettings extends EgressRule {
  /** Who is told. `https`, or `http` where the operator allows the address. */
  readonly url: string;
  /** Where people look at what waits: `{base}/approvals/{id}`. */
  readonly publicUrl: () => string;
  readonly log: Log;
  readonly clock: Pick<ProcessClock, "wallMs">;
  readonly ca?: string;
}

const WITHIN_MS = 5_000;
const AT_ONCE_MAX = 16;

export interface ClosableNotifier extends Notifier {
  close(): Promise<void>;
}

/**
 * Tells one address that people are asked. What it gets is an opaque link: no arguments, no names, nothing that decides anything. Best
 * effort: one try, a few seconds, a few at a time; what is more is left out and logged, for `GET /v1/approvals` knows it all.
 */
export function webhookNotifier(settings: WebhookSettings): ClosableNotifier {
  const { log } = settings;
  const agent = new Agent({
    connect: guardedConnector(settings, WITHIN_MS, settings.ca),
    connections: AT_ONCE_MAX,
    pipelining: 0,
  });
  const underWay = new Set<Promise<void>>();
  return {
    waiting: ({ id, operationId }) => {
      if (underWay.size >= AT_ONCE_MAX) {
        log.warn("notification", { id, what: "left out: too many are under way" });
        return;
      }
      const told = tell(settings, agent, id, operationId)
        .catch((error: unknown) => log.warn("notification", { id, what: causeOf(error) }))
        .finally(() => underWay.delete(told));
      underWay.add(told);
    },
    close: async () => {
      await Promise.allSettled(underWay);
      await agent.close();
    },
  };
}

async function tell(
  { url, publicUrl, clock }: WebhookSettings,
  agent: Agent,
  id: string,
  operationId: string,
): Promise<void> {
  const { statusCode, body } = await request(url, {
    dispatcher: agent,
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": id },
    body: JSON.stringify({
      id,
      type: "approval.waiting",
      link: `${publicUrl()}/approvals/${operationId}`,
      at: new Date(clock.wallMs()).toISOString(),
    }),
    signal: AbortSignal.timeout(WITHIN_MS),
  });
  // What it answers means nothing here; a redirect is an answer like any other, and is not followed.
  await body.dump();
  if (statusCode >= 300) throw new Error(`it answered ${statusCode}`);
}

function causeOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
