import type { Contract } from "./contract.ts";
import type { Json, JsonObject } from "./json.ts";
import type { LintFinding } from "./lint-finding.ts";
import { checkHoles, type Message, type MessageForm } from "./message.ts";
import { kindOf, kindSchema, misplacedMessages, onlyKind, openParts } from "./message-kind.ts";
import { namesOperation } from "./template.ts";
import { membersOf, refuse, required, textOf, textsOf, type Written } from "./written.ts";

/** What may be asked of a JetStream server. */
const FORMS = {
  /** One message into one stream. */
  publish: ["stream", "subject", "headers", "payload"],
  /** The newest message of one subject. */
  last: ["stream", "subject"],
  /** The first message of a subject with a header of this value, among those stored since a time or after a sequence. */
  find: ["stream", "subject", "header", "since", "after"],
} as const;

/** `{ publish: … }`, `{ last: … }` or `{ find: … }`. Everything of a message is kept in the stream, for everybody who may read it. */
export const NATS_MESSAGE: MessageForm = { parse, parts: openParts, schema: kindSchema(FORMS) };

const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
// The server acts on headers of this beginning: some delete what was there (Nats-Rollup), some let it expire (Nats-TTL).
const SERVERS = /^nats-/i;
const PERMITTED = ["Nats-Msg-Id", "Nats-Expected-Last-Subject-Sequence", "Nats-Expected-Last-Sequence"];

function parse(written: Written): Message {
  const { kind: form, body } = onlyKind(written, ["publish", "last", "find"] as const);
  const members = membersOf<string>(body, FORMS[form]);
  textOf(required(body, members.stream, "stream", "name the stream"));
  textOf(required(body, members.subject, "subject", 'write the subject, such as "orders.{{resource}}"'));
  if (members.headers !== undefined) checkHeaders(members.headers);
  if (form === "find") checkSearch(body, members);
  checkHoles(body);
  return { [form]: body.value };
}

function checkHeaders(written: Written): void {
  const seen = new Set<string>();
  for (const name of Object.keys(textsOf(written))) {
    if (!TOKEN.test(name)) refuse(written, `"${name}" is not a header's name`);
    if (name.toLowerCase() === "nats-expected-stream")
      refuse(written, `"${name}" is written from "stream"; leave it out`);
    if (SERVERS.test(name) && !PERMITTED.includes(name))
      refuse(written, `of the headers that the server acts on, only ${PERMITTED.join(", ")} may be written`);
    if (seen.has(name.toLowerCase())) refuse(written, `"${name}" stands there twice`);
    seen.add(name.toLowerCase());
  }
}

function checkSearch(written: Written, members: Partial<Record<string, Written>>): void {
  const header = required(
    written,
    members.header,
    "header",
    'name the header that holds our operation, such as { Nats-Msg-Id: "{{op.id}}" }',
  );
  const names = Object.keys(textsOf(header));
  if (names.length !== 1 || !TOKEN.test(names[0] ?? "")) refuse(header, "write exactly one header");
  if ((members.since === undefined) === (members.after === undefined))
    refuse(written, 'write either since: "{{op.first_sent_at}}" or after: "{{expected.version}}"');
  for (const place of [members.since, members.after]) if (place !== undefined) textOf(place);
}

const PLACES = { effect: ["publish"], question: ["last", "find"], barrier: ["publish"] };

/** What a contract for JetStream says against itself. */
export function natsMistakes(contract: Contract): readonly LintFinding[] {
  return [...misplacedMessages(contract, PLACES), ...keyIsMessageId(contract), ...absenceIsProved(contract)];
}

function keyIsMessageId({ identity, request, vars }: Contract): readonly LintFinding[] {
  if (identity.kind !== "key" || request === undefined) return [];
  if (identity.window.forMs === null || identity.window.after === "refuses")
    return [
      {
        rule: "window-unlimited",
        at: "/identity/window",
        says: "a stream remembers message ids for its duplicate window and stores a repeat afterwards; write that window, and after: executes",
      },
    ];
  const { headers = {} } = (request.publish ?? {}) as JsonObject; // `parse` made it an object.
  if (namesOperation((headers as JsonObject)["Nats-Msg-Id"] as Json, vars)) return [];
  return [
    {
      rule: "message-id-missing",
      at: "/request/publish/headers",
      says: 'the server recognizes a repeat by Nats-Msg-Id alone; write Nats-Msg-Id: "{{op.id}}", or another identity',
    },
  ];
}

/** A stream forgets by age, by size, by count and by hand; the server says whether this one can have. */
function absenceIsProved({ lookup, vars }: Contract): readonly LintFinding[] {
  return lookup.flatMap(({ name, strength, request, absent }, index) => {
    if (strength === "positive") return [];
    if (kindOf(request) === "last" && namesOperation(request, vars)) return [];
    if (kindOf(request) === "find" && absent.body?.["/kept"] === true) return [];
    return [
      {
        rule: "absence-unproved",
        at: `/lookup/${index}/absent`,
        says: `"${name}" could miss a message that the stream has forgotten; write absent: { status: 404, body: { /kept: true } } over a find, or strength: positive`,
      },
    ];
  });
}
