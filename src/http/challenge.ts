import type { FastifyRequest } from "fastify";
import type { Problem } from "../core/problem.ts";
import type { ProtectedResource } from "../service/identity-port.ts";
import { scopesOf } from "./permission.ts";

export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** What WWW-Authenticate says to whoever was refused for who they are (RFC 6750, 9449, 9470, 9728), or undefined. */
export function challengeTo(
  request: FastifyRequest,
  problem: Problem,
  resource: ProtectedResource,
): string | undefined {
  const error = errorOf(problem);
  if (error === undefined) return undefined;
  const { authorization } = request.headers;
  const bound = /^DPoP /i.test(authorization ?? "");
  // RFC 6750 3: a caller who sent no token is only told what is needed.
  const untold = authorization === undefined && error === "invalid_token";
  const told = untold ? [] : [["error", error] as const, ["error_description", problem.message] as const];
  const scopes = problem.details.scopes ?? (resource.scoped ? scopesOf(request) : []);
  const { maxAgeS, acrValues = [] } = problem.details.stepUp ?? {};
  const shared = [
    ...told,
    ...(scopes.length === 0 ? [] : [["scope", scopes.join(" ")] as const]),
    ...(acrValues.length === 0 ? [] : [["acr_values", acrValues.join(" ")] as const]),
    ...(maxAgeS === undefined ? [] : [["max_age", String(maxAgeS)] as const]),
    ["resource_metadata", `${resource.publicUrl()}${METADATA_PATH}`] as const,
  ];
  const algorithms = ["algs", resource.algorithms.join(" ")] as const;
  const realm = ["realm", "writ"] as const;
  return bound
    ? written("DPoP", [realm, algorithms, ...shared])
    : `${written("Bearer", [realm, ...shared])}, ${written("DPoP", [algorithms])}`;
}

function errorOf({ code, details }: Problem): string | undefined {
  switch (code) {
    case "unauthenticated":
      return details.at === "DPoP" ? "invalid_dpop_proof" : "invalid_token";
    case "insufficient_scope":
    case "insufficient_user_authentication":
      return code;
    default:
      return undefined;
  }
}

function written(scheme: string, parameters: readonly (readonly [string, string])[]): string {
  const texts = parameters.map(
    ([name, value]) => `${name}="${value.replaceAll(/[^\x20-\x7e]|["\\]/g, "'")}"`,
  );
  return `${scheme} ${texts.join(", ")}`;
}
