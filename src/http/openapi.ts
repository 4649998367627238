import swagger from "@fastify/swagger";
import type { TSchema } from "typebox";
import { HaltAnswer, HaltBody, StandingAnswer } from "../wire/authority.ts";
import { ContractsAnswer, ProvidersAnswer, ToolAnswer, ToolsAnswer } from "../wire/offer.ts";
import { EventAnswer, ExplanationAnswer, HistoryAnswer, ReceiptAnswer } from "../wire/record.ts";
import {
  AttemptAnswer,
  AuthorizationAnswer,
  EvidenceAnswer,
  OperationAnswer,
  OperationPage,
  ProblemAnswer,
  ProposeBody,
  RulingBody,
} from "../wire.ts";
import type { App } from "./door.ts";
import { EMPTY_BODY } from "./operation-path.ts";
import type { Permission } from "./permission.ts";

/** Inner shapes first: an outer one then refers to them. */
const SHAPES: readonly (readonly [string, TSchema])[] = [
  ["Problem", ProblemAnswer],
  ["Attempt", AttemptAnswer],
  ["Authorization", AuthorizationAnswer],
  ["Evidence", EvidenceAnswer],
  ["Operation", OperationAnswer],
  ["OperationPage", OperationPage],
  ["Proposal", ProposeBody],
  ["Explanation", ExplanationAnswer],
  ["Event", EventAnswer],
  ["History", HistoryAnswer],
  ["Receipt", ReceiptAnswer],
  ["Ruling", RulingBody],
  ["HaltOrder", HaltBody],
  ["Halt", HaltAnswer],
  ["Standing", StandingAnswer],
  ["Tool", ToolAnswer],
  ["Tools", ToolsAnswer],
  ["Providers", ProvidersAnswer],
  ["Contracts", ContractsAnswer],
];

const DESCRIPTION = `Agents propose changes; Writ decides, executes exactly what was authorized, and answers for ever who authorized what, against
which version, how many times it was attempted, and what evidence confirms the effect.

Every answer that is not a success is a problem (RFC 9457) with a stable \`code\`. Sending the same proposal again with the same
\`Idempotency-Key\` gives the same operation; an operation that is \`unknown\` is asked for, never proposed again. Unknown members and
parameters are refused. What the HTTP parser itself refuses is answered with 400, 408 or 431.`;

/** Collects the routes that are declared after it. */
export function describeRoutes(app: App): void {
  void app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Writ", version: "1", description: DESCRIPTION },
      components: {
        securitySchemes: { token: { type: "http", scheme: "bearer", bearerFormat: "JWT (RFC 9068)" } },
      },
    },
    convertConstToEnum: false,
    exposeHeadRoutes: false,
    transform: ({ schema, url, route }) => {
      const open = route.config?.permission === "public";
      // A route that takes no body says nothing of one.
      const body = schema?.body === EMPTY_BODY ? { body: undefined } : {};
      return {
        url,
        schema: {
          ...schema,
          ...body,
          hide: schema?.hide ?? false,
          ...(open ? {} : { security: [{ token: [] }] }),
          ...whoMay(schema?.description, route.config?.permission),
          ...headersOf(url, String(route.method)),
        },
      };
    },
    transformObject: (document) =>
      named("openapiObject" in document ? document.openapiObject : document.swaggerObject),
  });
}

/** Roles that a route asks for are said where the route is. */
function whoMay(description: string | undefined, permission: Permission | undefined): object {
  if (permission === undefined || permission === "public" || permission === "session") return {};
  const roles = permission.map((role) => `\`${role}\``).join(" or ");
  return { description: `${description === undefined ? "" : `${description} `}Needs the role ${roles}.` };
}

/** Headers are documented here and judged where they are read: a schema would refuse those that proxies add. */
function headersOf(url: string, method: string): object {
  const header = (description: string, pattern?: string) => ({
    type: "string",
    description,
    ...(pattern === undefined ? {} : { pattern }),
  });
  const prefer = { prefer: header("`wait=N`: seconds to wait before `202`, 0 to 30; 2 without it.") };
  const properties =
    url === "/v1/operations" && method === "POST"
      ? {
          "idempotency-key": header("Names the intent; 1-200 visible ASCII characters, quoted or bare."),
          ...prefer,
        }
      : /\/(execute|reconcile)$/.test(url)
        ? prefer
        : url === "/v1/operations/:id"
          ? { "if-none-match": header("The ETag of an earlier answer.") }
          : url === "/v1/events"
            ? { "last-event-id": header("The last id that was heard.") }
            : undefined;
  return properties === undefined ? {} : { headers: { type: "object", properties } };
}

/** The document with each known shape said once, under its name. */
function named<Document extends object>(document: Document): Document {
  const names = new Map<string, string>();
  const schemas: Record<string, unknown> = {};
  for (const [name, shape] of SHAPES) {
    const text = JSON.stringify(shape);
    schemas[name] = withRefs(JSON.parse(text), names);
    // Swagger writes a schema as it is, so equal text is the same shape.
    names.set(JSON.stringify(sorted(JSON.parse(text))), `#/components/schemas/${name}`);
  }
  const plain = JSON.parse(JSON.stringify(document)) as Document & { components?: object };
  return { ...withRefs(plain, names), components: { ...plain.components, schemas } };
}

function withRefs<Value>(value: Value, names: ReadonlyMap<string, string>): Value {
  if (value === null || typeof value !== "object") return value;
  const ref = names.get(JSON.stringify(sorted(value)));
  // Only schemas are looked for, and a reference is a schema too.
  if (ref !== undefined) return { $ref: ref } as Value;
  if (Array.isArray(value)) return value.map((item) => withRefs(item, names)) as Value; // Item by item.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withRefs(member, names)]),
  ) as Value; // Member by member.
}

function sorted(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}
