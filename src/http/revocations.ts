import { Type } from "typebox";
import { restore, revocations, revoke } from "../service/revoke.ts";
import { RevocationAnswer, RevocationBody, RevocationPage } from "../wire/delegation.ts";
import { revocationAnswer } from "../wire/delegation-answers.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { EMPTY_BODY, noBody } from "./operation-path.ts";
import { PAGE_LIMIT, pageOf, sizeOf } from "./page.ts";
import { described, json, NO_QUERY, REFUSALS } from "./route.ts";

const PATH = Type.Object(
  { id: Type.String({ description: "The revocation's id." }) },
  { additionalProperties: false },
);
const QUERY = Type.Object(
  {
    limit: PAGE_LIMIT,
    cursor: Type.Optional(
      Type.String({ pattern: "^rev_[0-9a-f]{32}$", description: "From the page before." }),
    ),
  },
  { additionalProperties: false },
);

/** People and clients who may not act any more, whatever their tokens say. */
export function revocationRoutes(app: App, door: Door): void {
  app.post(
    "/v1/revocations",
    {
      config: { permission: ["operator"] },
      schema: {
        body: RevocationBody,
        querystring: NO_QUERY,
        ...described({
          name: "revoke",
          summary: "Revoke a person or a client",
          tag: "authority",
          description:
            "No new claim and no repeat from the answer on, by them or through them; what is executing may finish. Twice is once.",
          answers: { 201: json("It stands.", RevocationAnswer) },
          refusals: [...REFUSALS.body, "revoked"],
        }),
      },
    },
    async (request, reply) =>
      reply.code(201).send(revocationAnswer(await revoke(door.ports, sessionOf(request), request.body))),
  );
  app.get(
    "/v1/revocations",
    {
      config: { permission: ["operator", "auditor"] },
      schema: {
        querystring: QUERY,
        ...described({
          name: "listRevocations",
          summary: "The revocations that stand, newest first",
          tag: "authority",
          answers: { 200: json("One page.", RevocationPage) },
          refusals: REFUSALS.session,
        }),
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const size = sizeOf(limit);
      const query = { ...(cursor === undefined ? {} : { before: cursor }), max: size + 1 };
      const page = pageOf(await revocations(door.ports, sessionOf(request), query), size);
      return { revocations: page.shown.map(revocationAnswer), ...page.more };
    },
  );
  app.post(
    "/v1/revocations/:id/lift",
    {
      config: { permission: ["operator"] },
      preValidation: noBody,
      schema: {
        params: PATH,
        querystring: NO_QUERY,
        body: EMPTY_BODY,
        ...described({
          name: "liftRevocation",
          summary: "Let a person or a client act again",
          tag: "authority",
          answers: { 200: json("What was rejected meanwhile stays so.", EMPTY_BODY) },
          refusals: [...REFUSALS.body, "not_found", "revoked"],
        }),
      },
    },
    async (request) => {
      await restore(door.ports, sessionOf(request), request.params.id);
      return {};
    },
  );
}
