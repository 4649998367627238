import type { Message } from "../../core/message.ts";
import { type Subject, unwritable } from "../variable.ts";
import { headersIn, membersOf, optionalIn, payloadIn, textIn } from "../written-text.ts";

/** A publication with every variable filled in and every value checked. */
export interface RabbitMessage {
  readonly exchange: string;
  readonly routingKey: string;
  readonly messageId?: string;
  readonly type?: string;
  readonly contentType?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
}

/** Throws `invalid` for a value that would name another place than the contract does, or does not fit. */
export function writeRabbitMessage(message: Message, subject: Subject): RabbitMessage {
  const { members } = membersOf(message);
  const optional = (name: "messageId" | "type" | "contentType") => {
    const text = optionalIn(members, name, subject);
    return text === undefined ? {} : { [name]: short(text, name) };
  };
  return {
    exchange: short(optionalIn(members, "exchange", subject) ?? "", "exchange"),
    routingKey: short(textIn(members, "routingKey", subject), "routingKey"),
    ...optional("messageId"),
    ...optional("type"),
    ...optional("contentType"),
    headers: Object.fromEntries(headersIn(members, subject)),
    payload: payloadIn(members.payload, subject),
  };
}

/** AMQP 0-9-1, 4.2.5.3: a short string is at most 255 bytes. */
function short(text: string, name: string): string {
  return Buffer.byteLength(text) <= 255 && !/\p{Cc}/u.test(text)
    ? text
    : unwritable(`"${name}" is longer than 255 bytes or holds a control character`);
}
