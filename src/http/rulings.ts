import { cancel } from "../service/cancel.ts";
import { reconcile } from "../service/reconcile.ts";
import { resolve } from "../service/resolve.ts";
import { OperationAnswer, RulingBody } from "../wire.ts";
import { answerKnown } from "./answer.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { EMPTY_BODY, idOf, noBody } from "./operation-path.ts";
import { ended, preferredWaitS } from "./patience.ts";
import { described, json, NO_QUERY, OPERATION_PATH, REFUSALS } from "./route.ts";

const SETTLED = json("Settled, one way or the other.", OperationAnswer);
const OPEN = json("As it is now; not settled.", OperationAnswer);

/** Calls that want to know or to stop, not to have the effect: having got that is a success, whatever became of the effect. */
export function rulingRoutes(app: App, door: Door): void {
  cancelRoute(app, door);
  reconcileRoute(app, door);
  findingRoute(app, door);
}

function cancelRoute(app: App, door: Door): void {
  app.post(
    "/v1/operations/:id/cancel",
    {
      config: { permission: "session" },
      preValidation: noBody,
      schema: {
        params: OPERATION_PATH,
        querystring: NO_QUERY,
        body: EMPTY_BODY,
        ...described({
          name: "cancelOperation",
          summary: "Stop an operation before it is claimed",
          tag: "operations",
          description: "Twice is once. Afterwards it is refused with the state.",
          answers: { 200: json("Cancelled: no effect of it exists or will appear.", OperationAnswer) },
          refusals: [...REFUSALS.body, "not_found", "not_cancellable"],
        }),
      },
    },
    async (request, reply) =>
      answerKnown(reply, await cancel(door.ports, sessionOf(request), idOf(request.params))),
  );
}

function reconcileRoute(app: App, door: Door): void {
  app.post(
    "/v1/operations/:id/reconcile",
    {
      config: { permission: "session" },
      preValidation: noBody,
      schema: {
        params: OPERATION_PATH,
        querystring: NO_QUERY,
        body: EMPTY_BODY,
        ...described({
          name: "reconcileOperation",
          summary: "Look now what became of it",
          tag: "operations",
          description:
            "Takes the next step of recovery at once, whatever its due time. Never sends anything that the contract does not call safe, and never begins an execution.",
          answers: { 200: SETTLED, 202: OPEN },
          refusals: [...REFUSALS.body, "not_found"],
        }),
      },
    },
    async (request, reply) => {
      const waitS = preferredWaitS(request, reply);
      const looked = await reconcile(door.ports, sessionOf(request), idOf(request.params));
      return answerKnown(reply, await ended(door, looked, waitS));
    },
  );
}

function findingRoute(app: App, door: Door): void {
  app.post(
    "/v1/operations/:id/findings",
    {
      config: { permission: ["resolver"] },
      schema: {
        params: OPERATION_PATH,
        querystring: NO_QUERY,
        body: RulingBody,
        ...described({
          name: "ruleOnOperation",
          summary: "Rule on an operation in doubt",
          tag: "operations",
          description:
            "By a person with the role `resolver`, outside the chain of its authority, with the evidence that they looked at.",
          answers: { 200: SETTLED, 202: OPEN },
          refusals: [...REFUSALS.body, "not_found", "finding_refused"],
        }),
      },
    },
    async (request, reply) =>
      answerKnown(reply, await resolve(door.ports, sessionOf(request), idOf(request.params), request.body)),
  );
}
