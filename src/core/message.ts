import type { Json, JsonObject } from "./json.ts";
import type { LintFinding } from "./lint-finding.ts";
import { Problem } from "./problem.ts";
import { partsOf, variablesIn } from "./template.ts";
import { refuse, type Written } from "./written.ts";

/** What is sent to a provider, as a contract writes it: plain JSON in the grammar of its transport, its texts may hold `{{…}}`. */
export type Message = JsonObject;

/** A part of a message where variables may stand. */
export interface MessagePart {
  /** Below the message, such as "/headers". */
  readonly at: string;
  readonly value: Json | undefined;
  /** Whether a secret may stand here: never where a text is logged, kept or used as a name. */
  readonly secrets: boolean;
}

/** The grammar of one transport's messages. Pure: a contract is checked without the client that would send it. */
export interface MessageForm {
  /** Throws `invalid` with the place and the mend. */
  readonly parse: (written: Written) => Message;
  /** Every part that may hold a variable: what is not among them is sent as it is written. */
  readonly parts: (message: Message) => readonly MessagePart[];
  /** The same as a JSON Schema, for editors. It refuses nothing that `parse` takes. */
  readonly schema?: JsonObject;
  /** What a message says against itself; `at` is where it is written. */
  readonly lint?: (message: Message, at: string) => readonly LintFinding[];
}

/** Every hole can be read, and no member's name holds one: arguments never name headers, fields or parameters. */
export function checkHoles(written: Written): void {
  try {
    variablesIn(written.value);
    checkNames(written.value);
  } catch (problem) {
    if (problem instanceof Problem) refuse(written, problem.message);
    throw problem;
  }
}

function checkNames(value: Json): void {
  if (value === null || typeof value !== "object") return;
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value) && partsOf(name).some((part) => "variable" in part))
      throw new Problem("invalid", `the name "${name}" holds a variable; only values may`);
    checkNames(member as Json); // Object.entries of a JSON value gives JSON values.
  }
}
