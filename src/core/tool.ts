import { type Contract, contractValue } from "./contract.ts";
import { digestOf } from "./digest.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Limit } from "./limits.ts";

/** Where the resource's id stands: literal text and `{argument}` segments. */
export interface ResourceRule {
  readonly type: string;
  readonly id: string;
  readonly parents: readonly { readonly type: string; readonly id: string }[];
}

/** One kind of write that Writ offers. Versioned by content. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly provider: string;
  /** JSON Schema (2020-12 or draft-07) of the arguments. */
  readonly input: JsonObject;
  readonly resource: ResourceRule;
  readonly expectedVersion: "required" | "optional" | "none";
  /** Connector-specific: what "perform" and "read" mean on a database. */
  readonly sql?: { readonly perform: string; readonly read?: string };
  readonly contract: Contract;
  /** Reserved with the first claim of each operation. */
  readonly limits?: readonly Limit[];
  /** How long one permission lives, in milliseconds. */
  readonly permissionForMs: number;
  /** How long a proposal waits for people, in milliseconds. */
  readonly reviewForMs: number;
  readonly autonomy: "drilled" | "allowed" | "never";
  readonly lookalikes: "principal" | "tenant" | "off";
  readonly intentKey: "required" | "optional";
  readonly reversible: boolean;
  /** The scratch resource of `writ probe`, by the arguments that write to it. Nothing else is ever probed. */
  readonly probe?: { readonly arguments: JsonObject };
}

/** The name by content of a tool together with its contract. */
export function toolDigest(tool: Tool): string {
  const { contract, ...rest } = tool;
  return digestOf("writ.tool.v1", { tool: rest as unknown as JsonObject, contract: contractValue(contract) });
}

/** The schema's declared defaults for absent top-level members, applied before anything is shown, digested or decided. */
export function withDefaults(schema: JsonObject, given: JsonObject): JsonObject {
  const properties = schema.properties;
  if (properties === null || typeof properties !== "object" || Array.isArray(properties)) return given;
  const filled: Record<string, Json> = { ...given };
  for (const [name, rule] of Object.entries(properties as JsonObject)) {
    if (Object.hasOwn(filled, name) || rule === null || typeof rule !== "object" || Array.isArray(rule))
      continue;
    const value = (rule as JsonObject).default;
    if (value !== undefined) filled[name] = value;
  }
  return filled;
}
