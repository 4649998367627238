import type { FastifyReply } from "fastify";
import type { Operation } from "../core/operation.ts";
import { PROBLEMS } from "../core/problem.ts";
import { operationAnswer, rejectionAnswer } from "../wire/answers.ts";
import type { OperationAnswer } from "../wire.ts";
import { PROBLEM_JSON } from "./problems.ts";

/** The answer to whoever asked for the effect: its status tells what became of it. */
export function answerEffect(
  reply: FastifyReply,
  operation: Operation,
  how?: OperationAnswer["how"],
): FastifyReply {
  void reply.header("location", `/v1/operations/${operation.id}`);
  if (how === "replayed") void reply.header("idempotency-replayed", "true");
  switch (operation.state) {
    case "succeeded":
      return answerOperation(reply, 200, operation, how);
    case "proposed":
    case "authorized":
    case "executing":
    case "unknown":
      return answerOperation(reply, 202, operation, how);
    case "rejected":
      return reply
        .code(PROBLEMS[operation.reason ?? "denied"])
        .type(PROBLEM_JSON)
        .send(rejectionAnswer(operation));
  }
}

/** The answer to whoever asked for something else than the effect, and got it: the operation as it is now. */
export function answerKnown(reply: FastifyReply, operation: Operation): FastifyReply {
  return answerOperation(reply, operation.settledAt === undefined ? 202 : 200, operation);
}

export function answerOperation(
  reply: FastifyReply,
  status: 200 | 202,
  operation: Operation,
  how?: OperationAnswer["how"],
): FastifyReply {
  return reply.code(status).header("etag", etagOf(operation)).send(operationAnswer(operation, how));
}

/** Strong: every change of an operation is a new revision, but for its due time, which moves without one. */
export function etagOf({ revision, dueAt }: Operation): string {
  return dueAt === undefined ? `"${revision}"` : `"${revision}.${dueAt}"`;
}

/** RFC 9110 13.1.2: If-None-Match compares weakly, and `*` matches whatever exists. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((each) => each.trim() === "*" || each.trim().replace(/^W\//, "") === etag);
}
