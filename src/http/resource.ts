import type { Session } from "../core/session.ts";
import { MeAnswer, ResourceAnswer } from "../wire/identity.ts";
import { METADATA_PATH } from "./challenge.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { SCOPES } from "./permission.ts";
import { described, json, NO_QUERY, REFUSALS } from "./route.ts";

/** Where tokens come from, and what one means here. */
export function resourceRoutes(app: App, door: Door): void {
  app.get(
    METADATA_PATH,
    {
      config: { permission: "public" },
      schema: {
        querystring: NO_QUERY,
        ...described({
          name: "getResource",
          summary: "Where to get tokens (RFC 9728)",
          tag: "installation",
          answers: { 200: json("The metadata of this protected resource.", ResourceAnswer) },
          refusals: REFUSALS.public,
        }),
      },
    },
    async (_request, reply) =>
      reply.header("cache-control", "public, max-age=300").send(resourceAnswer(door)),
  );
  app.get(
    "/v1/me",
    {
      config: { permission: "session" },
      schema: {
        querystring: NO_QUERY,
        ...described({
          name: "whoAmI",
          summary: "Who asks",
          tag: "installation",
          answers: { 200: json("The session of this call.", MeAnswer) },
          refusals: REFUSALS.offer,
        }),
      },
    },
    async (request) => meAnswer(sessionOf(request)),
  );
}

function resourceAnswer({ resource }: Door): ResourceAnswer {
  return {
    resource: resource.audience(),
    resource_name: "Writ",
    authorization_servers: [...resource.issuers],
    ...(resource.scoped ? { scopes_supported: Object.values(SCOPES) } : {}),
    bearer_methods_supported: ["header"],
    dpop_signing_alg_values_supported: [...resource.algorithms],
    ...(resource.bound ? { dpop_bound_access_tokens_required: true } : {}),
  };
}

function meAnswer(session: Session): MeAnswer {
  const { authentication, delegationId, itself } = session;
  const { via = "token", at, acr } = authentication ?? {};
  return {
    tenant: session.tenantId,
    principal: session.principalId,
    client: session.clientId,
    roles: [...session.roles],
    via,
    ...(itself === undefined ? {} : { itself }),
    ...(delegationId === undefined ? {} : { delegation: delegationId }),
    ...(at === undefined ? {} : { authenticatedAt: new Date(at).toISOString() }),
    ...(acr === undefined ? {} : { acr }),
  };
}
