import type { buildConnector } from "undici";
import type { ConsoleLogin, Identify, IdentityStore, ProtectedResource } from "../service/identity-port.ts";
import type { ProcessClock } from "../service/ports.ts";
import { CONSOLE_BOUNDS, consolesOf } from "./console.ts";
import { cookiesOf } from "./cookies.ts";
import { ALGORITHMS, type Issuer } from "./issuer.ts";
import { type IssuerFetch, issuerFetch } from "./issuer-fetch.ts";
import { KEY_BOUNDS, type KeysState, localKeys, remoteKeys } from "./key-set.ts";
import { ledgerTime } from "./ledger-time.ts";
import { consoleLogin, type LoginIssuer } from "./login.ts";
import { tokenIdentity } from "./tokens.ts";

/** An issuer, how people sign in there, and where it may live. */
export interface IssuerAt extends Issuer {
  readonly login?: LoginIssuer["login"];
  readonly allowPrivate?: boolean | readonly string[];
  readonly ca?: string;
}

export interface ResourceServerParts {
  readonly issuers: readonly IssuerAt[];
  readonly store: IdentityStore;
  readonly clock: ProcessClock;
  /** Connects to where an issuer may live, and nowhere else. */
  readonly connect: (at: IssuerAt) => buildConnector.connector;
  readonly publicUrl: () => string;
  readonly keyBounds?: typeof KEY_BOUNDS;
  readonly consoleBounds?: typeof CONSOLE_BOUNDS;
}

/** Everything by which callers are known, of this process. */
export interface ResourceServer {
  readonly identify: Identify;
  readonly login?: ConsoleLogin;
  /** What of it RFC 9728 tells. */
  readonly resource: ProtectedResource;
  states(): readonly { readonly issuer: string; readonly state: KeysState }[];
  close(): Promise<void>;
}

export function resourceServer(parts: ResourceServerParts): ResourceServer {
  const { issuers, store, clock, publicUrl } = parts;
  const fetches = new Map<string, IssuerFetch>();
  const fetchFor = (at: IssuerAt): IssuerFetch => {
    const fetch = fetches.get(at.issuer) ?? issuerFetch(parts.connect(at));
    fetches.set(at.issuer, fetch);
    return fetch;
  };
  const trusted = issuers.map((issuer) => ({ issuer, keys: keysOf(parts, issuer, fetchFor) }));
  const byToken = tokenIdentity({
    trusted,
    proofs: store.proofs,
    clock: ledgerTime(() => store.now(), clock),
    publicUrl,
  });
  const cookies = cookiesOf(publicUrl);
  const bounds = parts.consoleBounds ?? CONSOLE_BOUNDS;
  const consoles = consolesOf({ sessions: store.consoles, cookies, publicUrl, bounds });
  const doors = issuers.flatMap((issuer): LoginIssuer[] =>
    issuer.login === undefined ? [] : [{ issuer, login: issuer.login, fetch: fetchFor(issuer) }],
  );
  return {
    // A token is sent on purpose, a cookie by itself: who sends both means the token.
    identify: (credentials, when) =>
      credentials.authorization === undefined && consoles.carries(credentials)
        ? consoles.identify(credentials, when)
        : byToken(credentials, when),
    ...(doors.length === 0
      ? {}
      : {
          login: consoleLogin({ issuers: doors, consoles, cookies, publicUrl, wallMs: () => clock.wallMs() }),
        }),
    resource: {
      publicUrl,
      // Where issuers know it by one name, that is what a token has to be asked for.
      audience: () => issuers[0]?.audience ?? publicUrl(),
      issuers: issuers.map(({ issuer }) => issuer),
      scoped: issuers.some(({ requireScopes }) => requireScopes === true),
      bound: issuers.length > 0 && issuers.every(({ requireDpop }) => requireDpop === true),
      algorithms: ALGORITHMS,
    },
    states: () =>
      trusted.map(({ issuer, keys }) => ({
        // Whoever asks whether this is ready shall see what it is ready for.
        issuer: issuer.alias === undefined ? issuer.issuer : `${issuer.issuer} (${issuer.alias} only)`,
        state: keys.state(),
      })),
    close: async () => {
      await Promise.all([...fetches.values()].map((fetch) => fetch.close()));
    },
  };
}

function keysOf(
  { clock, keyBounds = KEY_BOUNDS }: ResourceServerParts,
  at: IssuerAt,
  fetchFor: (at: IssuerAt) => IssuerFetch,
) {
  if (at.keys !== "discovered") return localKeys(at.keys.keys);
  const monotonicMs = (): number => clock.monotonicMs();
  return remoteKeys({ issuer: at.issuer, fetch: fetchFor(at), monotonicMs, bounds: keyBounds });
}

/** In words that an operator can act on. */
export function troubleOf(
  callers: Pick<ResourceServer, "states">,
): { readonly issuer: string; readonly trouble?: string }[] {
  return callers.states().map(({ issuer, state: { kind, why } }) => {
    const known = kind === "local" || kind === "good" || kind === "unread";
    return known ? { issuer } : { issuer, trouble: `${kind}: ${why ?? ""}` };
  });
}
