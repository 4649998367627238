import { Type } from "typebox";
import { beginEnrolment, enrolPasskey, listPasskeys, removePasskey } from "../service/passkeys.ts";
import { EnrolBody, EnrolmentAnswer, PasskeyAnswer, PasskeysAnswer } from "../wire/approval.ts";
import { passkeyAnswer } from "./approval-answer.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { EMPTY_BODY, noBody } from "./operation-path.ts";
import { SCOPES } from "./permission.ts";
import { described, json, NO_QUERY, REFUSALS } from "./route.ts";

const approving = { permission: "session", scopes: [SCOPES.approve] } as const;
const ID_MAX = 1_400;

const REMOVE_BODY = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: ID_MAX, description: "The passkey's id." }) },
  { additionalProperties: false },
);

/** A person's own passkeys, in a console session. */
export function passkeyRoutes(app: App, door: Door): void {
  ownedRoutes(app, door);
  enrolmentRoutes(app, door);
}

function ownedRoutes(app: App, door: Door): void {
  app.get(
    "/v1/passkeys",
    {
      config: approving,
      schema: {
        querystring: NO_QUERY,
        ...described({
          name: "listPasskeys",
          summary: "Your passkeys",
          tag: "authority",
          answers: { 200: json("All of them.", PasskeysAnswer) },
          refusals: [...REFUSALS.session, "not_found", "revoked"],
        }),
      },
    },
    async (request) => ({
      passkeys: (await listPasskeys(door.ports, sessionOf(request))).map(passkeyAnswer),
    }),
  );
  app.post(
    "/v1/passkeys/remove",
    {
      config: approving,
      schema: {
        querystring: NO_QUERY,
        body: REMOVE_BODY,
        ...described({
          name: "removePasskey",
          summary: "Remove a passkey of yours",
          tag: "authority",
          description: "It signs nothing here any more; what it signed stays signed.",
          answers: { 200: json("What is left.", PasskeysAnswer) },
          refusals: [...REFUSALS.body, "not_found", "revoked"],
        }),
      },
    },
    async (request) => {
      const session = sessionOf(request);
      await removePasskey(door.ports, session, request.body.id);
      return { passkeys: (await listPasskeys(door.ports, session)).map(passkeyAnswer) };
    },
  );
}

function enrolmentRoutes(app: App, door: Door): void {
  app.post(
    "/v1/passkeys/enrolment",
    {
      config: approving,
      preValidation: noBody,
      schema: {
        querystring: NO_QUERY,
        body: EMPTY_BODY,
        ...described({
          name: "beginPasskey",
          summary: "Begin to enrol a passkey",
          tag: "authority",
          description: "Stores nothing.",
          answers: { 200: json("For navigator.credentials.create().", EnrolmentAnswer) },
          refusals: [...REFUSALS.body, "not_found", "revoked"],
        }),
      },
    },
    async (request) => beginEnrolment(door.ports, sessionOf(request)),
  );
  app.post(
    "/v1/passkeys",
    {
      config: approving,
      schema: {
        querystring: NO_QUERY,
        body: EnrolBody,
        ...described({
          name: "enrolPasskey",
          summary: "Keep what the authenticator answered",
          tag: "authority",
          answers: { 201: json("Enrolled.", PasskeyAnswer) },
          refusals: [...REFUSALS.body, "not_found", "revoked", "invalid"],
        }),
      },
    },
    async (request, reply) =>
      reply.code(201).send(passkeyAnswer(await enrolPasskey(door.ports, sessionOf(request), request.body))),
  );
}
