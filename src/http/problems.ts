import type { Socket } from "node:net";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { PROBLEMS, Problem, type ProblemCode } from "../core/problem.ts";
import { problemAnswer } from "../wire/answers.ts";
import { wrongType } from "./body.ts";
import { challengeTo } from "./challenge.ts";
import type { Door } from "./door.ts";
import { SECURITY_HEADERS } from "./headers.ts";

export const PROBLEM_JSON = "application/problem+json";

/** Every refusal in one form (RFC 9457). What nobody expected is logged under a name, and the caller hears only that name. */
export function answerProblem(
  { ports, resource }: Pick<Door, "ports" | "resource">,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const known = problemOf(error);
  if (known === undefined) {
    const instance = `urn:uuid:${ports.entropy.uuid4()}`;
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    ports.log.error("request", {
      instance,
      method: request.method,
      route: request.routeOptions.url ?? "",
      what,
    });
    send(reply, internal(instance), instance);
  } else {
    const challenge = challengeTo(request, known, resource);
    if (challenge !== undefined) void reply.header("www-authenticate", challenge);
    send(reply, known);
  }
}

function send(reply: FastifyReply, problem: Problem, instance?: string): void {
  const { retryAfterMs } = problem.details;
  if (retryAfterMs !== undefined)
    void reply.header("retry-after", String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  void reply
    .code(problem.status)
    .type(PROBLEM_JSON)
    .header("cache-control", "no-store")
    .send(problemAnswer(problem, instance));
}

function internal(instance: string): Problem {
  return new Problem("internal", `something went wrong here; the log says what, under ${instance}`, {
    next: "If you proposed something, send the same request again with the same Idempotency-Key: it is executed once.",
  });
}

/** The Problem that an error is, or undefined for what must not happen. */
function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  switch ((error as Partial<FastifyError> | undefined)?.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new Problem("too_large", "the body is larger than this installation takes");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return wrongType();
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new Problem("malformed", "the body is not as long as it was said to be", {
        at: "Content-Length",
      });
    case "FST_ERR_BAD_URL":
      return new Problem("malformed", "the path is not a valid address");
    case "FST_ERR_MAX_PARAM_LENGTH":
      return notFound();
    default:
      return undefined;
  }
}

export function notFound(): Problem {
  return new Problem("not_found", "there is nothing here", { next: "GET /openapi.json says what there is." });
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  HPE_HEADER_OVERFLOW: ["headers_too_large", "the headers are larger than 16 KiB"],
  ERR_HTTP_REQUEST_TIMEOUT: ["request_timeout", "the request did not arrive whole in time"],
};

/** For what the HTTP parser refuses before there is a request to answer. */
export function answerUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [code, says] = CLIENT_ERRORS[error.code ?? ""] ?? [
    "malformed",
    "this is not a valid HTTP/1.1 request",
  ];
  const body = JSON.stringify(problemAnswer(new Problem(code, says)));
  const headers = {
    ...SECURITY_HEADERS,
    "content-type": PROBLEM_JSON,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${PROBLEMS[code]} ${STATUS_TEXT[PROBLEMS[code]] ?? "Error"}\r\n${lines.join("")}\r\n${body}`,
  );
}

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
};
