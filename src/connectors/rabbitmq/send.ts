import type { Message } from "amqplib";
import type { Json } from "../../core/json.ts";
import { type Deadline, LATE, SILENT_LATE, UNSENT_GATE, UNSENT_LATE, wordsOf } from "../deadline.ts";
import type { Exchange, Sending } from "../exchange.ts";
import type { RabbitSpeaker } from "./connection.ts";
import type { RabbitMessage } from "./message.ts";

/** Publishes one message once, mandatory and persistent, and waits until the broker has taken it or said that it does not. */
export async function publish(
  { channel, cut }: RabbitSpeaker,
  message: RabbitMessage,
  { deadline, gate }: Pick<Sending, "gate"> & { readonly deadline: Deadline },
): Promise<Exchange> {
  let gated = false;
  // The client collects what it is given and writes it in an immediate of its own, which is queued behind this one. The connection carries
  // nothing else: cutting it takes back the whole message.
  const closed = new Promise<Exchange>((resolve) => {
    setImmediate(() => {
      gated = gate();
      if (gated) return;
      cut();
      resolve(UNSENT_GATE);
    });
  });
  const said = await deadline.race(Promise.race([closed, given(channel, message)]));
  if (said === LATE) {
    cut();
    return gated ? SILENT_LATE : UNSENT_LATE;
  }
  return said;
}

/** What the broker says of the one message of the channel. */
function given(channel: RabbitSpeaker["channel"], message: RabbitMessage): Promise<Exchange> {
  const { exchange, routingKey, payload, headers, ...properties } = message;
  let returned: Message | undefined;
  let closing: unknown;
  channel.on("return", (back) => {
    returned = back;
  });
  channel.on("error", (error) => {
    closing = error;
  });
  return new Promise((resolve) => {
    const ended = (error: unknown): void =>
      resolve(refusalIn(error) ?? { kind: "silent", cause: wordsOf(error), phase: "sent" });
    channel.on("close", () => ended(closing ?? new Error("the channel ended")));
    try {
      channel.publish(
        exchange,
        routingKey,
        Buffer.from(payload),
        { ...properties, headers, persistent: true, mandatory: true },
        (error: unknown) => {
          if (error === null || error === undefined) resolve(routing(returned));
          // An end of the channel calls this too, and says less than its own event.
          else if (/nack/i.test(wordsOf(error))) resolve(answered(500, { nacked: true, message: NACKED }));
        },
      );
    } catch (error) {
      ended(error);
    }
  });
}

const NACKED = "the broker could not take responsibility for it";

/** A message that no queue takes comes back before it is confirmed: nothing of it is stored. */
function routing(returned: Message | undefined): Exchange {
  if (returned === undefined) return answered(200, { routed: true });
  const { replyCode, replyText } = returned.fields as {
    readonly replyCode?: number;
    readonly replyText?: string;
  }; // AMQP 0-9-1, basic.return.
  return answered(404, { routed: false, code: replyCode ?? 312, message: replyText ?? "NO_ROUTE" });
}

// AMQP 0-9-1: basic.publish is method 40 of class 60.
const PUBLISH = { classId: 60, methodId: 40 };
const REFUSALS = [403, 404, 406];

/** A channel that the broker closed because of the publication itself: it says so, and has not taken it. */
function refusalIn(error: unknown): Exchange | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, classId, methodId } = error as Error &
    Partial<Record<"code" | "classId" | "methodId", unknown>>; // As the client gives it.
  if (typeof code !== "number" || !REFUSALS.includes(code)) return undefined;
  if (classId !== PUBLISH.classId || methodId !== PUBLISH.methodId) return undefined;
  return answered(code, { routed: false, code, message: error.message });
}

function answered(status: number, body: Json): Exchange {
  return { kind: "answered", reply: { status, headers: {}, body, at: Date.now() } };
}
