import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TenantId, tenantId } from "../core/ids.ts";
import { parseJson } from "../core/json.ts";
import { DEVELOPMENT_CLIENTS, type DevelopmentPerson, developmentPeople } from "./dev-people.ts";
import { type Answer, developmentProvider, type ProviderParts } from "./dev-provider.ts";
import { type DevelopmentSecrets, developmentSecrets } from "./dev-secrets.ts";
import { type LocalIssuer, localIssuer } from "./local-issuer.ts";
import { CALLBACK_PATH } from "./login.ts";
import type { Grant } from "./mint.ts";
import type { IssuerAt } from "./resource-server.ts";

export interface DevelopmentIssuerOptions {
  /** The folder in whose `keys/` its key and secrets lie. */
  readonly home: string;
  readonly tenants: readonly TenantId[];
  /** Every role that the configuration knows. */
  readonly roles: readonly string[];
  readonly port: number;
  /** Where the Writ that trusts it is reached. */
  readonly writUrl: string;
  /** The issuers of the configuration: beside another one it does not stand. */
  readonly others: readonly unknown[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** An issuer for one person's machine: people without passwords, keys in the folder. */
export interface DevelopmentIssuer {
  readonly url: string;
  readonly issuer: IssuerAt;
  readonly people: readonly DevelopmentPerson[];
  readonly secrets: DevelopmentSecrets;
  mint(grant: Omit<Grant, "issuer" | "audience">): Promise<string>;
  close(): Promise<void>;
}

/** What its principals are called by: its address changes with its port, and what it says is worth nothing elsewhere. */
const ALIAS = "development";
const LOOPBACK = /^http:\/\/(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])(?::\d+)?$/;
const HOST = "127.0.0.1";
/** Where `writ token` asks, with the folder's own secret. */
const MINT_PATH = "/writ/token";
const BODY_MAX = 16_384;
const TTL_MAX_S = 86_400;

/** Throws an Error that says why there is none: outside of one person's machine it would be a door without a lock. */
export async function developmentIssuer(options: DevelopmentIssuerOptions): Promise<DevelopmentIssuer> {
  refuseElsewhere(options);
  const { home, tenants, port, writUrl } = options;
  const server = createServer();
  await listening(server, port);
  const address = server.address() as AddressInfo; // It listens on TCP.
  const url = `http://${HOST}:${address.port}`;
  const own = localIssuer({ home, tenants, issuer: url, audience: writUrl, alias: ALIAS });
  const people = developmentPeople(options.roles);
  const named = ["issuer", ...DEVELOPMENT_CLIENTS.map(({ name }) => name)];
  const secrets = developmentSecrets(home, named);
  const [tenant = ""] = tenants;
  const consoleRedirect = `${writUrl}${CALLBACK_PATH}`;
  answering(server, { own, tenant, people, secrets, consoleRedirect });
  return {
    url,
    issuer: {
      ...own.issuer,
      allowPrivate: [HOST],
      login: { clientId: "writ-console" },
    },
    people,
    secrets,
    mint: own.mint,
    close: () => closed(server),
  };
}

function refuseElsewhere({ environment, others, writUrl }: DevelopmentIssuerOptions): void {
  if (environment.NODE_ENV === "production")
    throw new Error("there is no development issuer where NODE_ENV is production");
  if (others.length > 0)
    throw new Error("the configuration names issuers: beside them there is no development issuer");
  if (!LOOPBACK.test(writUrl))
    throw new Error(`there is no development issuer for ${writUrl}: it is for this machine's loopback only`);
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, () => resolve());
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function answering(server: Server, parts: ProviderParts): void {
  let provider: Promise<Answer> | undefined;
  const { issuer } = parts.own.issuer;
  server.on("request", (request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
      response.end(
        `the development issuer cannot answer this: ${error instanceof Error ? error.message : ""}\n`,
      );
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A page whose own name was made to point here (DNS rebinding) still tells its name; and no page of another origin posts a choice.
    const { host, origin } = request.headers;
    if (host !== new URL(issuer).host || (origin !== undefined && origin !== issuer && isForm(request))) {
      response
        .writeHead(421, { "content-type": "text/plain" })
        .end("this is not the host that was asked for\n");
      return;
    }
    if (request.url === MINT_PATH) return minted(request, response, parts);
    provider ??= developmentProvider(parts);
    await (await provider)(request, response);
  }
}

function isForm({ url }: IncomingMessage): boolean {
  return url?.startsWith("/login/") === true;
}

/** For whoever can read the folder: they could read the key as well. */
async function minted(
  request: IncomingMessage,
  response: ServerResponse,
  { own, secrets }: ProviderParts,
): Promise<void> {
  const answer = (status: number, body: object): void => {
    response
      .writeHead(status, { "content-type": "application/json", "cache-control": "no-store" })
      .end(JSON.stringify(body));
  };
  if (!same(request.headers.authorization ?? "", `Bearer ${secrets.issuer ?? ""}`))
    return answer(401, { error: "invalid_client" });
  let text = "";
  for await (const part of request.setEncoding("utf8")) {
    text += part;
    if (text.length > BODY_MAX) return answer(413, { error: "invalid_request" });
  }
  const grant = grantIn(text, own);
  if (grant === undefined) return answer(400, { error: "invalid_request" });
  return answer(200, { access_token: await own.mint(grant), token_type: "Bearer", expires_in: grant.ttlS });
}

function grantIn(text: string, { issuer }: LocalIssuer): Omit<Grant, "issuer" | "audience"> | undefined {
  try {
    // Asked member by member below.
    const { tenant, principal, client, roles, ttlS, delegation } = parseJson(
      text,
    ) as unknown as Partial<Grant>;
    const known = typeof issuer.tenant === "object" ? issuer.tenant.among : [];
    const texts = [tenant, principal, client].every((each) => typeof each === "string" && each !== "");
    if (!texts || !Array.isArray(roles) || typeof ttlS !== "number" || !(ttlS > 0 && ttlS <= TTL_MAX_S))
      return undefined;
    if (!known.some((each) => each === tenant)) return undefined;
    return {
      tenant: tenantId(String(tenant)),
      principal: String(principal),
      client: String(client),
      roles: roles.map(String),
      ttlS,
      ...(typeof delegation === "string" ? { delegation } : {}),
      authenticatedAtS: Math.floor(Date.now() / 1000),
    };
  } catch {
    return undefined;
  }
}

function same(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
