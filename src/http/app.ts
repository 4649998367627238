import Fastify from "fastify";
import { Problem } from "../core/problem.ts";
import { approvalRoutes } from "./approvals.ts";
import { readBodies } from "./body.ts";
import { HTTP_BOUNDS } from "./bounds.ts";
import { delegationRoutes } from "./delegations.ts";
import type { App, Door, DoorParts } from "./door.ts";
import { eventRoutes } from "./events.ts";
import { guard } from "./guard.ts";
import { haltRoutes } from "./halts.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import { healthRoutes } from "./health.ts";
import { listRoute } from "./list.ts";
import { loginRoutes } from "./login.ts";
import { offerRoutes } from "./offer.ts";
import { describeRoutes } from "./openapi.ts";
import { effectRoutes } from "./operations.ts";
import { pageRoutes } from "./pages.ts";
import { passkeyRoutes } from "./passkeys.ts";
import { admit, requirePermission } from "./permission.ts";
import { policyRoutes } from "./policies.ts";
import { answerProblem, answerUnreadable, notFound } from "./problems.ts";
import { recordRoutes } from "./records.ts";
import { resourceRoutes } from "./resource.ts";
import { revocationRoutes } from "./revocations.ts";
import { rulingRoutes } from "./rulings.ts";
import { invalidRequest, validatorCompiler } from "./validate.ts";

// An operation's id has 35 characters; what is longer names nothing.
const PARAM_MAX = 64;
const KEEP_ALIVE_MS = 65_000;
const HEADERS_MAX_BYTES = 16_384;
const HEADERS_MAX_MS = 10_000;
const LATE_LOOK_MS = 2_000;

/**
 * The HTTP door. It is ready when it listens, or when `ready()` resolves; that rejects when a route does not say who may use it.
 * `more` adds routes under the same rules.
 */
export function buildApp(parts: DoorParts, more?: (app: App, door: Door) => void): App {
  const closing = new AbortController();
  const bounds = { ...HTTP_BOUNDS, ...parts.settings?.bounds };
  const door: Door = {
    ...parts,
    bounds,
    running: new Set(),
    waiting: { count: 0 },
    closing: closing.signal,
  };
  const app = server(door);
  app.decorateRequest("session", undefined);
  app.setValidatorCompiler(validatorCompiler());
  // Answers are what the wire shapes say by construction: nothing is left out or changed on the way.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setSchemaErrorFormatter((errors, where) => invalidRequest(errors, where));
  app.setErrorHandler((error, request, reply) => answerProblem(door, error, request, reply));
  app.setNotFoundHandler(() => {
    throw notFound();
  });
  app.addHook("onRoute", requirePermission);
  app.addHook("onRequest", async (request, reply) => {
    void reply.headers(SECURITY_HEADERS).header("cache-control", "no-store");
    if (guard(door.settings ?? {}, request, reply) === "answered") return reply;
    await admit(door.identify, request);
    return undefined;
  });
  readBodies(app, bounds.bodyMax);
  closeGently(app, door, closing);
  describeRoutes(app);
  // Registered after the description, which then sees every route.
  void app.register((inner, _options, done) => {
    try {
      declareRoutes(inner, door, more);
      done();
    } catch (error) {
      // Routes are declared by our own code, which throws Errors.
      done(error as Error);
    }
  });
  return app;
}

const ROUTES = [
  effectRoutes,
  listRoute,
  recordRoutes,
  rulingRoutes,
  approvalRoutes,
  passkeyRoutes,
  offerRoutes,
  haltRoutes,
  policyRoutes,
  delegationRoutes,
  revocationRoutes,
  eventRoutes,
  resourceRoutes,
  loginRoutes,
  healthRoutes,
  pageRoutes,
] as const;

function declareRoutes(app: App, door: Door, more?: (app: App, door: Door) => void): void {
  const known = methodsOf(app);
  for (const routes of ROUTES) routes(app, door);
  more?.(app, door);
  refuseOtherMethods(app, known);
}

function server(door: Door): App {
  const { bounds } = door;
  const app: App = Fastify({
    bodyLimit: bounds.bodyMax,
    connectionTimeout: bounds.silenceMaxMs,
    requestTimeout: bounds.requestMaxMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      maxHeaderSize: HEADERS_MAX_BYTES,
      requestTimeout: bounds.requestMaxMs,
      headersTimeout: Math.min(bounds.requestMaxMs, HEADERS_MAX_MS),
      // Node looks for late requests every 30 seconds unless told otherwise.
      connectionsCheckingInterval: Math.min(bounds.requestMaxMs, LATE_LOOK_MS),
    },
    routerOptions: { maxParamLength: PARAM_MAX },
    // While closing, what arrives is still answered in our own form.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket),
    frameworkErrors: (error, request, reply) => {
      void reply.headers(SECURITY_HEADERS);
      answerProblem(door, error, request, reply);
    },
  });
  app.server.maxConnections = bounds.connectionsMax;
  return app;
}

/** Whoever waits or streams is let go; executions under way get time to end, and their leases stand behind them. */
function closeGently(app: App, door: Door, closing: AbortController): void {
  app.addHook("preClose", async () => closing.abort());
  app.addHook("onClose", async () => {
    const patience = new AbortController();
    await Promise.race([
      Promise.allSettled(door.running),
      door.ports.clock.sleep(door.bounds.drainMs, patience.signal),
    ]);
    patience.abort();
  });
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** Which methods each path takes, as routes are declared. */
function methodsOf(app: App): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ method, url }) => {
    const methods = known.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    known.set(url, methods);
  });
  return known;
}

/** RFC 9110 15.5.6: a known path says which methods it takes. */
function refuseOtherMethods(app: App, known: ReadonlyMap<string, ReadonlySet<string>>): void {
  for (const [url, taken] of [...known]) {
    const allow = [...taken].sort().join(", ");
    app.route({
      method: METHODS.filter((method) => !taken.has(method)),
      url,
      config: { permission: "public" },
      schema: { hide: true },
      // Before a body is looked at: it does not matter what was sent.
      onRequest: async (_request, reply) => {
        void reply.header("allow", allow);
        throw new Problem("method_not_allowed", `this takes ${allow}`);
      },
      handler: () => undefined,
    });
  }
}
