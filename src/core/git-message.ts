import type { Json } from "./json.ts";
import { checkHoles, type Message, type MessageForm } from "./message.ts";
import { kindSchema, onlyKind, openParts } from "./message-kind.ts";
import { choiceOf, membersOf, refuse, required, textOf, type Written } from "./written.ts";

/** What may be asked of a git remote. */
const FORMS = {
  /** One commit on one branch, and with it the ref of our operation. */
  commit: ["branch", "parent", "message", "files", "operation", "digest", "at"],
  /** Does the ref of our operation exist, and what stands there? The branch shows that there is something to see. */
  find: ["branch", "operation"],
  /** Creates the ref of our operation as a tombstone. */
  bar: ["operation", "digest", "at"],
  /** Where the branch stands: the version that a commit names as its parent. */
  head: ["branch"],
} as const;

/** `{ commit: … }`, `{ find: … }`, `{ bar: … }` or `{ head: … }`. Commits are for everybody who can read the repository. */
export const GIT_MESSAGE: MessageForm = { parse, parts: openParts, schema: kindSchema(FORMS) };

function parse(written: Written): Message {
  const { kind: form, body } = onlyKind(written, ["commit", "find", "bar", "head"] as const);
  const members = membersOf<string>(body, FORMS[form]);
  for (const name of FORMS[form]) {
    const member = required(body, members[name], name, `${form} takes ${FORMS[form].join(", ")}`);
    if (name === "files") checkFiles(member);
    else textOf(member);
  }
  checkHoles(body);
  return { [form]: body.value };
}

function checkFiles(written: Written): void {
  if (typeof written.value === "string") return void textOf(written);
  if (!Array.isArray(written.value) || written.value.length === 0)
    refuse(written, 'write a list of files, or one variable that holds it, such as "{{args.files}}"');
  for (const [index, value] of (written.value as readonly Json[]).entries()) {
    const file: Written = { value, at: `${written.at}/${index}` };
    const given = membersOf(file, ["path", "content", "encoding", "remove"]);
    textOf(required(file, given.path, "path", "say where the file stands"));
    if (given.encoding !== undefined) choiceOf(given.encoding, ["utf8", "base64"]);
  }
}
