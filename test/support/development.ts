import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { compose, type DevelopmentIssuer, developmentIssuer, type Writ } from "../../src/compose.ts";
import { type Configuration, loadConfiguration } from "../../src/config.ts";
import { type Simulated, startSimulated } from "../../src/connectors/simulated/provider.ts";
import { runScript } from "../../src/database/script.ts";
import type { Log } from "../../src/service/ports.ts";
import { freshDatabase } from "./database.ts";

/** A whole Writ and the development issuer that it trusts, as `writ dev` starts them. */
export interface Development {
  readonly url: string;
  readonly databaseUrl: string;
  readonly home: string;
  readonly issuer: DevelopmentIssuer;
  readonly writ: Writ;
  readonly shop: Simulated;
  /** Everything that was logged. */
  readonly logged: string[];
  /** A form posted to the issuer's token endpoint. */
  grant(
    form: Readonly<Record<string, string>>,
    how?: { readonly client?: string; readonly proof?: string },
  ): Promise<Granted>;
}

export interface Granted {
  readonly status: number;
  readonly access_token: string;
  readonly id_token?: string;
  readonly token_type?: string;
  readonly error?: string;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === "object" && address !== null ? address.port : 0;
}

export async function development(options: { readonly shopUrl?: string } = {}): Promise<Development> {
  const { url: databaseUrl } = await freshDatabase();
  const home = mkdtempSync(join(tmpdir(), "writ-development-"));
  const shop = await startSimulated({ guarantees: { etag: "strong", marker: true } });
  await runScript(databaseUrl, readFileSync("examples/first-run/tables.sql", "utf8"));
  const configuration = pointed(loadConfiguration("examples/first-run", {}), options.shopUrl ?? shop.url);
  const url = `http://127.0.0.1:${await freePort()}`;
  const logged: string[] = [];
  const line = (event: string, fields: object): void => {
    logged.push(`${event} ${JSON.stringify(fields)}`);
  };
  const log: Log = { info: line, warn: line, error: line };
  const issuer = await developmentIssuer({
    home,
    tenants: configuration.tenants,
    roles: Object.keys(configuration.roles),
    port: 0,
    writUrl: url,
    others: [],
    environment: {},
  });
  const writ = await compose({ configuration, databaseUrl, home, log, issuers: [issuer.issuer] });
  onTestFinished(async () => {
    await writ.close(1_000);
    await issuer.close();
    await shop.close();
    rmSync(home, { recursive: true, force: true });
  });
  await writ.listen({ host: "127.0.0.1", port: Number(new URL(url).port) });
  return {
    url,
    databaseUrl,
    home,
    issuer,
    writ,
    shop,
    logged,
    grant: (form, how) => granted(issuer, form, how),
  };
}

function pointed(configuration: Configuration, shop: string): Configuration {
  const { shop: settings } = configuration.providers;
  if (settings?.transport !== "http") throw new Error("the example has a shop");
  const moved = { ...settings, settings: { ...settings.settings, base: shop } };
  return { ...configuration, providers: { ...configuration.providers, shop: moved } };
}

async function granted(
  { url, secrets }: DevelopmentIssuer,
  form: Readonly<Record<string, string>>,
  { client, proof }: { readonly client?: string; readonly proof?: string } = {},
): Promise<Granted> {
  const basic = Buffer.from(`${client}:${secrets[client ?? ""]}`).toString("base64");
  const reply = await fetch(`${url}/token`, {
    method: "POST",
    headers: {
      ...(client === undefined ? {} : { authorization: `Basic ${basic}` }),
      ...(proof === undefined ? {} : { dpop: proof }),
    },
    body: new URLSearchParams(form),
  });
  return { status: reply.status, ...((await reply.json()) as Omit<Granted, "status">) };
}

/** A browser as far as redirects and cookies go. It sends cookies by host, whatever the port, as browsers do. */
export interface Visitor {
  readonly cookies: Map<string, string>;
  /** One request; redirects are not followed. */
  visit(url: string, init?: RequestInit): Promise<Response>;
  /** Follows redirects and picks the person on the issuer's page, until `until` or a page that is no login. */
  signIn(
    url: string,
    person: string,
    until?: (at: string) => boolean,
  ): Promise<{ readonly at: string; readonly page?: Response }>;
}

const HOPS_MAX = 12;

export function visitor(): Visitor {
  const cookies = new Map<string, string>();
  const visit: Visitor["visit"] = async (url, init = {}) => {
    const headers = new Headers(init.headers);
    if (cookies.size > 0)
      headers.set("cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
    const reply = await fetch(url, { redirect: "manual", ...init, headers });
    for (const line of reply.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const at = pair.indexOf("=");
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) cookies.delete(pair.slice(0, at));
      else cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return reply;
  };
  return {
    cookies,
    visit,
    signIn: async (url, person, until = () => false) => {
      let at = url;
      for (let hop = 0; hop < HOPS_MAX; hop++) {
        if (until(at)) return { at };
        let reply = await visit(at);
        if (reply.status === 200 && (await reply.clone().text()).includes("Who are you?")) {
          const body = new URLSearchParams({ person });
          reply = await visit(at, { method: "POST", body, headers: { origin: new URL(at).origin } });
        }
        const location = reply.headers.get("location");
        if (location === null) return { at, page: reply };
        at = new URL(location, at).href;
      }
      throw new Error(`the login does not end: ${at}`);
    },
  };
}

/** A verifier and its challenge (RFC 7636). */
export function pkce(): { readonly verifier: string; readonly challenge: string } {
  const verifier = crypto.randomUUID() + crypto.randomUUID();
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}
