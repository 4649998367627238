import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from "fastify";
import type { Session } from "../core/session.ts";
import type { ConsoleLogin, Identify, ProtectedResource } from "../service/identity-port.ts";
import type { Ports } from "../service/ports.ts";
import type { ReadyAnswer } from "../wire/health.ts";
import type { HttpBounds } from "./bounds.ts";
import type { Permission } from "./permission.ts";

/** What the HTTP door is made of: everything that it asks of the rest of Writ. */
export interface DoorParts {
  readonly ports: Ports;
  readonly identify: Identify;
  readonly resource: ProtectedResource;
  /** Where no issuer offers a login there is none. */
  readonly login?: ConsoleLogin;
  /** The public keys that receipts are signed with, past ones too. */
  readonly jwks: { readonly keys: readonly object[] };
  /** Can this process serve now? Never throws. */
  readonly ready: () => Promise<ReadyAnswer>;
  readonly settings?: DoorSettings;
}

export interface DoorSettings {
  /** Other names under which this installation is reached, with their port: `writ.acme.example`, `localhost:8080`. */
  readonly hosts?: readonly string[];
  /** Web origins other than our own whose pages may call: `https://console.acme.example`. */
  readonly origins?: readonly string[];
  readonly bounds?: Partial<HttpBounds>;
}

/** The parts with every bound filled in, and what this process has under way. */
export interface Door extends DoorParts {
  readonly bounds: HttpBounds;
  /** Executions that a call began and that go on whether or not somebody waits for them. */
  readonly running: Set<Promise<unknown>>;
  /** Calls that wait for an operation to settle. */
  readonly waiting: { count: number };
  /** Aborted when the server closes: whoever waits or streams ends then. */
  readonly closing: AbortSignal;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module "fastify" {
  interface FastifyContextConfig {
    /** Who may use the route. A route without one stops the app from being built. */
    permission?: Permission;
  }
  interface FastifyRequest {
    session: Session | undefined;
  }
}

/** Who asks. Only for routes whose permission asks for a session. */
export function sessionOf(request: Pick<FastifyRequest, "session">): Session {
  assert(request.session !== undefined, "a route with a permission has a session");
  return request.session;
}
