import type { Json, JsonObject } from "../../core/json.ts";
import type { Message } from "../../core/message.ts";
import { renderValue, type Subject, unwritable } from "../variable.ts";
import type { CommitFile, CommitPlan } from "./commit.ts";
import { checkBranch, checkPath } from "./path.ts";
import type { GitSettings } from "./settings.ts";

/** A message with every variable filled in and every value checked. */
export type GitMessage =
  | { readonly kind: "commit"; readonly branch: string; readonly plan: CommitPlan }
  | { readonly kind: "find"; readonly branch: string; readonly operation: string }
  | { readonly kind: "bar"; readonly operation: string; readonly digest: string; readonly at: string }
  | { readonly kind: "head"; readonly branch: string };

const FILES_MAX = 100;
const FILE_MAX_BYTES = 1024 * 1024;

/** Throws `invalid` for a value that could be read as something else than it says. */
export function gitMessageOf(message: Message, subject: Subject, settings: GitSettings): GitMessage {
  const rendered = renderValue(message, subject);
  const [[kind, members] = ["", null]] = Object.entries(objectIn(rendered, "a message"));
  const given = objectIn(members as Json, kind); // A member of a JSON value.
  const branch = (): string => checkBranch(textIn(given.branch, "the branch"), settings.branches);
  const operation = (): string => checked(given.operation, /^op_[0-9a-f]{32}$/, "the operation's id");
  const digest = (): string => checked(given.digest, /^sha-256:[A-Za-z0-9_-]{43}$/, "the digest");
  const at = (): string => checked(given.at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, "the time");
  switch (kind) {
    case "commit": {
      const parent = checked(
        given.parent,
        /^[0-9a-f]{40}$/,
        "the parent: a version is the full id of a commit, which",
      );
      const files = filesIn(given.files, settings);
      const message = textIn(given.message, "the commit's message");
      return {
        kind,
        branch: branch(),
        plan: { parent, files, message, operation: operation(), digest: digest(), at: at() },
      };
    }
    case "find":
      return { kind, branch: branch(), operation: operation() };
    case "bar":
      return { kind, operation: operation(), digest: digest(), at: at() };
    case "head":
      return { kind, branch: branch() };
  }
  return unwritable(`"${kind}" is nothing that can be asked of a git remote`);
}

function objectIn(value: Json | undefined, what: string): JsonObject {
  if (value === undefined || value === null || typeof value !== "object" || Array.isArray(value))
    return unwritable(`${what} is not an object`);
  return value as JsonObject; // Neither null nor an array: see above.
}

function textIn(value: Json | undefined, what: string): string {
  return typeof value === "string" && value !== "" ? value : unwritable(`${what} is not a text`);
}

function checked(value: Json | undefined, form: RegExp, what: string): string {
  const text = textIn(value, what);
  return form.test(text) ? text : unwritable(`${what} has not the form that it must have`);
}

function filesIn(value: Json | undefined, settings: GitSettings): readonly CommitFile[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > FILES_MAX)
    return unwritable(`a commit takes a list of 1 to ${FILES_MAX} files`);
  const files = (value as readonly Json[]).map((one) => fileIn(objectIn(one, "a file"), settings));
  // Some file systems do not tell letters' cases apart, and git none that are under one another.
  const folded = files.map(({ path }) => path.normalize("NFKC").toLowerCase()).sort();
  for (const [index, path] of folded.entries()) {
    if (folded[index - 1] === path) unwritable("two files of the commit have one path");
    if (folded.some((other) => path.startsWith(`${other}/`)))
      unwritable("one file of the commit stands under another");
  }
  return files;
}

function fileIn(given: JsonObject, settings: GitSettings): CommitFile {
  const known = ["path", "content", "encoding", "remove"];
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined)
    unwritable(`a file has ${known.join(", ")}; "${unknown.slice(0, 40)}" is refused`);
  const path = checkPath(textIn(given.path, "a file's path"), settings.paths);
  if (given.remove === true && given.content === undefined) return { path };
  if (given.remove !== undefined && given.remove !== false)
    return unwritable("a file has either content or remove: true");
  const content = bytesOf(given);
  return content.length <= FILE_MAX_BYTES
    ? { path, content }
    : unwritable(`a file is larger than ${FILE_MAX_BYTES} bytes`);
}

function bytesOf({ content, encoding }: JsonObject): Uint8Array {
  if (typeof content !== "string") return unwritable("a file's content is not a text");
  if (encoding === undefined || encoding === "utf8") return Buffer.from(content, "utf8");
  const bytes = Buffer.from(content, "base64");
  // Buffer skips what is not base64: another reader would not.
  if (encoding !== "base64" || bytes.toString("base64") !== content)
    return unwritable("a file's content is not in the encoding that it names (utf8 or base64)");
  return bytes;
}
