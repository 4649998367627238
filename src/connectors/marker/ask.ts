import type { Json, JsonObject } from "../../core/json.ts";
import type { Message } from "../../core/message.ts";
import type { Statement } from "../../service/ledger-port.ts";
import { renderValue, type Subject, unwritable } from "../variable.ts";

/** The row that stands for one operation. */
export interface Marker {
  readonly tenant: string;
  readonly operation: string;
  readonly digest: string;
}

/** What is done in the one transaction besides the marker. */
export interface Effect {
  readonly perform: Statement;
  readonly read?: Statement;
  /** The version that the tool's SQL compares; absent where the tool names none. */
  readonly version?: string;
}

export type MarkerAsk =
  | { readonly kind: "perform"; readonly marker: Marker; readonly effect: Effect }
  | { readonly kind: "find"; readonly marker: Marker }
  | { readonly kind: "bar"; readonly marker: Marker };

/** Where the tool's statements ride along with a message: a name that no contract can write. */
export const EFFECT_MEMBER = "effect";

/** Throws `invalid` for a message that this action cannot fill. */
export function markerAskOf(message: Message, subject: Subject): MarkerAsk {
  const { [EFFECT_MEMBER]: effect, ...written } = message;
  const [[kind, members] = ["", null]] = Object.entries(renderValue(written, subject) as JsonObject); // A message is an object.
  const given = members as JsonObject; // Its grammar says so.
  const marker = {
    tenant: textIn(given.tenant, "the tenant"),
    operation: textIn(given.operation, "the operation"),
    digest: kind === "find" ? "" : textIn(given.digest, "the digest"),
  };
  if (kind === "find" || kind === "bar") return { kind, marker };
  if (kind !== "perform" || effect === undefined) return unwritable("there is no statement to perform");
  return { kind, marker, effect: effect as unknown as Effect }; // Put there by `marker.ts`, not by a contract.
}

function textIn(value: Json | undefined, what: string): string {
  return typeof value === "string" && value !== "" ? value : unwritable(`${what} is not a text`);
}
