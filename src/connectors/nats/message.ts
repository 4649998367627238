import type { JsonObject } from "../../core/json.ts";
import type { Message } from "../../core/message.ts";
import { partsOf } from "../../core/template.ts";
import { plainText, type Subject, unwritable, variableValue } from "../variable.ts";
import { headersIn, membersOf, payloadIn, textIn } from "../written-text.ts";

/** A message with every variable filled in and every value checked. */
export type NatsMessage =
  | {
      readonly kind: "publish";
      readonly stream: string;
      readonly subject: string;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly payload: Uint8Array;
    }
  | { readonly kind: "last"; readonly stream: string; readonly subject: string }
  | NatsSearch;

export interface NatsSearch {
  readonly kind: "find";
  readonly stream: string;
  readonly subject: string;
  readonly header: readonly [name: string, value: string];
  readonly from: { readonly since: number } | { readonly after: number };
}

/** Throws `invalid` for a value that would name another place than the contract does. */
export function writeNatsMessage(message: Message, subject: Subject): NatsMessage {
  const { kind, members } = membersOf(message);
  const place = { stream: streamIn(members, subject), subject: subjectIn(members, subject) };
  switch (kind) {
    case "publish":
      return {
        kind,
        ...place,
        headers: [...headersIn(members, subject), ["Nats-Expected-Stream", place.stream]],
        payload: payloadIn(members.payload, subject),
      };
    case "last":
      return { kind, ...place };
    case "find":
      return { kind, ...place, header: headerIn(members, subject), from: fromIn(members, subject) };
  }
  return unwritable(`"${kind}" is nothing that can be asked of a stream`);
}

function streamIn(members: JsonObject, subject: Subject): string {
  const stream = textIn(members, "stream", subject);
  return /^[A-Za-z0-9_-]{1,255}$/.test(stream)
    ? stream
    : unwritable("a stream's name is letters, digits, - and _");
}

const SUBJECT_MAX = 1024;

/**
 * A value inside the subject: a part of one token. Only `resource` may hold several: its segments were checked when it was bound. Wildcards
 * are nowhere, so that one message has one place.
 */
function subjectIn(members: JsonObject, about: Subject): string {
  const text = partsOf(members.subject as string) // Its grammar made it a text.
    .map((part) => {
      if ("text" in part) return part.text;
      const { variable } = part;
      const value = variableValue(variable, about) ?? unwritable(`{{${variable.name}}} must have a value`);
      const plain = plainText(value, variable.name);
      if (plain.includes(".") && (variable.name !== "resource" || variable.encoders.length > 0))
        unwritable(`{{${variable.name}}} holds a dot, which would begin another part of the subject`);
      return plain;
    })
    .join("");
  const tokens = text.split(".");
  if (
    text.length > SUBJECT_MAX ||
    tokens.some((token) => !/^[\x21-\x7e]+$/.test(token) || /[*>]/.test(token))
  )
    unwritable("the subject would hold an empty part, a wildcard or something that is not visible ASCII");
  return text;
}

function headerIn(members: JsonObject, subject: Subject): readonly [string, string] {
  const [header] = headersIn({ headers: members.header ?? {} }, subject);
  return header ?? unwritable("the header to look for has no value in this action");
}

function fromIn(members: JsonObject, subject: Subject): NatsSearch["from"] {
  if (members.after !== undefined) {
    const after = textIn(members, "after", subject);
    return /^\d{1,15}$/.test(after)
      ? { after: Number(after) }
      : unwritable("a version of a stream's message is its sequence, a whole number");
  }
  const since = Date.parse(textIn(members, "since", subject));
  return Number.isNaN(since) ? unwritable('"since" is not a moment') : { since };
}
