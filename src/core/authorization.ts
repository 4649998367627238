import type { Instant } from "./ids.ts";
import type { JsonObject } from "./json.ts";

/** Permission for one digest, under one policy version, until a moment. */
export interface Authorization {
  readonly digest: string;
  readonly policyVersion: string;
  /** The tenant's authority epoch, read before the decision. */
  readonly epoch: number;
  readonly authorizedAt: Instant;
  readonly expiresAt: Instant;
  /** The roles that the session showed: asked again when authority changed before the claim. */
  readonly roles: readonly string[];
  /** The policies that decided, by id. */
  readonly policies: readonly string[];
  readonly obligations: readonly JsonObject[];
  readonly approvals: readonly JsonObject[];
}

/** Does this permission cover exactly this digest at this moment? */
export function covers(authorization: Authorization, digest: string, clock: Instant): boolean {
  return authorization.digest === digest && clock < authorization.expiresAt;
}
