import { Type } from "typebox";
import { Problem } from "../core/problem.ts";
import { delegate, delegations } from "../service/delegate.ts";
import { revokeDelegation } from "../service/revoke.ts";
import { DelegationAnswer, DelegationBody, DelegationPage, EndBody } from "../wire/delegation.ts";
import { delegationAnswer } from "../wire/delegation-answers.ts";
import { words } from "../wire/member.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { PAGE_LIMIT, pageOf, sizeOf } from "./page.ts";
import { described, json, NO_QUERY, REFUSALS } from "./route.ts";

const PATH = Type.Object(
  { id: Type.String({ description: "The delegation's id." }) },
  { additionalProperties: false },
);
const QUERY = Type.Object(
  {
    holder: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "Only of this client." })),
    standing: Type.Optional(words(["true"], "Only those that were not revoked and have not ended.")),
    limit: PAGE_LIMIT,
    cursor: Type.Optional(
      Type.String({ pattern: "^dlg_[0-9a-f]{32}$", description: "From the page before." }),
    ),
  },
  { additionalProperties: false },
);

/** Who gave whom which part of whose authority. */
export function delegationRoutes(app: App, door: Door): void {
  giving(app, door);
  listing(app, door);
  ending(app, door);
}

function giving(app: App, door: Door): void {
  app.post(
    "/v1/delegations",
    {
      config: { permission: "session" },
      schema: {
        body: DelegationBody,
        querystring: NO_QUERY,
        ...described({
          name: "delegate",
          summary: "Give a client a part of your authority, until a moment",
          tag: "authority",
          description:
            "A person gives in a console session of their own; a client gives a part of what it holds; an operator gives to a service that acts for itself.",
          answers: { 201: json("It stands.", DelegationAnswer) },
          refusals: [...REFUSALS.body, "invalid", "revoked"],
        }),
      },
    },
    async (request, reply) => {
      const { holder, service, rules, depth, uses, notBefore, lastsSeconds, reason } = request.body;
      const from = notBefore === undefined ? undefined : instantOf(notBefore);
      const forMs = lastsSeconds * 1000;
      const made = await delegate(door.ports, sessionOf(request), {
        holder,
        service,
        rules,
        depth,
        uses,
        notBefore: from,
        lasts: from === undefined ? { forMs } : { until: from + forMs },
        reason,
      });
      return reply.code(201).send(delegationAnswer(made));
    },
  );
}

function listing(app: App, door: Door): void {
  app.get(
    "/v1/delegations",
    {
      config: { permission: "session" },
      schema: {
        querystring: QUERY,
        ...described({
          name: "listDelegations",
          summary: "Delegations, newest first",
          tag: "authority",
          description:
            "Everybody sees those of their own authority; operators, resolvers, approvers and auditors their tenant's.",
          answers: { 200: json("One page.", DelegationPage) },
          refusals: REFUSALS.session,
        }),
      },
    },
    async (request) => {
      const { holder, standing, limit, cursor } = request.query;
      const size = sizeOf(limit);
      const found = await delegations(door.ports, sessionOf(request), {
        ...(holder === undefined ? {} : { holder }),
        ...(standing === undefined ? {} : { standing: true }),
        ...(cursor === undefined ? {} : { before: cursor }),
        max: size + 1,
      });
      const page = pageOf(found, size);
      return { delegations: page.shown.map(delegationAnswer), ...page.more };
    },
  );
}

function ending(app: App, door: Door): void {
  app.post(
    "/v1/delegations/:id/revoke",
    {
      config: { permission: "session" },
      schema: {
        params: PATH,
        querystring: NO_QUERY,
        body: EndBody,
        ...described({
          name: "revokeDelegation",
          summary: "End a delegation and all below it",
          tag: "authority",
          description:
            "No new claim and no repeat from the answer on; what is executing may finish. Twice is once.",
          answers: { 200: json("As it ended.", DelegationAnswer) },
          refusals: [...REFUSALS.body, "not_found", "revoked"],
        }),
      },
    },
    async (request) =>
      delegationAnswer(
        await revokeDelegation(door.ports, sessionOf(request), request.params.id, request.body.reason),
      ),
  );
}

function instantOf(text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new Problem("invalid_request", "notBefore is not a moment that exists", { at: "/notBefore" });
  return at;
}
