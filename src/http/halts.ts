import { Type } from "typebox";
import { halt, lift, standing } from "../service/halt.ts";
import type { Authority } from "../service/ledger-port.ts";
import { haltAnswer } from "../wire/answers.ts";
import { HaltAnswer, HaltBody, StandingAnswer } from "../wire/authority.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { EMPTY_BODY, noBody } from "./operation-path.ts";
import { described, json, NO_QUERY, REFUSALS } from "./route.ts";

const HALT_PATH = Type.Object(
  { id: Type.String({ description: "The halt's id." }) },
  { additionalProperties: false },
);

/** Stopping needs no deploy: from the answer on no new claim and no repeat is made. */
export function haltRoutes(app: App, door: Door): void {
  app.post(
    "/v1/halts",
    {
      config: { permission: ["operator"] },
      schema: {
        body: HaltBody,
        querystring: NO_QUERY,
        ...described({
          name: "halt",
          summary: "Halt a tenant, tool, provider, principal, client or delegation",
          tag: "authority",
          description: "Stops new claims and repeats at once; what is executing may finish.",
          answers: { 201: json("It stands.", HaltAnswer) },
          refusals: REFUSALS.body,
        }),
      },
    },
    async (request, reply) =>
      reply.code(201).send(haltAnswer(await halt(door.ports, sessionOf(request), request.body))),
  );
  app.get(
    "/v1/halts",
    {
      config: { permission: ["operator", "auditor", "resolver"] },
      schema: {
        querystring: NO_QUERY,
        ...described({
          name: "listHalts",
          summary: "The halts that stand",
          tag: "authority",
          answers: { 200: json("And the epoch of authority.", StandingAnswer) },
          refusals: REFUSALS.session,
        }),
      },
    },
    async (request) => standingAnswer(await standing(door.ports, sessionOf(request))),
  );
  app.post(
    "/v1/halts/:id/lift",
    {
      config: { permission: ["operator"] },
      preValidation: noBody,
      schema: {
        params: HALT_PATH,
        querystring: NO_QUERY,
        body: EMPTY_BODY,
        ...described({
          name: "liftHalt",
          summary: "Lift a halt",
          tag: "authority",
          answers: { 200: json("What still stands.", StandingAnswer) },
          refusals: [...REFUSALS.body, "not_found"],
        }),
      },
    },
    async (request) => {
      const session = sessionOf(request);
      await lift(door.ports, session, request.params.id);
      return standingAnswer(await standing(door.ports, session));
    },
  );
}

function standingAnswer({ epoch, halts }: Authority): StandingAnswer {
  return { epoch, halts: halts.map(haltAnswer) };
}
