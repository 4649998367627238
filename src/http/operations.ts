import type { FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "../core/operation.ts";
import { proposal } from "../core/proposal.ts";
import { executeLater } from "../service/cancel.ts";
import { propose } from "../service/propose.ts";
import { type OperationAnswer, ProposeBody } from "../wire.ts";
import { answerEffect } from "./answer.ts";
import { WAIT_MAX_S } from "./bounds.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { EMPTY_BODY, idOf, noBody } from "./operation-path.ts";
import { ended, goneSignal, preferredWaitS, watched } from "./patience.ts";
import { described, EFFECT_ANSWERS, NO_QUERY, OPERATION_PATH, REFUSALS, REJECTIONS } from "./route.ts";

const WAITING = `\`Prefer: wait=N\` waits up to N seconds (at most ${WAIT_MAX_S}; 2 without it) before it answers 202. Hanging up changes nothing.`;

/** The two calls that want an effect: their status tells what became of it. */
export function effectRoutes(app: App, door: Door): void {
  app.post(
    "/v1/operations",
    {
      config: { permission: "session" },
      schema: {
        body: ProposeBody,
        querystring: NO_QUERY,
        ...described({
          name: "propose",
          summary: "Propose a change",
          tag: "operations",
          description: `The only way in. \`Idempotency-Key\` names the intent: the same key and content is the same operation, for ever. ${WAITING}`,
          answers: EFFECT_ANSWERS,
          refusals: [...REFUSALS.body, ...REJECTIONS, ...REFUSED_PROPOSALS],
        }),
      },
    },
    async (request, reply) => {
      const waitS = preferredWaitS(request, reply);
      const session = sessionOf(request);
      const proposed = await propose(door.ports, session, proposal(request.body, intentKey(request)));
      return answer(door, request, reply, proposed, waitS);
    },
  );
  app.post(
    "/v1/operations/:id/execute",
    {
      config: { permission: "session" },
      preValidation: noBody,
      schema: {
        params: OPERATION_PATH,
        querystring: NO_QUERY,
        body: EMPTY_BODY,
        ...described({
          name: "executeOperation",
          summary: "Execute an operation that was proposed for later",
          tag: "operations",
          description: `Twice is once. ${WAITING}`,
          answers: EFFECT_ANSWERS,
          refusals: [...REFUSALS.body, ...REJECTIONS, "not_executable", "halted", "tool_closed"],
        }),
      },
    },
    async (request, reply) => {
      const waitS = preferredWaitS(request, reply);
      const executed = await executeLater(door.ports, sessionOf(request), idOf(request.params));
      return answer(door, request, reply, executed, waitS);
    },
  );
}

const REFUSED_PROPOSALS = [
  "idempotency-key-missing",
  "unknown_tool",
  "version_required",
  "key_reused",
  "key_spent",
  "looks_the_same",
  "equal_effect_in_doubt",
  "not_cancellable",
  "not_settled",
  "halted",
  "limit_exceeded",
  "tool_closed",
  "overloaded",
] as const;

/** What came of a call that wants an effect, within the caller's patience. */
interface Begun {
  readonly operation: Operation;
  readonly how?: OperationAnswer["how"];
  readonly done?: Promise<Operation>;
}

async function answer(
  door: Door,
  request: FastifyRequest,
  reply: FastifyReply,
  begun: Begun,
  waitS: number,
): Promise<FastifyReply> {
  const { operation, done } = begun;
  // Somebody else's attempt is under way: whoever sends the same intent again wants to hear how it ends.
  const theirs = done === undefined && operation.state === "executing";
  const now = theirs
    ? await watched(door, sessionOf(request), operation.id, waitS, goneSignal(reply))
    : await ended(door, begun, waitS);
  return answerEffect(reply, now, begun.how);
}

function intentKey(request: FastifyRequest): string | undefined {
  const key = request.headers["idempotency-key"];
  // The guard has refused a second one.
  return typeof key === "string" ? key : undefined;
}
