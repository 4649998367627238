import type { FastifyRequest, RouteOptions } from "fastify";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";

type Role = "operator" | "resolver" | "approver" | "auditor";

/**
 * Who may use a route: everybody; whoever has a session (what they may do with it, policy decides); or whoever has one of these roles.
 * The verbs behind the routes ask again: this table only makes sure that nobody forgot to.
 */
export type Permission = "public" | "session" | readonly [Role, ...Role[]];

/** Stops the app from being built when a route does not say who may use it. */
export function requirePermission(route: RouteOptions): void {
  if (route.config?.permission === undefined) {
    throw new Error(
      `${String(route.method)} ${route.url} declares no permission: say "public", "session" or which roles`,
    );
  }
}

/** Turns an Authorization header into a session. Throws `unauthenticated`. */
export type Identify = (authorization: string | undefined) => Promise<Session>;

/** Sets the session of a request, or refuses it. Runs before a body is read. */
export async function admit(identify: Identify, request: FastifyRequest): Promise<void> {
  const { permission } = request.routeOptions.config;
  if (permission === undefined || permission === "public") return;
  const session = await identify(request.headers.authorization);
  if (permission !== "session" && !holdsOne(session, permission)) {
    throw new Problem("forbidden", `this needs the role ${permission.join(" or ")}`);
  }
  request.session = session;
}

function holdsOne(session: Session, roles: readonly Role[]): boolean {
  return roles.some((role) => session.roles.includes(role));
}
