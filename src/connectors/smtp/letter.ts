import type MimeNode from "nodemailer/lib/mime-node";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Message } from "../../core/message.ts";
import { renderValue, type Subject, unwritable } from "../variable.ts";
import { checkAddress } from "./address.ts";
import type { SmtpSettings } from "./settings.ts";

export const OPERATION_HEADER = "X-Writ-Operation";
export const DIGEST_HEADER = "X-Writ-Digest";

/** Everything of one letter, checked. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly operation: string;
  readonly digest: string;
  readonly at: Date;
}

export type SmtpAsk =
  | { readonly kind: "letter"; readonly letter: Letter }
  | { readonly kind: "find"; readonly operation: string };

const SUBJECT_MAX = 500;
const TEXT_MAX = 1024 * 1024;

/** Throws `invalid` for a value that could be read as something else than it says. */
export function smtpAskOf(message: Message, subject: Subject): SmtpAsk {
  const [[kind, members] = ["", null]] = Object.entries(renderValue(message, subject) as JsonObject); // A message is an object.
  const given = members as JsonObject; // Its grammar says so.
  const operation = checked(given.operation, /^op_[0-9a-f]{32}$/, "the operation's id");
  if (kind === "find") return { kind, operation };
  const to = textIn(given.to, "the addressee");
  const why = checkAddress(to);
  if (why !== undefined) unwritable(`the addressee cannot be written to: ${why}`);
  return {
    kind: "letter",
    letter: {
      to,
      subject: subjectLine(textIn(given.subject, "the subject")),
      text: body(given.text, "the text"),
      ...(given.html === undefined ? {} : { html: body(given.html, "the html") }),
      operation,
      digest: checked(given.digest, /^sha-256:[A-Za-z0-9_-]{43}$/, "the digest"),
      at: new Date(checked(given.at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, "the time")),
    },
  };
}

function textIn(value: Json | undefined, what: string): string {
  return typeof value === "string" && value !== "" ? value : unwritable(`${what} is not a text`);
}

function checked(value: Json | undefined, form: RegExp, what: string): string {
  const text = textIn(value, what);
  return form.test(text) ? text : unwritable(`${what} has not the form that it must have`);
}

/** A line end in a subject would begin another header, at a server that unfolds or at a reader that decodes. */
function subjectLine(text: string): string {
  if (
    text.length > SUBJECT_MAX ||
    !text.isWellFormed() ||
    /[\p{Cc}\p{Zl}\p{Zp}]|[\u202a-\u202e\u2066-\u2069]/u.test(text)
  )
    return unwritable(
      `the subject is longer than ${SUBJECT_MAX}, or holds line ends or characters that turn it around`,
    );
  return text;
}

function body(value: Json | undefined, what: string): string {
  const text = textIn(value, what);
  if (text.length > TEXT_MAX || !text.isWellFormed() || /[^\P{Cc}\r\n\t]/u.test(text))
    return unwritable(`${what} is longer than ${TEXT_MAX}, or holds control characters`);
  return text;
}

/**
 * The letter as it goes over the wire, in lines that end with CR LF. From the action and the settings alone (time, boundary and Message-ID
 * too): every attempt gives these bytes again. Seven-bit: no server on the way needs to change it.
 */
export async function letterBytes(letter: Letter, settings: SmtpSettings): Promise<Buffer> {
  const { default: Node } = await import("nodemailer/lib/mime-node");
  const { operation, digest, html, text } = letter;
  const options = {
    baseBoundary: operation,
    boundaryPrefix: "writ",
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  const root = new Node(html === undefined ? "text/plain; charset=utf-8" : "multipart/alternative", options);
  root.setHeader("From", { name: settings.fromName ?? "", address: settings.from });
  root.setHeader("To", { name: "", address: letter.to });
  root.setHeader("Subject", letter.subject);
  root.setHeader("Date", letter.at.toUTCString().replace("GMT", "+0000"));
  root.setHeader("Message-ID", `<${operation}@${settings.domain}>`);
  root.setHeader(OPERATION_HEADER, operation);
  root.setHeader(DIGEST_HEADER, digest);
  root.setHeader("Auto-Submitted", "auto-generated"); // RFC 3834: out-of-office programs do not answer it.
  if (html === undefined) fill(root, text);
  else {
    fill(root.createChild("text/plain; charset=utf-8"), text);
    fill(root.createChild("text/html; charset=utf-8"), html);
  }
  const built = (await root.build()).toString("latin1");
  // Whatever stands in it, only whole CR LF pairs end lines: a lone one is where smuggled commands begin.
  const lines = built.replaceAll(/\r?\n|\r/g, "\r\n").replace(/(\r\n)*$/, "\r\n");
  if (/[^\x09\x0a\x0d\x20-\x7e]/.test(lines)) unwritable("the letter cannot be written in seven bits");
  return Buffer.from(lines, "latin1");
}

function fill(node: MimeNode, text: string): void {
  node.setHeader("Content-Transfer-Encoding", "base64");
  node.setContent(text.replaceAll(/\r?\n|\r/g, "\r\n"));
}

/** RFC 5321 4.5.2: a line that begins with a dot gets another one. Without the dot that ends it all. */
export function stuffed(letter: Buffer): Buffer {
  return Buffer.from(letter.toString("latin1").replaceAll(/^\./gm, ".."), "latin1");
}
