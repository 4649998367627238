import type { FastifyRequest, RouteOptions } from "fastify";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import type { Credentials, Identify } from "../service/identity-port.ts";

type Role = "operator" | "resolver" | "approver" | "auditor" | "policy-admin";

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

/** The scopes of access tokens, where an issuer limits its tokens by scopes. */
export const SCOPES = {
  read: "writ:read",
  propose: "writ:propose",
  approve: "writ:approve",
  administer: "writ:administer",
} as const;
type Scope = (typeof SCOPES)[keyof typeof SCOPES];

declare module "fastify" {
  interface FastifyContextConfig {
    /** All scopes that the route needs; without it, what follows from its method and permission. */
    scopes?: readonly Scope[];
  }
}

/** The header that only our own pages send: a page of another origin cannot without being asked about first. */
const OWN_PAGE_HEADER = "writ-console";

/** Sets the session of a request, or refuses it. Runs before a body is read. */
export async function admit(identify: Identify, request: FastifyRequest): Promise<void> {
  const { permission } = request.routeOptions.config;
  if (permission === undefined || permission === "public") return;
  const session = await identify(credentialsOf(request));
  if (permission !== "session" && !holdsOne(session, permission)) {
    throw new Problem("forbidden", `this needs the role ${permission.join(" or ")}`);
  }
  request.session = session;
}

/** What a request says about who makes it. */
export function credentialsOf(request: FastifyRequest): Credentials {
  const { authorization, cookie, dpop, origin } = request.headers;
  return {
    method: request.method,
    target: request.raw.url ?? "",
    authorization,
    proof: typeof dpop === "string" ? dpop : undefined,
    cookie,
    origin,
    marked: request.headers[OWN_PAGE_HEADER] !== undefined,
    scopes: scopesOf(request),
  };
}

/** All scopes that a route needs. */
export function scopesOf({ method, routeOptions }: FastifyRequest): readonly Scope[] {
  const { permission, scopes } = routeOptions.config;
  if (scopes !== undefined) return scopes;
  if (method === "GET" || method === "HEAD") return [SCOPES.read];
  return [permission === "session" ? SCOPES.propose : SCOPES.administer];
}

function holdsOne(session: Session, roles: readonly Role[]): boolean {
  return roles.some((role) => session.roles.includes(role));
}
