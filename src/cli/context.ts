import { type Client, writClient } from "../client.ts";
import { type Person, readDevFile } from "./dev-file.ts";
import { EXIT, Stop } from "./exit.ts";
import type { Screen } from "./screen.ts";

/** What every command is given. */
export interface Context {
  readonly screen: Screen;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of the configuration and of `.writ`. */
  readonly folder: string;
  /** Whose development token is used; each command has its own default. */
  readonly as?: Person;
}

/** A client of the Writ that the environment names, else of the `writ dev` that runs in this folder. */
export function connected({ env, folder, as }: Context, usually: Person): Client {
  const dev = readDevFile(folder);
  const url = set(env.WRIT_URL) ?? dev?.url;
  if (url === undefined)
    throw new Stop(
      EXIT.usage,
      "no Writ is named: WRIT_URL is not set, and no `writ dev` runs in this folder",
      "Set WRIT_URL and WRIT_TOKEN, or start `writ dev` here.",
    );
  // The token of a development server goes to that server and nowhere else.
  const own = dev !== undefined && dev.url === url ? dev.tokens[as ?? usually] : undefined;
  const token = (as === undefined ? set(env.WRIT_TOKEN) : undefined) ?? own ?? set(env.WRIT_TOKEN);
  if (token === undefined)
    throw new Stop(
      EXIT.unauthenticated,
      `there is no token for ${url}`,
      "Set WRIT_TOKEN to an access token of an issuer that it trusts.",
    );
  return writClient({ url, token });
}

function set(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}
