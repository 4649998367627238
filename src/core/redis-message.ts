import type { Contract } from "./contract.ts";
import type { JsonObject } from "./json.ts";
import type { LintFinding } from "./lint-finding.ts";
import { checkHoles, type Message, type MessageForm } from "./message.ts";
import { kindOf, kindSchema, misplacedMessages, onlyKind, openParts } from "./message-kind.ts";
import { KNOWN_COMMANDS, knownCommand } from "./redis-command.ts";
import { durationOf, itemsOf, membersOf, refuse, required, textOf, type Written } from "./written.ts";

/** What may be asked of a Redis server. Each is one script or one plain question, and never half. */
const FORMS = {
  /** The marker and the effect, if the marker is new and the version is the expected one. */
  write: ["marker", "operation", "digest", "keep", "expect", "do"],
  /** The marker as a tombstone, if it is new. */
  bar: ["marker", "operation", "digest", "keep"],
  /** The marker, and whether it would still be there if it ever had been. */
  find: ["marker", "keep", "since"],
  /** The fields of one hash: the resource with its version. */
  hash: ["key"],
} as const;

/** `{ write: … }`, `{ bar: … }`, `{ find: … }` or `{ hash: … }`. A script's arguments stand in the slow log and in every monitor. */
export const REDIS_MESSAGE: MessageForm = { parse, parts: openParts, schema: kindSchema(FORMS) };

const OPTIONAL = ["keep", "expect", "since"];
const COMMANDS_MAX = 8;

function parse(written: Written): Message {
  const { kind: form, body } = onlyKind(written, ["write", "bar", "find", "hash"] as const);
  const members = membersOf<string>(body, FORMS[form]);
  for (const name of FORMS[form]) {
    const member = OPTIONAL.includes(name)
      ? members[name]
      : required(body, members[name], name, `${form} takes ${FORMS[form].join(", ")}`);
    if (member === undefined) continue;
    if (name === "do") checkCommands(member);
    else if (name === "expect") checkExpected(member);
    else if (name === "keep") checkKeep(member);
    else textOf(member);
  }
  if (form === "find" && (members.keep === undefined) !== (members.since === undefined))
    refuse(
      body,
      '"keep" and since: "{{op.first_sent_at}}" stand together: how long markers are kept, and from when',
    );
  checkHoles(body);
  return { [form]: body.value };
}

// The ledger's clock and the server's differ by less than this, or nothing else works either.
const KEEP_MIN_MS = 5 * 60_000;

function checkKeep(written: Written): void {
  if (durationOf(written) < KEEP_MIN_MS)
    refuse(
      written,
      "keep it for at least 5m: clocks differ, and a marker that is gone is a repeat that is executed",
    );
}

function checkExpected(written: Written): void {
  const given = membersOf(written, ["key", "field", "is"]);
  for (const name of ["key", "field", "is"] as const)
    textOf(required(written, given[name], name, "say which field of which hash is the version"));
}

function checkCommands(written: Written): void {
  const commands = itemsOf(written);
  if (commands.length === 0 || commands.length > COMMANDS_MAX)
    refuse(written, `write 1 to ${COMMANDS_MAX} commands`);
  for (const command of commands) {
    const [name, key, ...args] = itemsOf(command);
    if (name === undefined || key === undefined) refuse(command, "write the command and its key");
    if (knownCommand(textOf(name)) === undefined)
      refuse(
        name,
        `write one of ${KNOWN_COMMANDS.join(", ")}: commands that write one plain key and do the same everywhere`,
      );
    for (const text of [key, ...args]) if (typeof text.value !== "number") textOf(text);
  }
}

const PLACES = { effect: ["write"], question: ["find", "hash"], barrier: ["bar"] };

/** What a contract for Redis says against itself. */
export function redisMistakes(contract: Contract): readonly LintFinding[] {
  return [
    ...misplacedMessages(contract, PLACES),
    ...markersAreOne(contract),
    ...markersLast(contract),
    ...absenceIsProved(contract),
  ];
}

/** Every message about the marker means the same key, kept for the same time. */
function markersAreOne({ request, lookup, barrier }: Contract): readonly LintFinding[] {
  const own = membersIn(request);
  const others = [
    ...lookup.map((one, index) => ({ at: `/lookup/${index}/request`, message: one.request })),
    ...(barrier.kind === "none" ? [] : [{ at: "/barrier/request", message: barrier.request }]),
  ];
  return others.flatMap(({ at, message }) => {
    const { marker, keep } = membersIn(message);
    if (kindOf(message) === "hash" || (marker === own.marker && keep === own.keep)) return [];
    return [
      {
        rule: "markers-differ",
        at: `${at}/${kindOf(message)}`,
        says: "marker and keep are written as in the request: only then it is the same marker, for the same time",
      },
    ];
  });
}

/** A repeat is recognized as long as the marker is there. */
function markersLast({ identity, request }: Contract): readonly LintFinding[] {
  const { keep } = membersIn(request);
  if (identity.kind === "none" || identity.kind === "same_version" || typeof keep !== "string") return [];
  const keptMs = durationOf({ value: keep, at: "/request/write/keep" });
  const { forMs, after } = identity.window;
  if (after === "executes" && forMs !== null && forMs <= keptMs) return [];
  return [
    {
      rule: "window-beyond-marker",
      at: "/identity/window",
      says: `the marker is kept for ${keep} and a repeat executes again afterwards; write window: { for: ${keep}, after: executes }, or keep it for ever`,
    },
  ];
}

function absenceIsProved({ lookup }: Contract): readonly LintFinding[] {
  return lookup.flatMap(({ name, strength, request, absent }, index) => {
    if (strength === "positive") return [];
    if (kindOf(request) === "find" && absent.body?.["/kept"] === true) return [];
    return [
      {
        rule: "absence-unproved",
        at: `/lookup/${index}/absent`,
        says: `"${name}" could miss a marker that was kept long enough; write absent: { status: 404, body: { /kept: true } } over a find, or strength: positive`,
      },
    ];
  });
}

function membersIn(message: Message | undefined): JsonObject {
  return (Object.values(message ?? {})[0] ?? {}) as JsonObject; // `parse` made it an object.
}
