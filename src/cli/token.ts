import type { Context } from "./context.ts";
import { type DevIssuerFile, readDevFile } from "./dev-file.ts";
import { devConfiguration } from "./example.ts";
import { EXIT, type ExitCode, Stop } from "./exit.ts";

export interface TokenFlags {
  readonly client?: string;
  readonly role?: readonly string[];
  readonly tenant?: string;
  readonly delegation?: string;
  readonly ttl: number;
}

const ANSWER_WITHIN_MS = 5_000;

/** `writ token`: a token of the development issuer that runs in this folder, on standard output and nowhere else. */
export async function token(context: Context, who: string, flags: TokenFlags): Promise<ExitCode> {
  const issuer = readDevFile(context.folder)?.issuer;
  if (issuer === undefined)
    throw new Stop(
      EXIT.usage,
      "no `writ dev` runs in this folder, and only its issuer gives out tokens here",
      "Start `writ dev`, or get a token from an issuer of the installation.",
    );
  const [first] = devConfiguration(context).tenants;
  const grant = {
    tenant: flags.tenant ?? first,
    ...knownBy(issuer, who, flags),
    ttlS: flags.ttl,
    ...(flags.delegation === undefined ? {} : { delegation: flags.delegation }),
  };
  const text = await asked(issuer, grant);
  const { screen } = context;
  const told = { token: text, tenant: grant.tenant, principal: grant.principal, client: grant.client };
  if (!screen.machine({ ...told, roles: grant.roles, expiresInSeconds: flags.ttl })) screen.data(text);
  return EXIT.ok;
}

/** A person by their client, or a service that acts for itself; anybody else needs to be told who they are. */
function knownBy(
  { people, secrets }: DevIssuerFile,
  who: string,
  { client, role }: TokenFlags,
): { readonly principal: string; readonly client: string; readonly roles: readonly string[] } {
  const person = people[who];
  if (person !== undefined)
    return { principal: who, client: client ?? person.client, roles: role ?? person.roles };
  if (Object.hasOwn(secrets, who) && client === undefined)
    return { principal: who, client: who, roles: role ?? [who] };
  if (client !== undefined && role !== undefined) return { principal: who, client, roles: role };
  throw new Stop(
    EXIT.usage,
    `nobody is called ${who}: ${Object.keys(people).join(", ")} are people here`,
    "For somebody else, say --client and --role.",
  );
}

async function asked({ url, secrets }: DevIssuerFile, grant: object): Promise<string> {
  const reply = await fetch(`${url}/writ/token`, {
    method: "POST",
    redirect: "error",
    headers: { authorization: `Bearer ${secrets.issuer ?? ""}`, "content-type": "application/json" },
    body: JSON.stringify(grant),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  }).catch(() => undefined);
  if (reply === undefined)
    throw new Stop(EXIT.error, `the development issuer does not answer at ${url}`, "Start `writ dev` again.");
  const { access_token: text } = (await reply.json()) as { readonly access_token?: string }; // Its own form, of this program.
  if (text !== undefined) return text;
  throw new Stop(
    EXIT.usage,
    "the development issuer does not give out such a token",
    "Look at --tenant, --role and --ttl.",
  );
}
