import type { buildConnector } from "undici";
import { discovered } from "./discovery.ts";
import { issuerFetch } from "./issuer-fetch.ts";
import { publishedKeys } from "./key-set.ts";
import type { IssuerAt } from "./resource-server.ts";

/** What was found of one issuer when it was looked at. */
export interface Examined {
  readonly issuer: string;
  /** How many keys it signs with, as far as we may use them. */
  readonly keys?: number;
  /** Why it cannot be used now. */
  readonly why?: string;
  /** How far its clock is ahead of ours; absent where it does not say. */
  readonly clockAheadMs?: number;
  /** Its metadata does not fit people's login here. */
  readonly login?: string;
}

const PARTS = ["authorization_endpoint", "token_endpoint"] as const;

/** Looks at an issuer as the door would: its metadata, its keys and its clock. Never throws for what it finds. */
export async function examineIssuer(at: IssuerAt, connector: buildConnector.connector): Promise<Examined> {
  const { issuer } = at;
  if (at.keys !== "discovered" && at.login === undefined) return { issuer, keys: at.keys.keys.length };
  const fetch = issuerFetch(connector);
  let said: number | undefined;
  const watching = Object.assign(
    async (...asked: Parameters<typeof fetch>) => {
      const reply = await fetch(...asked);
      const date = Date.parse(reply.headers.get("date") ?? "");
      // A Date header has whole seconds.
      if (!Number.isNaN(date)) said = date + 500 - Date.now();
      return reply;
    },
    { close: fetch.close },
  );
  try {
    const metadata = await discovered(issuer, watching);
    const keys = at.keys === "discovered" ? await publishedKeys(issuer, watching) : at.keys.keys;
    const lacking = PARTS.find((part) => typeof metadata[part] !== "string");
    return {
      issuer,
      keys: keys.length,
      ...(said === undefined ? {} : { clockAheadMs: said }),
      ...(at.login === undefined || lacking === undefined ? {} : { login: `its metadata has no ${lacking}` }),
    };
  } catch (error) {
    return { issuer, why: error instanceof Error ? error.message : String(error) };
  } finally {
    await fetch.close();
  }
}
