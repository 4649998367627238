import { checkHoles, type Message, type MessageForm } from "./message.ts";
import { kindSchema, onlyKind, openParts } from "./message-kind.ts";
import { membersOf, refuse, required, textOf, type Written } from "./written.ts";

const FORMS = {
  /** The marker row and the tool's `sql.perform`, in one transaction. */
  perform: ["tenant", "operation", "digest"],
  /** Is there a marker row of ours? Waits for a transaction that is writing one. */
  find: ["tenant", "operation"],
  /** A marker row that says: this operation never happens. */
  bar: ["tenant", "operation", "digest"],
} as const;

/** `{ perform: … }`, `{ find: … }` or `{ bar: … }`: what the marker row holds. The effect is the tool's own SQL. */
export const MARKER_MESSAGE: MessageForm = {
  parse,
  parts: openParts,
  schema: kindSchema({ ...FORMS, perform: [...FORMS.perform, "version"] }),
};

function parse(written: Written): Message {
  const { kind: form, body } = onlyKind(written, ["perform", "find", "bar"] as const);
  const known = form === "perform" ? [...FORMS.perform, "version"] : FORMS[form];
  const members = membersOf<string>(body, known);
  for (const name of FORMS[form])
    textOf(required(body, members[name], name, `${form} takes ${FORMS[form].join(", ")}`));
  if (members.version !== undefined && members.version.value !== "{{expected.version?}}")
    refuse(members.version, 'write "{{expected.version?}}": the tool\'s SQL compares it as :expectedVersion');
  checkHoles(body);
  return { [form]: body.value };
}

/** The table that holds the marker rows, as its owner makes it. Writ never makes it by itself. */
export const MARKER_TABLE = `create table writ_operations (
  tenant_id text not null,
  operation_id text not null,
  digest text not null,
  state text not null check (state in ('applied', 'barred')),
  at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, operation_id)
);`;
