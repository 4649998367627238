import type { FastifyReply } from "fastify";
import { Problem } from "../core/problem.ts";
import type { ConsoleLogin } from "../service/identity-port.ts";
import { CallbackQuery, LoginQuery } from "../wire/identity.ts";
import type { App, Door } from "./door.ts";
import { pageHeaders } from "./headers.ts";
import { html, page } from "./html.ts";
import { EMPTY_BODY, noBody } from "./operation-path.ts";
import { described, NO_QUERY, REFUSALS, type Success } from "./route.ts";
import { STYLE } from "./style.ts";

/** A person's browser signs in at their issuer and gets a session of its own: no token ever reaches the page. */
export function loginRoutes(app: App, door: Door): void {
  const open = { config: { permission: "public" } } as const;
  const headers = pageHeaders(STYLE);
  app.get(
    "/login",
    { ...open, exposeHeadRoute: false, schema: { querystring: LoginQuery, ...LOGIN } },
    async (request, reply) => {
      const { next, issuer, again, max_age: maxAgeS, acr_values: acrValues } = request.query;
      const { location, cookies } = await loginOf(door).begin({ next, issuer, again, maxAgeS, acrValues });
      return setCookies(reply, cookies).redirect(location, 303);
    },
  );
  app.get(
    "/login/callback",
    { ...open, exposeHeadRoute: false, schema: { querystring: CallbackQuery, ...CALLBACK } },
    async (request, reply) => {
      const target = request.raw.url ?? "";
      const { next, cookies } = await loginOf(door).finish({ target, cookie: request.headers.cookie });
      // A redirect would still be the issuer's navigation, to which a browser adds no SameSite=Strict cookie. A page of ours goes on as ours.
      return setCookies(reply, cookies)
        .headers({ ...headers, "cache-control": "no-store" })
        .send(forwardingPage(next));
    },
  );
  app.post(
    "/logout",
    {
      config: { permission: "session" },
      preValidation: noBody,
      schema: { querystring: NO_QUERY, body: EMPTY_BODY, ...LOGOUT },
    },
    async (request, reply) => {
      const { cookies } = await loginOf(door).end(request.headers.cookie);
      return setCookies(reply, cookies).code(204).send();
    },
  );
}

function forwardingPage(next: string): string {
  const body = html`<main><h1>Signed in</h1><p><a href="${next}">Go on</a></p></main>`;
  return page(
    "Signed in",
    STYLE,
    body,
    html`<meta http-equiv="refresh" content="0;url=${next}">
`,
  );
}

function loginOf({ login }: Door): ConsoleLogin {
  if (login !== undefined) return login;
  throw new Problem("not_found", "no issuer of this installation offers a login", {
    next: "Name a `login` of an issuer in the configuration.",
  });
}

function setCookies(reply: FastifyReply, cookies: readonly string[]): FastifyReply {
  return cookies.length === 0 ? reply : reply.header("set-cookie", [...cookies]);
}

const PAGE: Success = {
  description: "A page that goes on.",
  content: { "text/html": { schema: { type: "string" } } },
};
const REFUSED = [...REFUSALS.public, "internal", "not_found", "issuer_unavailable"] as const;
const LOGIN = described({
  name: "login",
  summary: "Sign in, in a browser",
  tag: "installation",
  description:
    "Sends the browser to the issuer (OpenID Connect, code flow with PKCE), which sends it back to `/login/callback`.",
  answers: { 303: { description: "To the issuer." } },
  refusals: REFUSED,
});
const CALLBACK = described({
  name: "loginCallback",
  summary: "Where the issuer sends the browser back",
  tag: "installation",
  answers: { 200: PAGE },
  refusals: [...REFUSED, "unauthenticated", "ledger_unavailable"],
});
const LOGOUT = described({
  name: "logout",
  summary: "End the browser's session",
  tag: "installation",
  answers: { 204: { description: "It has ended." } },
  refusals: [...REFUSALS.body, "not_found"],
});
