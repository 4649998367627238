import type { Contract } from "./contract.ts";
import type { LintFinding } from "./lint-finding.ts";
import { checkHoles, type Message, type MessageForm } from "./message.ts";
import { kindSchema, misplacedMessages, openParts } from "./message-kind.ts";
import { membersOf, refuse, required, textOf, textsOf, type Written } from "./written.ts";

const MEMBERS = ["exchange", "routingKey", "messageId", "type", "contentType", "headers", "payload"] as const;

/** `{ publish: { exchange, routingKey, messageId, type, contentType, headers, payload } }`: persistent and mandatory, always. Whoever reads the queue reads all of it. */
export const RABBITMQ_MESSAGE: MessageForm = {
  parse,
  parts: openParts,
  schema: kindSchema({ publish: MEMBERS }),
};

function parse(written: Written): Message {
  const { publish } = membersOf(written, ["publish"]);
  const body = required(written, publish, "publish", "write what is published, and where");
  const { headers, payload, exchange, ...texts } = membersOf(body, MEMBERS);
  const place = required(body, exchange, "exchange", 'name the exchange; "" is the one that names queues');
  if (typeof place.value !== "string") refuse(place, "write the exchange's name");
  textOf(required(body, texts.routingKey, "routingKey", "write the routing key"));
  required(body, payload, "payload", 'write what the message says, such as "{{args}}"');
  for (const text of Object.values(texts)) textOf(text);
  if (headers !== undefined) checkHeaders(headers);
  checkHoles(body);
  return { publish: body.value };
}

function checkHeaders(written: Written): void {
  for (const name of Object.keys(textsOf(written))) {
    // RabbitMQ routes once more by CC and BCC; x-… is the broker's and its plugins'.
    if (/^(cc|bcc|x-.*)$/i.test(name))
      refuse(written, `"${name}" would change where it goes or how it is kept`);
    if (!/^[A-Za-z][A-Za-z0-9._-]{0,63}$/.test(name)) refuse(written, `"${name}" is not a header's name`);
  }
}

/** What a contract for RabbitMQ says against itself: it recognizes no repeat and answers no question. */
export function rabbitmqMistakes(contract: Contract): readonly LintFinding[] {
  const misplaced = misplacedMessages(contract, { effect: ["publish"], question: [], barrier: [] });
  if (contract.identity.kind === "none") return misplaced;
  return [
    ...misplaced,
    {
      rule: "repeat-unrecognized",
      at: "/identity",
      says: "RabbitMQ stores a repeat as a second message, whatever its messageId; write identity: none",
    },
  ];
}
