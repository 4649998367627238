import { digestOf } from "./digest.ts";
import { type OperationId, operationId } from "./ids.ts";
import type { Json, JsonObject } from "./json.ts";
import { Problem } from "./problem.ts";
import type { Tool } from "./tool.ts";

/** What the agent asked for: claims only, nothing trusted. */
export interface Proposal {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly expectedVersion?: string | undefined;
  readonly compensates?: OperationId | undefined;
  readonly supersedes?: OperationId | undefined;
  readonly execute: "now" | "later";
  readonly note?: string | undefined;
  readonly intentKey?: string | undefined;
}

export interface ProposalClaims {
  readonly tool: string;
  readonly arguments: Json;
  readonly expectedVersion?: string | number | undefined;
  readonly compensates?: string | undefined;
  readonly supersedes?: string | undefined;
  readonly execute?: "now" | "later" | undefined;
  readonly note?: string | undefined;
}

// RFC 8941 leaves a bare key its characters; these are what every provider's header can carry.
const INTENT_KEY = /^[\x21-\x7e]{1,200}$/;

/** Names the proposal itself: the same claims, sent again, have the same digest. A note or a wish about timing is not part of the intent. */
export function proposalDigest(proposal: Proposal): string {
  return digestOf("writ.proposal.v1", {
    tool: proposal.tool,
    arguments: proposal.arguments,
    ...(proposal.expectedVersion === undefined ? {} : { expectedVersion: proposal.expectedVersion }),
    ...(proposal.compensates === undefined ? {} : { compensates: proposal.compensates }),
    ...(proposal.supersedes === undefined ? {} : { supersedes: proposal.supersedes }),
  });
}

/** The claims of one call as a Proposal. `intentKey` comes from where the surface carries it, quoted (RFC 8941) or bare. */
export function proposal(claims: ProposalClaims, intentKey: string | undefined): Proposal {
  if (claims.arguments === null || typeof claims.arguments !== "object" || Array.isArray(claims.arguments)) {
    throw new Problem("invalid", "arguments must be an object", { at: "/arguments" });
  }
  return {
    tool: claims.tool,
    arguments: claims.arguments as JsonObject,
    expectedVersion: claims.expectedVersion === undefined ? undefined : opaqueVersion(claims.expectedVersion),
    compensates:
      claims.compensates === undefined ? undefined : namedOperation(claims.compensates, "/compensates"),
    supersedes:
      claims.supersedes === undefined ? undefined : namedOperation(claims.supersedes, "/supersedes"),
    execute: claims.execute ?? "now",
    note: claims.note,
    intentKey: intentKey === undefined ? undefined : bareKey(intentKey),
  };
}

function namedOperation(text: string, at: string): OperationId {
  try {
    return operationId(text);
  } catch {
    throw new Problem("invalid", `${at} is no operation id: "op_" and 32 hexadecimal digits`, { at });
  }
}

/** Versions are opaque strings compared for equality; a non-negative integer may be sent as a number. */
function opaqueVersion(version: string | number): string {
  if (typeof version === "number") {
    if (!Number.isSafeInteger(version) || version < 0) {
      throw new Problem("invalid", "expectedVersion must be a non-negative integer or an opaque string", {
        at: "/expectedVersion",
      });
    }
    return String(version);
  }
  // RFC 9110 13.1.1: If-Match compares strongly, so a weak validator never matches, and `*` expects nothing in particular.
  if (version === "*" || /^W\//i.test(version)) {
    throw new Problem(
      "invalid",
      'expectedVersion must name one exact version: "*" and weak validators (W/"…") are refused',
      { at: "/expectedVersion" },
    );
  }
  if (!/^[\x20-\x7e]{1,256}$/.test(version)) {
    throw new Problem("invalid", "expectedVersion must be 1-256 printable ASCII characters", {
      at: "/expectedVersion",
    });
  }
  return version;
}

function bareKey(text: string): string {
  const bare = /^"(.*)"$/.exec(text)?.[1] ?? text;
  if (!INTENT_KEY.test(bare) || bare.includes('"') || bare.includes("\\")) {
    throw new Problem(
      "invalid_request",
      "Idempotency-Key must be 1-200 visible ASCII characters, bare or in double quotes",
      { at: "Idempotency-Key" },
    );
  }
  return bare;
}

/** The tool's own demands on a proposal, beyond its schema. */
export function demand(tool: Tool, proposed: Proposal): void {
  if (tool.intentKey === "required" && proposed.intentKey === undefined) {
    throw new Problem("idempotency-key-missing", `${tool.name} needs an Idempotency-Key`, {
      at: "Idempotency-Key",
      next: "Send a key that names this intent, and send the same key again whenever you ask for the same intent.",
    });
  }
  if (tool.expectedVersion === "required" && proposed.expectedVersion === undefined) {
    throw new Problem(
      "version_required",
      `${tool.name} needs expectedVersion: the version that this change was decided against`,
      { at: "/expectedVersion" },
    );
  }
  if (tool.expectedVersion === "none" && proposed.expectedVersion !== undefined) {
    throw new Problem("invalid", `${tool.name} takes no expectedVersion`, { at: "/expectedVersion" });
  }
}
