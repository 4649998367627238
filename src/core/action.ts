import { digestOf, digestText, keyedDigest } from "./digest.ts";
import type { OperationId } from "./ids.ts";
import { canonicalJson, deepFreeze, type Json, type JsonObject } from "./json.ts";
import { Problem } from "./problem.ts";
import type { Proposal } from "./proposal.ts";
import { chainOf, type Session } from "./session.ts";
import type { ResourceRule, Tool } from "./tool.ts";

interface ResourceName {
  readonly type: string;
  readonly id: string;
}

/** The normalized, frozen form of exactly what will execute. Its members are the digest's: see PROTOCOL section 2. */
export interface Action {
  readonly v: 1;
  readonly operationId: OperationId;
  readonly tenantId: string;
  readonly principalId: string;
  readonly clientId: string;
  readonly delegation: Json;
  readonly tool: string;
  readonly toolDigest: string;
  readonly provider: { readonly name: string; readonly settingsDigest: string };
  readonly resource: ResourceName & { readonly parents: readonly ResourceName[] };
  readonly arguments: JsonObject;
  readonly expectedVersion?: string;
  readonly compensates?: OperationId;
  readonly salt: string;
}

/** An action with the bytes that are stored and executed, and the names they have by content. */
export interface FrozenAction {
  readonly action: Action;
  /** RFC 8785 text. */
  readonly bytes: string;
  readonly digest: string;
  /** Tool, resource, arguments, version: equal for the same content under another operation. */
  readonly contentDigest: string;
  /** Detects look-alikes; never an identity. */
  readonly effectDigest: string;
}

/** What only the server knows and adds. */
export interface Binding {
  readonly operationId: OperationId;
  /** At least 128 random bits: an exported digest must not let anybody guess the arguments. */
  readonly salt: string;
  readonly toolDigest: string;
  readonly settingsDigest: string;
  readonly tenantKey: Uint8Array;
}

const ACTION_DOMAIN = "writ.action.v1";

/** Binds validated arguments to who asks and what they mean, and freezes the result. */
export function freezeAction(
  tool: Tool,
  proposed: Proposal,
  session: Session,
  binding: Binding,
): FrozenAction {
  const resource = resourceOf(tool.resource, proposed.arguments);
  const action: Action = {
    v: 1,
    operationId: binding.operationId,
    tenantId: session.tenantId,
    principalId: session.principalId,
    clientId: session.clientId,
    delegation: chainOf(session),
    tool: tool.name,
    toolDigest: binding.toolDigest,
    provider: { name: tool.provider, settingsDigest: binding.settingsDigest },
    resource,
    arguments: proposed.arguments,
    ...(proposed.expectedVersion === undefined ? {} : { expectedVersion: proposed.expectedVersion }),
    ...(proposed.compensates === undefined ? {} : { compensates: proposed.compensates }),
    salt: binding.salt,
  };
  const value = action as unknown as JsonObject; // An Action is plain JSON; the interface only names its members.
  const bytes = canonicalJson(deepFreeze(value));
  const effect: JsonObject = {
    tool: tool.name,
    resource: { type: resource.type, id: resource.id },
    arguments: proposed.arguments,
  };
  return {
    action,
    bytes,
    digest: digestText(ACTION_DOMAIN, bytes),
    contentDigest: digestOf("writ.content.v1", {
      ...effect,
      ...(proposed.expectedVersion === undefined ? {} : { expectedVersion: proposed.expectedVersion }),
      ...(proposed.compensates === undefined ? {} : { compensates: proposed.compensates }),
    }),
    effectDigest: keyedDigest(binding.tenantKey, "writ.effect.v1", effect),
  };
}

/** Do the stored bytes still hash to the digest that was authorized? */
export function digestHolds(bytes: string, digest: string): boolean {
  return digestText(ACTION_DOMAIN, bytes) === digest;
}

/** The stored bytes as a value. They were written by `freezeAction`; the digest is checked before anybody reads them. */
export function thawAction(bytes: string): Action {
  return deepFreeze(JSON.parse(bytes) as JsonObject) as unknown as Action; // See above.
}

// An ASCII allow list: no separators, no encodings, nothing that looks like something else.
const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9_.:@~-]{0,127}$/;

/** The resource that the arguments name. A segment that could be read as another resource is refused. */
export function resourceOf(rule: ResourceRule, args: JsonObject): Action["resource"] {
  return {
    type: rule.type,
    id: render(rule.id, args),
    parents: rule.parents.map((parent) => ({ type: parent.type, id: render(parent.id, args) })),
  };
}

function render(template: string, args: JsonObject): string {
  return template.replaceAll(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => segment(name, args[name]));
}

function segment(name: string, value: Json | undefined): string {
  const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== "string" || !SEGMENT.test(text)) {
    throw new Problem(
      "invalid",
      `"${name}" names a resource and must be 1-128 of A-Z a-z 0-9 _ . : @ ~ -, beginning with a letter, a digit or "_"`,
      {
        at: `/arguments/${name}`,
      },
    );
  }
  return text;
}
