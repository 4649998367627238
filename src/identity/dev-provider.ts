import type { IncomingMessage, ServerResponse } from "node:http";
import type { Configuration, errors as Errors, KoaContextWithOIDC } from "oidc-provider";
import { EXCHANGE, EXCHANGE_PARAMETERS, exchanged } from "./dev-exchange.ts";
import { LOGIN_PAGE_HEADERS, loginPage } from "./dev-page.ts";
import { DEVELOPMENT_CLIENTS, type DevelopmentClient, type DevelopmentPerson } from "./dev-people.ts";
import type { DevelopmentSecrets } from "./dev-secrets.ts";
import { shelf } from "./dev-shelf.ts";
import type { LocalIssuer } from "./local-issuer.ts";
import { TENANT_CLAIM } from "./mint.ts";

export interface ProviderParts {
  readonly own: LocalIssuer;
  readonly tenant: string;
  readonly people: readonly DevelopmentPerson[];
  readonly secrets: DevelopmentSecrets;
  /** Where browsers are sent back to after a login of the console. */
  readonly consoleRedirect: string;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const TOKEN_TTL_S = 3600;
const SCOPES = "writ:read writ:propose writ:approve writ:administer";
const INTERACTION = "/login/";
const BODY_MAX = 1_000;

/** A whole OAuth and OpenID Connect provider. The library is large, and loaded only here: whoever needs no login never waits for it. */
export async function developmentProvider(parts: ProviderParts): Promise<Answer> {
  const { Provider, errors, interactionPolicy } = await import("oidc-provider");
  const policy = interactionPolicy.base();
  // Nobody is asked for consent: every client is this machine's own.
  policy.remove("consent");
  const settings = settingsOf(parts, errors.InvalidTarget);
  const provider = new Provider(parts.own.issuer.issuer, {
    ...settings,
    interactions: { url: (_ctx, { uid }) => `${INTERACTION}${uid}`, policy },
  });
  provider.registerGrantType(
    EXCHANGE,
    async (ctx: KoaContextWithOIDC) => {
      ctx.body = await exchanged(parts.own, errors, ctx);
    },
    [...EXCHANGE_PARAMETERS],
  );
  const callback = provider.callback();
  return async (request, response) => {
    if (request.url?.startsWith(INTERACTION) !== true) return callback(request, response);
    // Only the browser that began it has the cookie that finds the interaction.
    const { prompt } = await provider.interactionDetails(request, response);
    if (prompt.name !== "login") throw new Error(`nobody can answer the prompt ${prompt.name}`);
    if (request.method !== "POST") {
      response.writeHead(200, LOGIN_PAGE_HEADERS).end(loginPage(parts.people));
      return;
    }
    const chosen = await chosenIn(request);
    const person = parts.people.find(({ name }) => name === chosen);
    if (person === undefined) {
      response.writeHead(400, { "content-type": "text/plain" }).end("nobody of that name\n");
      return;
    }
    await provider.interactionFinished(request, response, { login: { accountId: person.name } });
  };
}

async function chosenIn(request: IncomingMessage): Promise<string | null> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) {
    text += part;
    if (text.length > BODY_MAX) return null;
  }
  return new URLSearchParams(text).get("person");
}

type InvalidTarget = typeof Errors.InvalidTarget;

function settingsOf(parts: ProviderParts, InvalidTarget: InvalidTarget): Configuration {
  const { own, people, tenant } = parts;
  const { audience } = own.issuer;
  const key = {
    ...own.key.privateKey.export({ format: "jwk" }),
    kid: own.key.keyId,
    alg: "Ed25519",
    use: "sig",
  };
  const claimsOf = (name: string): Record<string, unknown> => ({
    roles: [...(people.find((person) => person.name === name)?.roles ?? [])],
    [TENANT_CLAIM]: tenant,
  });
  return {
    adapter: shelf(),
    clients: DEVELOPMENT_CLIENTS.map((client) => registered(client, parts)),
    // The library's type wants every member of every kind of key.
    jwks: { keys: [key] } as NonNullable<Configuration["jwks"]>,
    cookies: {
      keys: [parts.secrets.issuer ?? own.key.keyId],
      // A browser sends cookies to every port of this machine alike.
      names: { session: "writ_dev_issuer", interaction: "writ_dev_login", resume: "writ_dev_resume" },
      short: { path: "/", sameSite: "lax" },
      long: { sameSite: "lax" },
    },
    scopes: ["openid"],
    claims: { openid: ["sub", "roles", TENANT_CLAIM] },
    // Our login reads the ID token and nothing else.
    conformIdTokenClaims: false,
    clientDefaults: { id_token_signed_response_alg: "Ed25519", require_auth_time: true },
    enabledJWA: {
      idTokenSigningAlgValues: ["Ed25519"],
      dPoPSigningAlgValues: ["ES256", "Ed25519", "EdDSA"],
    } as NonNullable<Configuration["enabledJWA"]>,
    features: featuresOf(audience, InvalidTarget),
    extraTokenClaims: (ctx, token) => {
      const authTime = ctx.oidc.entities.AuthorizationCode?.authTime;
      if ("accountId" in token && typeof token.accountId === "string")
        return { ...claimsOf(token.accountId), ...(authTime === undefined ? {} : { auth_time: authTime }) };
      const client = DEVELOPMENT_CLIENTS.find(({ name }) => name === token.clientId);
      return { roles: [...(client?.roles ?? [])], [TENANT_CLAIM]: tenant };
    },
    findAccount: (_ctx, name) =>
      people.some((person) => person.name === name)
        ? { accountId: name, claims: async () => ({ sub: name, ...claimsOf(name) }) }
        : undefined,
    loadExistingGrant: async (ctx) => {
      const { client, session, provider } = ctx.oidc;
      if (client === undefined || session?.accountId === undefined) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid");
      grant.addResourceScope(audience, SCOPES);
      await grant.save();
      return grant;
    },
    pkce: { required: () => true },
    ttl: {
      AccessToken: TOKEN_TTL_S,
      ClientCredentials: TOKEN_TTL_S,
      IdToken: TOKEN_TTL_S,
      Interaction: 600,
      Grant: 86_400,
      Session: 86_400,
    },
  };
}

function featuresOf(audience: string, InvalidTarget: InvalidTarget): NonNullable<Configuration["features"]> {
  return {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    dPoP: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => audience,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, resource) => {
        if (resource !== audience) throw new InvalidTarget();
        return {
          scope: SCOPES,
          audience,
          accessTokenTTL: TOKEN_TTL_S,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "Ed25519" } },
        };
      },
    },
  };
}

function registered({ name, may }: DevelopmentClient, { secrets, consoleRedirect }: ProviderParts) {
  const code = may.includes("code");
  const redirects = name === "writ-console" ? [consoleRedirect] : code ? ["http://127.0.0.1/callback"] : [];
  const secret = secrets[name];
  return {
    client_id: name,
    ...(code || secret === undefined
      ? { token_endpoint_auth_method: "none" as const }
      : { client_secret: secret }),
    grant_types: [
      ...(code ? ["authorization_code"] : []),
      ...(may.includes("itself") ? ["client_credentials"] : []),
      ...(may.includes("exchange") ? [EXCHANGE] : []),
    ],
    response_types: code ? ["code" as const] : [],
    redirect_uris: redirects,
    // A native application's redirect over loopback may have any port (RFC 8252 7.3).
    application_type: "native" as const,
  };
}
