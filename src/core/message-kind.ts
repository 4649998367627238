import type { Contract } from "./contract.ts";
import { requestsOf } from "./contract-requests.ts";
import type { Json, JsonObject } from "./json.ts";
import type { LintFinding } from "./lint-finding.ts";
import type { Message, MessagePart } from "./message.ts";
import { membersOf, refuse, type Written } from "./written.ts";

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

/** The one kind that is written, with its body. `kinds`: in the order in which a mistake names them. */
export function onlyKind<Kind extends string>(
  written: Written,
  kinds: readonly Kind[],
): { readonly kind: Kind; readonly body: Written } {
  const [first, ...more] = Object.entries(membersOf(written, kinds)) as [Kind, Written][]; // membersOf gives no others.
  if (first === undefined || more.length > 0)
    return refuse(written, `write exactly one of ${kinds.slice(0, -1).join(", ")} and ${kinds.at(-1) ?? ""}`);
  return { kind: first[0], body: first[1] };
}

/** The members of such a message. A secret may stand in none of them: whoever reads what was sent reads all of it. */
export function openParts(message: Message): readonly MessagePart[] {
  return Object.entries(message).flatMap(([kind, members]) =>
    Object.entries(members as JsonObject).map(([name, value]) => ({
      at: `/${kind}/${name}`,
      value: value as Json, // A member of a JSON value.
      secrets: false,
    })),
  );
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
