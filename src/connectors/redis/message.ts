import type { Json, JsonObject } from "../../core/json.ts";
import type { Message } from "../../core/message.ts";
import { knownCommand, type RedisType } from "../../core/redis-command.ts";
import { durationOf } from "../../core/written.ts";
import { plainText, renderValue, type Subject, unwritable } from "../variable.ts";
import { membersOf, optionalIn, textIn } from "../written-text.ts";

/** What the marker of an operation says. */
export interface MarkerNote {
  readonly marker: string;
  readonly operation: string;
  readonly digest: string;
  /** Milliseconds; absent: for ever. */
  readonly keepMs?: number;
}

interface RedisCommand {
  readonly type: RedisType;
  /** Name, key and the rest. */
  readonly words: readonly [string, string, ...string[]];
}

/** A message with every variable filled in and every value checked. */
export type RedisMessage =
  | RedisWrite
  | (MarkerNote & { readonly kind: "bar" })
  | {
      readonly kind: "find";
      readonly marker: string;
      /** The marker would be gone at this time of the server's clock. Absent: it is kept for ever. */
      readonly until?: number;
    }
  | { readonly kind: "hash"; readonly key: string };

export interface RedisWrite extends MarkerNote {
  readonly kind: "write";
  readonly expect?: { readonly key: string; readonly field: string; readonly is: string };
  readonly commands: readonly RedisCommand[];
}

/** Throws `invalid` for a value that can never be written. */
export function writeRedisMessage(message: Message, subject: Subject): RedisMessage {
  const { kind, members } = membersOf(message);
  switch (kind) {
    case "write":
      return {
        kind,
        ...noteIn(members, subject),
        ...expectIn(members, subject),
        commands: (members.do as readonly Json[]).map((command) => commandIn(command, subject)), // Its grammar made it a list.
      };
    case "bar":
      return { kind, ...noteIn(members, subject) };
    case "find":
      return { kind, marker: keyOf(textIn(members, "marker", subject)), ...untilIn(members, subject) };
    case "hash":
      return { kind, key: keyOf(textIn(members, "key", subject)) };
  }
  return unwritable(`"${kind}" is nothing that can be asked of Redis`);
}

const KEY_MAX = 1024;

function keyOf(text: string): string {
  return text !== "" && text.length <= KEY_MAX && !/\p{Cc}/u.test(text)
    ? text
    : unwritable(`a key is 1 to ${KEY_MAX} characters and none of them controls anything`);
}

function noteIn(members: JsonObject, subject: Subject): MarkerNote {
  const keepMs = keepIn(members);
  return {
    marker: keyOf(textIn(members, "marker", subject)),
    operation: textIn(members, "operation", subject),
    digest: textIn(members, "digest", subject),
    ...(keepMs === undefined ? {} : { keepMs }),
  };
}

function keepIn({ keep }: JsonObject): number | undefined {
  return keep === undefined ? undefined : durationOf({ value: keep, at: "/keep" });
}

function untilIn(members: JsonObject, subject: Subject): { readonly until?: number } {
  const keepMs = keepIn(members);
  if (keepMs === undefined) return {};
  const since = Date.parse(textIn(members, "since", subject));
  return Number.isNaN(since) ? unwritable('"since" is not a moment') : { until: since + keepMs };
}

function expectIn(members: JsonObject, subject: Subject): Pick<RedisWrite, "expect"> {
  const expect = members.expect as JsonObject | undefined; // Its grammar made it an object.
  if (expect === undefined) return {};
  const is = optionalIn(expect, "is", subject);
  // The script counts the version up: what it compares is a whole number in its one form.
  if (is === undefined || !/^(0|[1-9]\d{0,15})$/.test(is))
    return unwritable("the expected version is a whole number; 0 where the key does not exist yet");
  return {
    expect: { key: keyOf(textIn(expect, "key", subject)), field: textIn(expect, "field", subject), is },
  };
}

const WORD_MAX = 1024 * 1024;

function commandIn(written: Json, subject: Subject): RedisCommand {
  const [name = "", key = "", ...rest] = (written as readonly Json[]).map((word) => wordOf(word, subject)); // See above.
  const type = knownCommand(name) ?? unwritable(`${name} is not a command that a contract may use`);
  return { type, words: [name, keyOf(key), ...rest] };
}

function wordOf(template: Json, subject: Subject): string {
  const value = renderValue(template, subject);
  const text =
    value === undefined ? unwritable("a command lacks one of its values") : plainText(value, "a word");
  return text.length <= WORD_MAX && text.isWellFormed()
    ? text
    : unwritable(`a word of a command is longer than ${WORD_MAX} characters, or no text`);
}
