import { Type } from "typebox";
import { operationId } from "../core/ids.ts";
import { answer } from "../service/approve.ts";
import { look, waiting } from "../service/waiting.ts";
import { withdraw } from "../service/withdraw.ts";
import { ApprovalAnswer, ApprovalPage, DecisionBody } from "../wire/approval.ts";
import { words } from "../wire/member.ts";
import { OperationAnswer } from "../wire.ts";
import { answerKnown } from "./answer.ts";
import { approvalAnswer } from "./approval-answer.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { EMPTY_BODY, idOf, noBody } from "./operation-path.ts";
import { ended, preferredWaitS } from "./patience.ts";
import { SCOPES } from "./permission.ts";
import { described, json, NO_QUERY, OPERATION_PATH, REFUSALS } from "./route.ts";

const PAGE_DEFAULT = 20;
/** Whoever approves has done their part: the execution that follows does not keep them. */
const PATIENCE_S = 2;
const approving = { permission: "session", scopes: [SCOPES.approve] } as const;

const WAITING_QUERY = Type.Object(
  {
    of: Type.Optional(
      words(["me", "all"], "`all`: also what waits for others, and why it does not wait for you."),
    ),
    limit: Type.Optional(
      Type.String({ pattern: "^(?:[1-9]|[1-4][0-9]|50)$", description: "How many, 1 to 50; 20 without it." }),
    ),
    cursor: Type.Optional(
      Type.String({ pattern: "^op_[0-9a-f]{32}$", description: "From the page before." }),
    ),
  },
  { additionalProperties: false },
);

/** What people are asked, and their answers. A GET shows and never acts. */
export function approvalRoutes(app: App, door: Door): void {
  viewRoutes(app, door);
  decisionRoutes(app, door);
}

function viewRoutes(app: App, door: Door): void {
  app.get(
    "/v1/approvals",
    {
      config: approving,
      schema: {
        querystring: WAITING_QUERY,
        ...described({
          name: "listApprovals",
          summary: "What waits for your decision",
          tag: "authority",
          description:
            "Newest first, each with everything that a person needs to see, and with the nonce of this very view. A page may be short of the limit and still have a next one.",
          answers: { 200: json("One page.", ApprovalPage) },
          refusals: REFUSALS.session,
        }),
      },
    },
    async (request) => {
      const { of = "me", limit, cursor } = request.query;
      const page = await waiting(door.ports, sessionOf(request), {
        of,
        before: cursor === undefined ? undefined : operationId(cursor),
        max: limit === undefined ? PAGE_DEFAULT : Number(limit),
      });
      return {
        approvals: page.items.map(approvalAnswer),
        ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
      };
    },
  );
  app.get(
    "/v1/approvals/:id",
    {
      config: approving,
      schema: {
        params: OPERATION_PATH,
        querystring: NO_QUERY,
        ...described({
          name: "getApproval",
          summary: "One operation as you would decide on it",
          tag: "authority",
          description: "Also when enough people have said yes: until it is claimed, a no ends it.",
          answers: { 200: json("As it is now.", ApprovalAnswer) },
          refusals: [...REFUSALS.session, "not_found", "revoked", "decision_refused"],
        }),
      },
    },
    async (request) => approvalAnswer(await look(door.ports, sessionOf(request), idOf(request.params))),
  );
}

function decisionRoutes(app: App, door: Door): void {
  app.post(
    "/v1/operations/:id/decisions",
    {
      config: approving,
      schema: {
        params: OPERATION_PATH,
        querystring: NO_QUERY,
        body: DecisionBody,
        ...described({
          name: "decideOnOperation",
          summary: "Say yes or no to exactly this change",
          tag: "operations",
          description:
            "By a person in a session of their own, never through a client of the chain. The last yes that is needed authorizes, and what runs now is executed at once. A no ends it, until it is claimed. Said twice to one view, it is said once.",
          answers: {
            200: json("Settled, one way or the other.", OperationAnswer),
            202: json("As it is now; not settled.", OperationAnswer),
          },
          refusals: [
            ...REFUSALS.body,
            "not_found",
            "revoked",
            "expired",
            "decision_refused",
            "insufficient_user_authentication",
          ],
        }),
      },
    },
    async (request, reply) => {
      const waitS = Math.min(PATIENCE_S, preferredWaitS(request, reply));
      const decided = await answer(door.ports, sessionOf(request), idOf(request.params), request.body);
      return answerKnown(reply, await ended(door, decided, waitS));
    },
  );
  app.post(
    "/v1/operations/:id/decisions/withdraw",
    {
      config: approving,
      preValidation: noBody,
      schema: {
        params: OPERATION_PATH,
        querystring: NO_QUERY,
        body: EMPTY_BODY,
        ...described({
          name: "withdrawDecision",
          summary: "Take back your own yes",
          tag: "operations",
          description:
            "Until it is claimed. Where too few people are left it waits for them again. Twice is once.",
          answers: {
            200: json("Settled meanwhile.", OperationAnswer),
            202: json("As it is now.", OperationAnswer),
          },
          refusals: [...REFUSALS.body, "not_found", "revoked", "decision_refused"],
        }),
      },
    },
    async (request, reply) =>
      answerKnown(reply, await withdraw(door.ports, sessionOf(request), idOf(request.params))),
  );
}
