import type { Instant, TenantId } from "../core/ids.ts";
import type { Session } from "../core/session.ts";

/** What identity keeps in the ledger's database, because every process has to know it. */
export interface IdentityStore {
  readonly proofs: SpentProofs;
  readonly consoles: ConsoleSessions;
  /** The database's clock. */
  now(): Promise<Instant>;
}

export interface SpentProofs {
  /**
   * `fresh` for whoever came first with this proof, in whichever process, and for nobody again until `keepMs` have passed.
   * `clock` is the database's: by it, and by no process's own, a proof is young enough.
   */
  spend(
    tenantId: TenantId,
    proof: string,
    keepMs: number,
  ): Promise<{ readonly fresh: boolean; readonly clock: Instant }>;
}

/** Who sits before a browser. Made at the login and never changed. */
export interface ConsolePerson {
  readonly tenantId: TenantId;
  readonly principalId: string;
  readonly clientId: string;
  readonly roles: readonly string[];
  /** When, and how, the person proved to the issuer who they are. */
  readonly authenticatedAt?: Instant;
  readonly acr?: string;
}

export interface ConsoleBounds {
  /** A session that nobody uses for so long has ended. */
  readonly idleMs: number;
  /** It ends then however often it is used. */
  readonly lifeMs: number;
  /** Sessions of one person; the oldest make room. */
  readonly eachMax: number;
}

export interface ConsoleSessions {
  /** Keeps a session under the digest of its secret; `replaces` ends in the same commit. Gives its end. */
  start(
    person: ConsolePerson,
    secretDigest: string,
    bounds: ConsoleBounds,
    replaces?: string,
  ): Promise<Instant>;
  /** The person of a session that stands now, by the database's clock. Using it keeps it from going idle. */
  use(tenantId: TenantId, secretDigest: string, idleMs: number): Promise<ConsolePerson | undefined>;
  end(tenantId: TenantId, secretDigest: string): Promise<void>;
  /** Ends every session of a person; says how many there were. */
  endAll(tenantId: TenantId, principalId: string): Promise<number>;
}

/** What one call says about who makes it. */
export interface Credentials {
  readonly method: string;
  /** Path and query, as they were asked for. */
  readonly target: string;
  readonly authorization?: string | undefined;
  /** The DPoP header (RFC 9449). */
  readonly proof?: string | undefined;
  readonly cookie?: string | undefined;
  readonly origin?: string | undefined;
  /** Carries the header that no page of another origin can send. */
  readonly marked?: boolean;
  /** All scopes that the call needs, where an issuer limits its tokens by scopes. */
  readonly scopes: readonly string[];
}

/**
 * Who asks. Throws `unauthenticated`, `insufficient_scope`, `forbidden` or `issuer_unavailable`; never says or logs a token.
 * `again`: the call was let in before, and only whether its token or session still stands is asked.
 */
export type Identify = (credentials: Credentials, when?: "now" | "again") => Promise<Session>;

/** The way of a person's browser to a session of its own: OpenID Connect, code flow with PKCE. Cookies are whole header values. */
export interface ConsoleLogin {
  begin(asked: LoginAsked): Promise<{ readonly location: string; readonly cookies: readonly string[] }>;
  /** `target` is the path and query to which the issuer sent the browser back. Throws `unauthenticated` or `forbidden`. */
  finish(arrived: {
    readonly target: string;
    readonly cookie: string | undefined;
  }): Promise<{ readonly next: string; readonly cookies: readonly string[] }>;
  /** Ends the session of this cookie, if it is one. */
  end(cookie: string | undefined): Promise<{ readonly cookies: readonly string[] }>;
}

export interface LoginAsked {
  readonly issuer?: string | undefined;
  readonly next?: string | undefined;
  readonly again?: boolean | undefined;
  readonly maxAgeS?: number | undefined;
  readonly acrValues?: string | undefined;
}

/** What this installation is to whoever gives out tokens for it (RFC 9728). */
export interface ProtectedResource {
  /** Under which it is reached, without a slash at the end. */
  readonly publicUrl: () => string;
  /** What tokens are asked for (RFC 8707). */
  readonly audience: () => string;
  readonly issuers: readonly string[];
  /** Some issuer limits its tokens by scopes. */
  readonly scoped: boolean;
  /** Every issuer's tokens must be bound to a key. */
  readonly bound: boolean;
  /** With which proofs of possession may be signed. */
  readonly algorithms: readonly string[];
}
