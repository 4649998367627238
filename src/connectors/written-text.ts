import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import type { Message } from "../core/message.ts";
import { renderOptional, renderValue, type Subject, unwritable } from "./variable.ts";

/** The kind and the members of a message that is `{ kind: { … } }`. Its grammar has parsed it. */
export function membersOf(message: Message): { readonly kind: string; readonly members: JsonObject } {
  const [[kind, members] = ["", {}]] = Object.entries(message);
  return { kind, members: members as JsonObject };
}

/** A member that is a text, with its variables filled in. */
export function textIn(members: JsonObject, name: string, subject: Subject): string {
  return optionalIn(members, name, subject) ?? unwritable(`"${name}" has no value in this action`);
}

/** The same, for a member that may be left out. */
export function optionalIn(members: JsonObject, name: string, subject: Subject): string | undefined {
  const template = members[name];
  return typeof template === "string" ? renderOptional(template, subject) : undefined;
}

const HEADER_MAX = 8192;

/** Headers with their variables filled in, sorted by name: visible ASCII, and no line end that could begin another. */
export function headersIn(
  members: JsonObject,
  subject: Subject,
): readonly (readonly [name: string, value: string])[] {
  return Object.entries((members.headers ?? {}) as Readonly<Record<string, string>>)
    .flatMap(([name, template]): [string, string][] => {
      const value = renderOptional(template, subject);
      if (value === undefined) return [];
      if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) || value.length > HEADER_MAX)
        unwritable(`the header ${name} would hold something that is not visible ASCII; encode it (b64, uri)`);
      return [[name, value]];
    })
    .sort(([left], [right]) => (left < right ? -1 : 1));
}

const PAYLOAD_MAX_BYTES = 1024 * 1024;

/** What the message says: a text as it is, anything else as canonical JSON. The same bytes on every attempt. */
export function payloadIn(template: Json | undefined, subject: Subject): Uint8Array {
  const value = template === undefined ? "" : (renderValue(template, subject) ?? "");
  const bytes = Buffer.from(typeof value === "string" ? value : canonicalJson(value), "utf8");
  return bytes.length <= PAYLOAD_MAX_BYTES
    ? bytes
    : unwritable(`the payload is larger than ${PAYLOAD_MAX_BYTES} bytes`);
}
