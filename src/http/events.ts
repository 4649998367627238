import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import { bell } from "./bell.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { goneSignal } from "./patience.ts";
import { credentialsOf } from "./permission.ts";
import { positions } from "./position.ts";
import { described, NO_QUERY, REFUSALS } from "./route.ts";
import { stream } from "./stream.ts";

const EVENT_STREAM = "text/event-stream";

/** Who watches now, counted for everybody and for each principal. */
interface Crowd {
  all: number;
  readonly each: Map<string, number>;
}

export function eventRoutes(app: App, door: Door): void {
  const rings = bell(door);
  const crowd: Crowd = { all: 0, each: new Map() };
  app.get(
    "/v1/events",
    {
      config: { permission: "session" },
      exposeHeadRoute: false,
      schema: {
        querystring: NO_QUERY,
        ...described({
          name: "watchChanges",
          summary: "Watch changes",
          tag: "watching",
          description:
            "Server-sent events with ids and versions only. `Last-Event-ID` goes on where an earlier stream ended. It says something every 15 seconds and ends when the token does.",
          answers: {
            200: {
              description: "One event for each change that the caller may see.",
              content: { [EVENT_STREAM]: { schema: Type.String() } },
            },
          },
          refusals: [...REFUSALS.session, "overloaded"],
        }),
      },
    },
    async (request, reply) => {
      const session = sessionOf(request);
      const places = positions(door.ports.catalog.tenantKey(session.tenantId));
      const from = await startOf(door, request, session, places.read);
      const leave = enter(crowd, door, session);
      const signal = AbortSignal.any([goneSignal(reply), door.closing]);
      const watching = {
        door,
        bell: rings,
        session,
        credentials: credentialsOf(request),
        positions: places,
        from,
        signal,
      };
      return answer(reply, Readable.from(stream(watching), { objectMode: false }).once("close", leave));
    },
  );
}

function answer(reply: FastifyReply, body: Readable): FastifyReply {
  return reply
    .headers({ "content-type": EVENT_STREAM, "cache-control": "no-store", "x-accel-buffering": "no" })
    .send(body);
}

async function startOf(
  door: Door,
  request: FastifyRequest,
  session: Session,
  read: (text: string) => number | undefined,
): Promise<number> {
  const last = request.headers["last-event-id"];
  if (last === undefined) return (await door.ports.ledger.changes(session.tenantId, "now", 1)).seq;
  const seq = typeof last === "string" ? read(last) : undefined;
  if (seq === undefined)
    throw new Problem("invalid_request", "this is no id of an event that you were sent", {
      at: "Last-Event-ID",
    });
  return seq;
}

/** Counts the caller in; what it gives back counts them out, once. */
function enter(crowd: Crowd, door: Door, session: Session): () => void {
  const { streamsMax, principalStreamsMax } = door.bounds;
  const key = `${session.tenantId} ${session.principalId}`;
  const mine = crowd.each.get(key) ?? 0;
  if (crowd.all >= streamsMax || mine >= principalStreamsMax) {
    throw new Problem("overloaded", "too many streams are open already", {
      retryAfterMs: 5_000,
      next: "Close one of yours, or ask for single operations.",
    });
  }
  crowd.all++;
  crowd.each.set(key, mine + 1);
  return () => {
    crowd.all--;
    const left = (crowd.each.get(key) ?? 1) - 1;
    if (left === 0) crowd.each.delete(key);
    else crowd.each.set(key, left);
  };
}
