import { Problem } from "../core/problem.ts";
import { HealthAnswer, ReadyAnswer } from "../wire/health.ts";
import type { App, Door } from "./door.ts";
import { described, json, NO_QUERY, REFUSALS } from "./route.ts";

const READY_MAX_MS = 5_000;

/** For load balancers and for whoever checks receipts: nothing here needs a token. */
export function healthRoutes(app: App, door: Door): void {
  const open = { config: { permission: "public" } } as const;
  app.get(
    "/healthz",
    { ...open, schema: health("health", "The process is alive", HealthAnswer, "It answers.") },
    async () => ({ status: "ok" as const }),
  );
  app.get(
    "/readyz",
    {
      ...open,
      schema: {
        ...health(
          "ready",
          "It can serve",
          ReadyAnswer,
          "The database is reachable and its schema is current.",
          ["internal", "not_ready"],
        ),
      },
    },
    async () => {
      const answer = await readyInTime(door);
      if (answer.ready) return answer;
      const lacking = answer.checks
        .filter((check) => !check.ok)
        .map(({ name, says }) => (says === undefined ? name : `${name}: ${says}`));
      throw new Problem("not_ready", `not ready: ${lacking.join("; ")}`, { retryAfterMs: 2_000 });
    },
  );
  app.get("/.well-known/jwks.json", { ...open, schema: JWKS }, async (_request, reply) =>
    reply.header("cache-control", "public, max-age=300").type(JWK_SET).send(JSON.stringify(door.jwks)),
  );
}

const JWK_SET = "application/jwk-set+json";
const JWKS = {
  querystring: NO_QUERY,
  ...described({
    name: "getKeys",
    summary: "The public keys of receipts",
    tag: "installation",
    answers: {
      200: { description: "A JWK Set (RFC 7517).", content: { [JWK_SET]: { schema: { type: "object" } } } },
    },
    refusals: REFUSALS.public,
  }),
};

function health(
  name: string,
  summary: string,
  schema: object,
  what: string,
  refusals: readonly ("internal" | "not_ready")[] = [],
) {
  return {
    querystring: NO_QUERY,
    ...described({
      name,
      summary,
      tag: "installation",
      answers: { 200: json(what, schema) },
      refusals: [...REFUSALS.public, ...refusals],
    }),
  };
}

async function readyInTime(door: Door): Promise<ReadyAnswer> {
  const patience = new AbortController();
  const late = door.ports.clock.sleep(READY_MAX_MS, patience.signal).then(
    (): ReadyAnswer => ({
      ready: false,
      checks: [{ name: "database", ok: false, says: "no answer in time" }],
    }),
  );
  try {
    return await Promise.race([door.ready(), late]);
  } finally {
    patience.abort();
  }
}
