import type * as OpenidClient from "openid-client";
import type { Configuration } from "openid-client";
import { parseJson } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import type { ConsoleLogin, LoginAsked } from "../service/identity-port.ts";
import { authenticationOf, principalOf, rolesOf, tenantOf } from "./claims.ts";
import type { Consoles } from "./console.ts";
import type { Cookies } from "./cookies.ts";
import type { Issuer } from "./issuer.ts";
import type { IssuerFetch } from "./issuer-fetch.ts";

/** An issuer at which people may sign in. */
export interface LoginIssuer {
  readonly issuer: Issuer;
  readonly login: { readonly clientId: string; readonly clientSecret?: string };
  readonly fetch: IssuerFetch;
}

export interface LoginParts {
  readonly issuers: readonly LoginIssuer[];
  readonly consoles: Consoles;
  readonly cookies: Cookies;
  readonly publicUrl: () => string;
  readonly wallMs: () => number;
}

/** What the browser keeps while it is at the issuer. It binds the answer to this browser; it is worth nothing elsewhere. */
interface Begun {
  readonly issuer: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly next: string;
  readonly at: number;
  readonly maxAgeS?: number;
}

type Library = typeof OpenidClient;

const BEGUN_FOR_MS = 600_000;
export const CALLBACK_PATH = "/login/callback";
/** A path of ours and nothing that a browser could read as another host's. */
const OWN_PATH = /^\/(?![/\\])[A-Za-z0-9._~!$&'()*+,;=:@%/?#-]{0,999}$/;

export function consoleLogin(parts: LoginParts): ConsoleLogin {
  const { consoles, cookies, publicUrl, wallMs } = parts;
  const speaks = new Map(parts.issuers.map((each) => [each.issuer.issuer, speaking(each)]));
  return {
    begin: async (asked) => {
      const at = speakingTo(speaks, asked.issuer);
      const { library, configuration } = await at.ready();
      const begun: Begun = {
        issuer: at.issuer.issuer,
        state: library.randomState(),
        nonce: library.randomNonce(),
        verifier: library.randomPKCECodeVerifier(),
        next: ownPath(asked.next),
        at: wallMs(),
        ...(asked.maxAgeS === undefined ? {} : { maxAgeS: asked.maxAgeS }),
      };
      const challenge = await library.calculatePKCECodeChallenge(begun.verifier);
      const wanted = parametersOf(asked, begun, challenge, `${publicUrl()}${CALLBACK_PATH}`);
      const location = library.buildAuthorizationUrl(configuration, wanted).href;
      const text = Buffer.from(JSON.stringify(begun)).toString("base64url");
      return { location, cookies: [cookies.write("login", text, BEGUN_FOR_MS)] };
    },
    finish: async ({ target, cookie }) => {
      const begun = begunIn(cookies.read(cookie, "login"), wallMs());
      const at = speakingTo(speaks, begun.issuer);
      const claims = await at.claims(new URL(`${publicUrl()}${target}`), begun);
      const person = {
        tenantId: tenantOf(at.issuer, claims),
        principalId: principalOf(at.issuer, claims.sub),
        clientId: at.login.clientId,
        roles: rolesOf(at.issuer, claims),
      };
      const { at: authenticatedAt, acr } = authenticationOf(claims, wallMs() / 1000);
      const known = {
        ...person,
        ...(authenticatedAt === undefined ? {} : { authenticatedAt }),
        ...(acr === undefined ? {} : { acr }),
      };
      const session = await consoles.start(known, cookie);
      return { next: begun.next, cookies: [session, cookies.clear("login")] };
    },
    end: async (cookie) => ({ cookies: [await consoles.end(cookie)] }),
  };
}

function parametersOf(
  { again, maxAgeS, acrValues }: LoginAsked,
  { state, nonce }: Begun,
  challenge: string,
  redirect: string,
): Record<string, string> {
  return {
    redirect_uri: redirect,
    scope: "openid",
    state,
    nonce,
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...(again === true ? { prompt: "login" } : {}),
    ...(maxAgeS === undefined ? {} : { max_age: String(maxAgeS) }),
    ...(acrValues === undefined ? {} : { acr_values: acrValues }),
  };
}

/** What is no page of ours leads to the first one: nobody is sent away from here by somebody else's link. */
function ownPath(next: string | undefined): string {
  return next !== undefined && OWN_PATH.test(next) && !/^\/log(?:in|out)\b/.test(next) ? next : "/";
}

function refused(why: string): Problem {
  return new Problem("unauthenticated", `the login is not accepted: ${why}`, {
    next: "Begin it again, at /login, in the same browser.",
  });
}

/** Whoever did not begin a login in this browser cannot be made to end one in it. */
function begunIn(value: string | undefined, nowMs: number): Begun {
  if (value === undefined) throw refused("it was not begun in this browser");
  try {
    const begun = parseJson(Buffer.from(value, "base64url")) as unknown as Begun; // Written above; what is missing is refused below.
    const texts = [begun.issuer, begun.state, begun.nonce, begun.verifier, begun.next];
    if (texts.some((text) => typeof text !== "string" || text === "")) throw new Error("not ours");
    if (!(Math.abs(nowMs - begun.at) < BEGUN_FOR_MS)) throw refused("it took too long");
    return { ...begun, next: ownPath(begun.next) };
  } catch (error) {
    throw error instanceof Problem ? error : refused("what the browser kept of it cannot be read");
  }
}

interface Speaking extends LoginIssuer {
  ready(): Promise<{ readonly library: Library; readonly configuration: Configuration }>;
  /** The verified claims of the ID token that the answer's code is worth. */
  claims(answer: URL, begun: Begun): Promise<Record<string, unknown> & { readonly sub: string }>;
}

function speakingTo(speaks: ReadonlyMap<string, Speaking>, issuer: string | undefined): Speaking {
  const [first] = speaks.values();
  const found = issuer === undefined ? first : speaks.get(issuer);
  if (found === undefined) throw new Problem("not_found", "no such issuer offers a login here");
  return found;
}

/** The library and the issuer's metadata are got with the first login. */
function speaking(at: LoginIssuer): Speaking {
  let got: ReturnType<Speaking["ready"]> | undefined;
  const ready: Speaking["ready"] = () => {
    got ??= configured(at).catch((error: unknown) => {
      got = undefined;
      throw told(at, error);
    });
    return got;
  };
  return {
    ...at,
    ready,
    claims: async (answer, begun) => {
      const { library, configuration } = await ready();
      try {
        const tokens = await library.authorizationCodeGrant(configuration, answer, {
          pkceCodeVerifier: begun.verifier,
          expectedState: begun.state,
          expectedNonce: begun.nonce,
          idTokenExpected: true,
          ...(begun.maxAgeS === undefined ? {} : { maxAge: begun.maxAgeS }),
        });
        const claims = tokens.claims();
        if (claims === undefined) throw refused("the issuer sent no ID token");
        return claims;
      } catch (error) {
        throw told(at, error);
      }
    },
  };
}

async function configured({ issuer, login, fetch }: LoginIssuer): ReturnType<Speaking["ready"]> {
  const library = await import("openid-client");
  const { clientId, clientSecret } = login;
  const authentication =
    clientSecret === undefined ? library.None() : library.ClientSecretBasic(clientSecret);
  const local = issuer.issuer.startsWith("http:");
  const configuration = await library.discovery(new URL(issuer.issuer), clientId, {}, authentication, {
    [library.customFetch]: async (url, { method, headers, body }) => {
      const text = body instanceof URLSearchParams ? body.toString() : body;
      try {
        return await fetch(url, { method, headers, ...(typeof text === "string" ? { body: text } : {}) });
      } catch (error) {
        throw new Unreachable(error instanceof Error ? error.message : String(error));
      }
    },
    // Over http only an issuer of this very machine, which the configuration has seen to.
    execute: local
      ? [library.allowInsecureRequests, library.enableNonRepudiationChecks]
      : [library.enableNonRepudiationChecks],
  });
  return { library, configuration };
}

class Unreachable extends Error {}

/** A silent issuer is no refusal; and what the library says may hold what the issuer said, which nobody hears. */
function told({ issuer }: LoginIssuer, error: unknown): unknown {
  if (error instanceof Problem) return error;
  const causes = [error, (error as { readonly cause?: unknown } | undefined)?.cause];
  const silent = causes.find((each) => each instanceof Unreachable);
  if (silent !== undefined) {
    return new Problem("issuer_unavailable", `${issuer.issuer} cannot be asked: ${silent.message}`, {
      retryAfterMs: 10_000,
    });
  }
  const said = (error as { readonly error?: unknown } | undefined)?.error;
  const code = typeof said === "string" && /^[a-z_]{1,60}$/.test(said) ? `: ${said}` : "";
  const problem = refused(`the issuer's answer does not hold${code}`);
  problem.cause = error;
  return problem;
}
