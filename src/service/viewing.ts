import { keyedDigest } from "../core/digest.ts";
import type { Instant } from "../core/ids.ts";
import type { Operation } from "../core/operation.ts";
import { Problem } from "../core/problem.ts";
import type { Ports } from "./ports.ts";

/** How long what a person looks at may be answered. */
const VIEW_FOR_MS = 10 * 60_000;

/** What one look of one person at one operation is called. It answers once, and nobody else can use it. */
export interface View {
  readonly nonce: string;
  readonly expiresAt: Instant;
}

/**
 * A new view. Nothing is stored: the nonce carries what it was made from under a MAC, whose key comes from the tenant's own key in the
 * ledger (`authority.lookalike_key`), so that every process of an installation makes and knows the same ones.
 */
export function viewOf(
  ports: Pick<Ports, "catalog" | "entropy">,
  operation: Operation,
  person: string,
  clock: Instant,
): View {
  const expiresAt = clock + VIEW_FOR_MS;
  const head = `${expiresAt}.${operation.revision}.${ports.entropy.salt()}`;
  return { nonce: `${head}.${macOf(ports, operation, person, head)}`, expiresAt };
}

const NONCE = /^(\d{1,15})\.(\d{1,9})\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/;

/** When the view ends that this nonce names. Throws `decision_refused` unless this person was shown exactly what is asked now. */
export function readView(
  ports: Pick<Ports, "catalog" | "entropy">,
  operation: Operation,
  person: string,
  nonce: string,
  clock: Instant,
): Instant {
  const found = NONCE.exec(nonce);
  const [, expires, revision] = found ?? [];
  const at = nonce.lastIndexOf(".");
  const mac = macOf(ports, operation, person, nonce.slice(0, Math.max(0, at)));
  if (found === null || !alike(ports, operation, mac, nonce.slice(at + 1)))
    throw refused("this was not shown to you for this operation");
  if (clock >= Number(expires)) throw refused("what you looked at is too old");
  // Other people's answers move the operation on; only what is asked must still be what was shown.
  if (Number(revision) < (operation.review?.since ?? 0))
    throw refused("what is asked has changed since you looked");
  return Number(expires);
}

function refused(why: string): Problem {
  return new Problem("decision_refused", why, {
    at: "/nonce",
    next: "Look at it again, and answer what you see then.",
  });
}

function macOf(
  { catalog }: Pick<Ports, "catalog">,
  { tenantId, id, digest }: Operation,
  person: string,
  head: string,
): string {
  const mac = keyedDigest(catalog.tenantKey(tenantId), "writ.view.v1", {
    tenantId,
    id,
    digest,
    person,
    head,
  });
  return mac.slice("hmac-256:".length);
}

/** Compares what their MACs are, so that the time it takes tells nothing about the expected one. */
function alike(
  { catalog }: Pick<Ports, "catalog">,
  { tenantId }: Operation,
  one: string,
  two: string,
): boolean {
  const key = catalog.tenantKey(tenantId);
  return keyedDigest(key, "writ.view.equal.v1", one) === keyedDigest(key, "writ.view.equal.v1", two);
}
