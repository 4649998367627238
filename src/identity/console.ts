import { createHash, randomBytes } from "node:crypto";
import { type TenantId, tenantId } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Session } from "../core/session.ts";
import type {
  ConsoleBounds,
  ConsolePerson,
  ConsoleSessions,
  Credentials,
  Identify,
} from "../service/identity-port.ts";
import type { Cookies } from "./cookies.ts";

/** The browser sessions of people: started by a login, asked at every call, ended by a logout, by time or by a revocation. */
export interface Consoles {
  /** Whether a call carries a session's cookie, good or not. */
  carries(credentials: Credentials): boolean;
  readonly identify: Identify;
  /** Gives the cookie of a new session. The one that the browser had before ends with it: nobody goes on in a session that was planted. */
  start(person: ConsolePerson, before: string | undefined): Promise<string>;
  /** Gives the cookie that forgets it. */
  end(cookie: string | undefined): Promise<string>;
}

export const CONSOLE_BOUNDS: ConsoleBounds = { idleMs: 3_600_000, lifeMs: 12 * 3_600_000, eachMax: 10 };

const SECRET_BYTES = 32;
const SAFE_METHODS = ["GET", "HEAD"];

interface Named {
  readonly tenantId: TenantId;
  readonly digest: string;
}

export function consolesOf(parts: {
  readonly sessions: ConsoleSessions;
  readonly cookies: Cookies;
  readonly publicUrl: () => string;
  readonly bounds?: ConsoleBounds;
}): Consoles {
  const { sessions, cookies, publicUrl, bounds = CONSOLE_BOUNDS } = parts;
  const named = (cookie: string | undefined): Named | undefined => nameIn(cookies.read(cookie, "session"));
  return {
    carries: ({ cookie }) => cookies.read(cookie, "session") !== undefined,
    identify: async (credentials) => {
      refuseForeign(credentials, publicUrl());
      const name = named(credentials.cookie);
      const person =
        name === undefined ? undefined : await sessions.use(name.tenantId, name.digest, bounds.idleMs);
      if (person !== undefined) return sessionOf(person);
      throw new Problem("unauthenticated", "this browser's session has ended", {
        next: "Sign in again, at /login.",
      });
    },
    start: async (person, before) => {
      const secret = randomBytes(SECRET_BYTES).toString("base64url");
      const old = named(before);
      const replaces = old?.tenantId === person.tenantId ? old.digest : undefined;
      if (old !== undefined && replaces === undefined) await sessions.end(old.tenantId, old.digest);
      await sessions.start(person, digestOf(secret), bounds, replaces);
      return cookies.write("session", `${person.tenantId}.${secret}`, bounds.lifeMs);
    },
    end: async (cookie) => {
      const name = named(cookie);
      if (name !== undefined) await sessions.end(name.tenantId, name.digest);
      return cookies.clear("session");
    },
  };
}

/**
 * A browser adds the cookie whoever made the page; so what changes something must come from a page of ours: it says so itself (Origin),
 * and it carries a header that a page of another origin may not send.
 */
function refuseForeign({ method, origin, marked }: Credentials, publicUrl: string): void {
  if (SAFE_METHODS.includes(method)) return;
  if (origin === new URL(publicUrl).origin && marked === true) return;
  throw new Problem(
    "forbidden",
    "a browser's session changes something only from a page of this installation",
    {
      at: origin === undefined ? "Origin" : marked === true ? "Origin" : "Writ-Console",
      next: "From a program, send a token instead of a cookie.",
    },
  );
}

function sessionOf(person: ConsolePerson): Session {
  const { authenticatedAt, acr } = person;
  return {
    tenantId: person.tenantId,
    principalId: person.principalId,
    clientId: person.clientId,
    roles: person.roles,
    delegation: [],
    authentication: {
      via: "console",
      ...(authenticatedAt === undefined ? {} : { at: authenticatedAt }),
      ...(acr === undefined ? {} : { acr }),
    },
  };
}

/** The tenant stands in the cookie only to find the row: it is the row's, or there is none. */
function nameIn(value: string | undefined): Named | undefined {
  const [, tenant, secret] = /^([a-z0-9][a-z0-9_-]{0,62})\.([A-Za-z0-9_-]{43})$/.exec(value ?? "") ?? [];
  if (tenant === undefined || secret === undefined) return undefined;
  return { tenantId: tenantId(tenant), digest: digestOf(secret) };
}

function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}
