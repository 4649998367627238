import type { Instant } from "../core/ids.ts";
import { canonicalJson, type Json, type JsonObject, pointed } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import { type Encoder, partsOf, soleVariable, type Variable } from "../core/template.ts";

/** Everything a template may speak of. All of it is in the authorized action, pinned by its digests, or a secret. */
export interface Subject {
  /** Origin and path of the provider, without a slash at the end. */
  readonly base: string;
  readonly tenantId: string;
  readonly resourceId: string;
  readonly arguments: JsonObject;
  readonly expectedVersion?: string;
  /** Absent while a resource is read for a proposal. */
  readonly operation?: {
    readonly id: string;
    readonly digest: string;
    readonly authorizedAt: Instant;
    readonly firstSentAt: Instant;
  };
  readonly vars: Readonly<Record<string, string>>;
  readonly writ: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** The request cannot be written. It never could: the same action gives the same answer every time. */
export function unwritable(says: string): never {
  throw new Problem("invalid", says);
}

/** The value of a variable before it is encoded, or undefined when the action holds none. */
function namedValue(name: string, subject: Subject): Json | undefined {
  const { operation } = subject;
  if (name === "args" || name.startsWith("args/")) return pointed(subject.arguments, name.slice(4));
  if (name.startsWith("args.")) return pointed(subject.arguments, `/${name.slice(5).replaceAll(".", "/")}`);
  if (name.startsWith("vars.")) return varOf(name.slice(5), subject);
  if (name.startsWith("writ.")) return own(subject.writ, name.slice(5));
  if (name.startsWith("secret:")) return own(subject.secrets, name.slice(7));
  switch (name) {
    case "base":
      return subject.base;
    case "tenant":
      return subject.tenantId;
    case "resource":
      return subject.resourceId;
    case "expected.version":
      return subject.expectedVersion;
    case "op.id":
    case "op.key": // The provider's key is the operation's own id: minted by us, new for every intent, the same for every attempt.
      return operation?.id;
    case "op.digest":
      return operation?.digest;
    case "op.authorized_at":
      return operation === undefined ? undefined : new Date(operation.authorizedAt).toISOString();
    case "op.first_sent_at":
      return operation === undefined ? undefined : new Date(operation.firstSentAt).toISOString();
  }
  return unwritable(`{{${name}}} is not a variable`);
}

function own(record: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** A var is text built from other variables, never from vars: so it ends. */
function varOf(name: string, subject: Subject): string | undefined {
  const template = own(subject.vars, name);
  return template === undefined ? undefined : renderText(template, { ...subject, vars: {} });
}

/** The value after its encoders, or undefined for an optional one that is absent. */
export function variableValue(variable: Variable, subject: Subject): Json | undefined {
  const value = namedValue(variable.name, subject);
  if (value === undefined)
    return variable.optional ? undefined : unwritable(`{{${variable.name}}} has no value in this action`);
  return variable.encoders.reduceRight<Json>(
    (inner, encoder) => encoded(encoder, inner, variable.name),
    value,
  );
}

function encoded(encoder: Encoder, value: Json, name: string): string {
  switch (encoder) {
    case "b64":
      return Buffer.from(plainText(value, name), "utf8").toString("base64");
    case "httpdate":
      return httpDate(plainText(value, name), name);
    case "json":
      return canonicalJson(value);
    case "uri":
      return encodeURIComponent(plainText(value, name));
  }
}

/** RFC 9110 5.6.7: the form of dates in headers. */
function httpDate(text: string, name: string): string {
  const ms = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? unwritable(`{{${name}}} is not a moment in UTC`) : new Date(ms).toUTCString();
}

/** How a value stands inside a text. Structures have no single form there; the `json` encoder gives them one. */
export function plainText(value: Json, name: string): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return canonicalJson(value);
  return unwritable(`{{${name}}} is not a plain value; write {{json ${name}}} for its JSON text`);
}

/** The template as text. */
function renderText(template: string, subject: Subject): string {
  return partsOf(template)
    .map((part) => {
      if ("text" in part) return part.text;
      const value = variableValue(part.variable, subject);
      if (value === undefined)
        return unwritable(`{{${part.variable.name}?}} may be left out only where it stands alone`);
      return plainText(value, part.variable.name);
    })
    .join("");
}

/** The text, or undefined when the template is one optional variable without a value. */
export function renderOptional(template: string, subject: Subject): string | undefined {
  const sole = soleVariable(template);
  if (sole?.optional && variableValue(sole, subject) === undefined) return undefined;
  return renderText(template, subject);
}

/** A JSON value with its variables filled in. A text that is exactly one variable keeps the JSON type of its value. */
export function renderValue(template: Json, subject: Subject): Json | undefined {
  if (typeof template === "string") {
    const sole = soleVariable(template);
    return sole === undefined ? renderText(template, subject) : variableValue(sole, subject);
  }
  if (template === null || typeof template !== "object") return template;
  if (Array.isArray(template)) {
    return template.map((item: Json) => renderValue(item, subject)).filter((item) => item !== undefined);
  }
  const members = template as JsonObject; // Neither null nor an array: see the lines above.
  const merge = members.$merge;
  if (merge !== undefined) return merged(members, merge, subject);
  const filled = Object.entries(members).map(
    ([name, member]) => [name, renderValue(member, subject)] as const,
  );
  return Object.fromEntries(filled.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** `$merge`: the objects' members, a later object's over an earlier one's, so that a marker of ours cannot be forged by an argument. */
function merged(template: JsonObject, list: Json, subject: Subject): JsonObject {
  if (Object.keys(template).length !== 1 || !Array.isArray(list))
    return unwritable("$merge stands alone and takes a list");
  const objects = (list as readonly Json[]).map((item) => renderValue(item, subject) ?? {}); // Array.isArray forgets what a JSON array holds.
  const members = objects.flatMap((object) => {
    if (object === null || typeof object !== "object" || Array.isArray(object))
      return unwritable("$merge takes objects only");
    return Object.entries(object);
  });
  return Object.fromEntries(members);
}
