import { join } from "node:path";
import { type DevelopmentIssuer, developmentIssuer } from "../compose.ts";
import type { Configuration } from "../config.ts";
import type { Context } from "./context.ts";
import type { DevIssuerFile, Person } from "./dev-file.ts";
import { EXIT, Stop } from "./exit.ts";
import { freePort } from "./port.ts";
import type { Ends } from "./signals.ts";

const ISSUER_PORT = 7073;
/** As long as a token may live. */
const TOKEN_TTL_S = 24 * 3600;
/** People have a client of their own: whoever rules or approves is never the client that proposed. */
const AGENT = "agent-1";
const PEOPLES_CLIENT = "writ-cli";

/** The issuer of this machine's own, before the Writ that will trust it and nobody else. */
export async function openIssuer(
  { folder, env }: Context,
  { tenants, roles, issuers }: Configuration,
  writUrl: string,
  opened: Ends,
): Promise<DevelopmentIssuer> {
  try {
    const starting = developmentIssuer({
      home: join(folder, ".writ"),
      tenants,
      roles: Object.keys(roles),
      port: await freePort(ISSUER_PORT),
      writUrl,
      others: issuers,
      environment: env,
    });
    return await opened.opened(starting, (issuer) => issuer.close());
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new Stop(EXIT.error, error.message, "Use `writ serve` with the issuers of the configuration.");
  }
}

/** The tokens with which the commands of this folder begin. */
export async function firstTokens(
  issuer: DevelopmentIssuer,
  tenant: Configuration["tenants"][number],
): Promise<Readonly<Record<Person, string>>> {
  const authenticatedAtS = Math.floor(Date.now() / 1000);
  const mint = (principal: string, client: string): Promise<string> =>
    issuer.mint({
      tenant,
      principal,
      client,
      roles: issuer.people.find(({ name }) => name === principal)?.roles ?? [],
      ttlS: TOKEN_TTL_S,
      authenticatedAtS,
    });
  return {
    agent: await mint("ada", AGENT),
    approver: await mint("ben", PEOPLES_CLIENT),
    resolver: await mint("cleo", PEOPLES_CLIENT),
    operator: await mint("cleo", PEOPLES_CLIENT),
  };
}

/** What `writ token` and whoever tries the flows of OAuth by hand has to know. */
export function issuerFile({ url, secrets, people }: DevelopmentIssuer): DevIssuerFile {
  return {
    url,
    secrets,
    people: Object.fromEntries(
      people.map(({ name, roles }) => [name, { roles, client: name === "ada" ? AGENT : PEOPLES_CLIENT }]),
    ),
  };
}
