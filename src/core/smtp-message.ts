import { checkHoles, type Message, type MessageForm } from "./message.ts";
import { kindSchema, openParts } from "./message-kind.ts";
import { membersOf, refuse, required, textOf, type Written } from "./written.ts";

const LETTER = ["to", "subject", "text", "html", "operation", "digest", "at"] as const;

/** `{ letter: … }` is sent, `{ find: { operation } }` is looked for in the archive. */
export const SMTP_MESSAGE: MessageForm = {
  parse,
  parts: openParts,
  schema: kindSchema({ letter: LETTER, find: ["operation"] }),
};

function parse(written: Written): Message {
  const given = membersOf(written, ["letter", "find"]);
  const { letter, find } = given;
  if ((letter === undefined) === (find === undefined)) refuse(written, "write either letter or find");
  if (find !== undefined) {
    const { operation } = membersOf(find, ["operation"]);
    textOf(required(find, operation, "operation", 'write "{{op.id}}"'));
  } else if (letter !== undefined) {
    const members = membersOf(letter, LETTER);
    for (const name of LETTER) {
      // One addressee: a letter that one of two servers took has no single outcome.
      const says = `a letter takes ${LETTER.join(", ")}; html may be left out`;
      if (name !== "html" || members.html !== undefined) textOf(required(letter, members[name], name, says));
    }
  }
  checkHoles(written);
  return written.value as Message; // membersOf has seen that it is an object.
}
