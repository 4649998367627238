import { Type } from "typebox";
import { promise } from "../core/contract-promise.ts";
import { brokenLink } from "../core/event.ts";
import { explain } from "../core/explain.ts";
import { dossier, history, receipt } from "../service/inspect.ts";
import { eventAnswer } from "../wire/answers.ts";
import { ExplanationAnswer, HistoryAnswer, ReceiptAnswer } from "../wire/record.ts";
import { OperationAnswer } from "../wire.ts";
import { answerOperation, etagOf, matchesEtag } from "./answer.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { idOf } from "./operation-path.ts";
import { goneSignal, watched } from "./patience.ts";
import { described, json, NO_QUERY, OPERATION_PATH, REFUSALS } from "./route.ts";

const WAIT = Type.Object(
  {
    wait: Type.Optional(
      Type.String({
        pattern: "^(?:[0-9]|[12][0-9]|30)$",
        description: "Seconds to wait for it to settle, 0 to 30.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** What is known of one operation. A GET of an operation is always 200: the state tells what became of it. */
export function recordRoutes(app: App, door: Door): void {
  app.get(
    "/v1/operations/:id",
    {
      config: { permission: "session" },
      schema: {
        params: OPERATION_PATH,
        querystring: WAIT,
        ...described({
          name: "getOperation",
          summary: "One operation",
          tag: "operations",
          answers: {
            200: json("What is known now.", OperationAnswer),
            304: { description: "Still the revision that If-None-Match names." },
          },
          refusals: [...REFUSALS.session, "not_found"],
        }),
      },
    },
    async (request, reply) => {
      const waitS = Number(request.query.wait ?? 0);
      const operation = await watched(
        door,
        sessionOf(request),
        idOf(request.params),
        waitS,
        goneSignal(reply),
      );
      void reply.header("cache-control", "private, no-cache");
      const etag = etagOf(operation);
      if (matchesEtag(request.headers["if-none-match"], etag))
        return reply.code(304).header("etag", etag).send();
      return answerOperation(reply, 200, operation);
    },
  );
  explanationRoute(app, door);
  receiptRoute(app, door);
  historyRoute(app, door);
}

function explanationRoute(app: App, door: Door): void {
  app.get(
    "/v1/operations/:id/explanation",
    {
      config: { permission: "session" },
      schema: {
        params: OPERATION_PATH,
        querystring: NO_QUERY,
        ...described({
          name: "explainOperation",
          summary: "Who authorized what, against which version, how often it was attempted, what confirms it",
          tag: "operations",
          answers: { 200: json("The four answers.", ExplanationAnswer) },
          refusals: [...REFUSALS.session, "not_found"],
        }),
      },
    },
    async (request) => {
      const { operation, offered, events, chainBroken, plan, clock } = await dossier(
        door.ports,
        sessionOf(request),
        idOf(request.params),
      );
      const tool = offered?.tool;
      const promises = tool === undefined ? undefined : promise(tool.contract);
      return explain(operation, {
        tool,
        promise: promises,
        plan,
        chainBroken,
        eventCount: events.length,
        clock,
      });
    },
  );
}

const JOSE = "application/jose";

function receiptRoute(app: App, door: Door): void {
  app.get(
    "/v1/operations/:id/receipt",
    {
      config: { permission: "session" },
      schema: {
        params: OPERATION_PATH,
        querystring: NO_QUERY,
        ...described({
          name: "getReceipt",
          summary: "The signed receipt",
          tag: "operations",
          description:
            "A compact JWS, or with `Accept: application/json` the same with its claims. Its keys are at /.well-known/jwks.json.",
          answers: {
            200: {
              description: "It never changes and never disappears.",
              content: { [JOSE]: { schema: Type.String() }, "application/json": { schema: ReceiptAnswer } },
            },
          },
          refusals: [...REFUSALS.session, "not_found", "not_settled"],
        }),
      },
    },
    async (request, reply) => {
      const jws = await receipt(door.ports, sessionOf(request), idOf(request.params));
      void reply.header("vary", "accept");
      if (!wantsJson(request.headers.accept)) return reply.type(JOSE).send(jws);
      // Our own signature stands over our own JSON.
      return reply.send({
        jws,
        claims: JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString("utf8")),
      });
    },
  );
}

function wantsJson(accept: string | undefined): boolean {
  return (
    accept?.split(",").some((each) => each.split(";")[0]?.trim().toLowerCase() === "application/json") ===
    true
  );
}

function historyRoute(app: App, door: Door): void {
  app.get(
    "/v1/operations/:id/events",
    {
      config: { permission: "session" },
      schema: {
        params: OPERATION_PATH,
        querystring: NO_QUERY,
        ...described({
          name: "listOperationEvents",
          summary: "Its history",
          tag: "operations",
          description: "Each event names the hash of the one before it.",
          answers: { 200: json("Every event, from the first on.", HistoryAnswer) },
          refusals: [...REFUSALS.session, "not_found"],
        }),
      },
    },
    async (request) => {
      const id = idOf(request.params);
      const events = await history(door.ports, sessionOf(request), id);
      const broken = brokenLink(events);
      return {
        operationId: id,
        events: events.map(eventAnswer),
        ...(broken === undefined ? {} : { chainBroken: broken }),
      };
    },
  );
}
