import { createHash } from "node:crypto";
import { createLocalJWKSet, errors, type JWK, type JWTVerifyGetKey } from "jose";
import { Problem } from "../core/problem.ts";
import { discovered, isSafeAddress, objectIn } from "./discovery.ts";
import type { IssuerFetch } from "./issuer-fetch.ts";

/** The public keys of one issuer, as they are known now. */
export interface KeySet {
  /** The key that a header names. Throws jose's errors, and `issuer_unavailable` where it could not be asked for. */
  readonly find: JWTVerifyGetKey;
  /** Another number whenever keys came or went; undefined while none may be used. What one set has verified holds for that set. */
  generation(): number | undefined;
  state(): KeysState;
}

/** `unread`: nobody needed them yet. `degraded`: the issuer does not answer, and the last good keys are used. `lost`: they are too old. */
export interface KeysState {
  readonly kind: "local" | "unread" | "good" | "degraded" | "lost";
  readonly count: number;
  readonly why?: string;
}

/** Keys that stand in the configuration. */
export function localKeys(keys: readonly JWK[]): KeySet {
  return {
    find: createLocalJWKSet({ keys: [...keys] }),
    generation: () => 1,
    state: () => ({ kind: "local", count: keys.length }),
  };
}

export interface KeyBounds {
  /** Between two tries, whatever tokens name. */
  readonly cooldownMs: number;
  /** Keys are read again when they are older: a withdrawn key counts no longer than this. */
  readonly maxAgeMs: number;
  /** How much longer the last good keys count while the issuer does not answer. */
  readonly graceMs: number;
}
export const KEY_BOUNDS: KeyBounds = { cooldownMs: 10_000, maxAgeMs: 600_000, graceMs: 3_600_000 };

const KEYS_MAX = 64;

export interface RemoteKeys {
  readonly issuer: string;
  readonly fetch: IssuerFetch;
  readonly monotonicMs: () => number;
  readonly bounds?: KeyBounds;
}

interface Known {
  readonly resolve: JWTVerifyGetKey;
  readonly digest: string;
  readonly count: number;
  readonly generation: number;
  readonly readAt: number;
}

/** Keys that the issuer publishes. Read when they are first needed, and by one reader at a time. */
export function remoteKeys({ issuer, fetch, monotonicMs, bounds = KEY_BOUNDS }: RemoteKeys): KeySet {
  let known: Known | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let trouble: string | undefined;
  let reading: Promise<void> | undefined;

  const age = (): number => (known === undefined ? Number.POSITIVE_INFINITY : monotonicMs() - known.readAt);
  const usable = (): Known | undefined => (age() < bounds.maxAgeMs + bounds.graceMs ? known : undefined);
  const cooling = (): number => triedAt + bounds.cooldownMs - monotonicMs();

  const read = async (): Promise<void> => {
    triedAt = monotonicMs();
    const began = triedAt;
    try {
      const keys = await publishedKeys(issuer, fetch);
      const digest = createHash("sha256").update(JSON.stringify(keys)).digest("base64url");
      const generation = (known?.generation ?? 0) + (known?.digest === digest ? 0 : 1);
      const resolve = createLocalJWKSet({ keys: [...keys] });
      known = { resolve, digest, count: keys.length, generation, readAt: began };
      trouble = undefined;
    } catch (error) {
      trouble = error instanceof Error ? error.message : String(error);
    }
  };
  /** Begins a reading unless one has just been tried; everybody shares the one under way. */
  const again = async (): Promise<void> => {
    if (reading === undefined && cooling() > 0) return;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const unavailable = (): Problem =>
    new Problem("issuer_unavailable", `the keys of ${issuer} cannot be read: ${trouble ?? "not yet"}`, {
      retryAfterMs: Math.max(1_000, cooling()),
      next: "Send the same request with the same token later.",
    });

  const find: JWTVerifyGetKey = async (header, token) => {
    if (age() >= bounds.maxAgeMs) {
      const waited = again();
      // Whoever comes while the issuer is known to be down does not wait for it a second time.
      if (trouble === undefined || usable() === undefined) await waited;
    }
    const now = usable();
    if (now === undefined) throw unavailable();
    try {
      return await now.resolve(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await again();
      if (trouble !== undefined) throw unavailable();
      if (known === undefined || known === now) throw error;
      return known.resolve(header, token);
    }
  };
  return {
    find,
    generation: () => {
      if (age() < bounds.maxAgeMs) return known?.generation;
      if (trouble === undefined) return undefined;
      // What was verified before asks for no key, and must not be what keeps us from noticing that the issuer is back.
      void again();
      return usable()?.generation;
    },
    state: () => {
      const count = known?.count ?? 0;
      const why = trouble === undefined ? {} : { why: trouble };
      if (known === undefined && trouble === undefined) return { kind: "unread", count };
      if (usable() === undefined) return { kind: "lost", count, ...why };
      return trouble === undefined ? { kind: "good", count } : { kind: "degraded", count, ...why };
    },
  };
}

/** The keys that an issuer publishes for checking its signatures. Rejects with an Error that says why there are none. */
export async function publishedKeys(issuer: string, fetch: IssuerFetch): Promise<readonly JWK[]> {
  const { jwks_uri: address } = await discovered(issuer, fetch);
  if (typeof address !== "string" || !isSafeAddress(address, issuer))
    throw new Error("its metadata names no https address of its keys");
  const reply = await fetch(address);
  if (reply.status !== 200) throw new Error(`the address of its keys answers ${reply.status}`);
  const keys = objectIn(await reply.text())?.keys;
  if (!Array.isArray(keys)) throw new Error("what it publishes is not a JWK Set");
  // What is not for checking signatures of the kinds that we know is somebody else's business.
  const ours = (keys as readonly unknown[]).filter(isPublicKey);
  if (ours.length === 0) throw new Error("it publishes no public key for signatures");
  if (ours.length > KEYS_MAX) throw new Error(`it publishes more than ${KEYS_MAX} keys`);
  return ours;
}

/** A public key for signatures: nothing symmetric, nothing private. */
export function isPublicKey(key: unknown): key is JWK {
  if (key === null || typeof key !== "object") return false;
  const { kty, use, d, k } = key as Readonly<Record<string, unknown>>; // Asked member by member.
  return (
    (kty === "OKP" || kty === "EC" || kty === "RSA") &&
    (use === undefined || use === "sig") &&
    d === undefined &&
    k === undefined
  );
}
