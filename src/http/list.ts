import { Type } from "typebox";
import { operationId } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { list } from "../service/inspect.ts";
import { operationAnswer } from "../wire/answers.ts";
import { words } from "../wire/member.ts";
import { OperationPage, STATES } from "../wire.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { described, json, REFUSALS } from "./route.ts";

const PAGE_DEFAULT = 50;

const name = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 500, description }));
const LIST_QUERY = Type.Object(
  {
    state: Type.Optional(words([...STATES], "Only in this state.")),
    tool: name("Only of this tool."),
    resource: name("Only on this resource, written `Type:id`."),
    principal: name("Only of this principal; for roles that see everybody's."),
    attention: Type.Optional(
      words(["true", "false"], "Only those that need a person, or only those that do not."),
    ),
    since: Type.Optional(
      Type.String({
        pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:Z|[+-]\\d{2}:\\d{2})$",
        description: "Only proposed since then (RFC 3339).",
      }),
    ),
    limit: Type.Optional(
      Type.String({ pattern: "^(?:[1-9][0-9]?|100)$", description: "How many, 1 to 100; 50 without it." }),
    ),
    cursor: Type.Optional(
      Type.String({ pattern: "^op_[0-9a-f]{32}$", description: "From the page before." }),
    ),
  },
  { additionalProperties: false },
);

/** Newest first, by keyset: what is opened meanwhile never moves a page. */
export function listRoute(app: App, door: Door): void {
  app.get(
    "/v1/operations",
    {
      config: { permission: "session" },
      schema: {
        querystring: LIST_QUERY,
        ...described({
          name: "listOperations",
          summary: "Operations, newest first",
          tag: "operations",
          description:
            "Everybody sees their own; operators, resolvers, approvers and auditors see their tenant's.",
          answers: { 200: json("One page.", OperationPage) },
          refusals: REFUSALS.session,
        }),
      },
    },
    async (request) => {
      const { state, tool, resource, principal, attention, since, limit, cursor } = request.query;
      const size = limit === undefined ? PAGE_DEFAULT : Number(limit);
      const found = await list(door.ports, sessionOf(request), {
        state,
        tool,
        resource,
        principalId: principal,
        attention: attention === undefined ? undefined : attention === "true",
        since: since === undefined ? undefined : instantOf(since),
        before: cursor === undefined ? undefined : operationId(cursor),
        // One more than shown: whether there is a next page.
        max: size + 1,
      });
      const shown = found.slice(0, size);
      const last = found.length > size ? shown.at(-1) : undefined;
      return {
        operations: shown.map((operation) => operationAnswer(operation)),
        ...(last === undefined ? {} : { cursor: last.id }),
      };
    },
  );
}

function instantOf(text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new Problem("invalid_request", "since is not a moment that exists", { at: "since" });
  return at;
}
