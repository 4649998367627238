import type { Contract } from "./contract.ts";
import { requestsOf } from "./contract-requests.ts";
import type { JsonObject } from "./json.ts";
import type { LintFinding } from "./lint-finding.ts";
import type { Message } from "./message.ts";

/** Which messages of a transport may stand where: a question never writes, and what writes is never asked. */
export interface MessagePlaces {
  /** The effect itself. */
  readonly effect: readonly string[];
  /** Under lookup, completion and read. */
  readonly question: readonly string[];
  readonly barrier: readonly string[];
}

/** Messages that stand where they would do something else than what is asked there. A message's kind is its only member. */
export function misplacedMessages(contract: Contract, places: MessagePlaces): readonly LintFinding[] {
  return requestsOf(contract).flatMap(({ at, request }) => {
    const place = at === "/request" ? "effect" : at === "/barrier/request" ? "barrier" : "question";
    const kind = kindOf(request);
    if (places[place].includes(kind)) return [];
    const says =
      places[place].length === 0
        ? `transport ${contract.transport} has no message for this place; leave it out`
        : `"${kind}" is not for this place; write one of ${places[place].join(", ")}`;
    return [{ rule: "message-misplaced", at, says }];
  });
}

/** The kind of a message that is `{ kind: { … } }`. */
export function kindOf(message: Message): string {
  return Object.keys(message)[0] ?? "";
}

/** The form of such messages for editors: one kind, and its members by name. */
export function kindSchema(forms: Readonly<Record<string, readonly string[]>>): JsonObject {
  const kinds = Object.entries(forms).map(([kind, names]) => {
    const members = Object.fromEntries(names.map((name) => [name, {}]));
    return [kind, { type: "object", additionalProperties: false, properties: members }];
  });
  return {
    type: "object",
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    properties: Object.fromEntries(kinds),
  };
}
