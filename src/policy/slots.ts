import { setFlagsFromString } from "node:v8";
import { preparsePolicySet, preparseSchema } from "@cedar-policy/cedar-wasm/nodejs";
import { digestText } from "../core/digest.ts";
import type { Schema } from "./model.ts";

/** Policies with the schema of their requests, under the names that Cedar keeps them by. */
export interface Slot {
  readonly policies: string;
  readonly schema: string;
}

export interface Preparsed {
  readonly policies: Readonly<Record<string, string>>;
  readonly schema: Schema;
}

// Node 20 (V8 11.3) ends the process with "unreachable code" when a hot call into WebAssembly that it had inlined is taken back while it
// runs; the test of the verdict cache met it within 10,000 evaluations. The call costs thousands of times what inlining saves.
setFlagsFromString("--no-turbo-inline-js-wasm-calls");

// Cedar keeps what was parsed for as long as the thread lives and has no way to drop any of it; a name that is used again replaces.
const SLOTS_MAX = 512;

/** Which content stands under which number, the least lately used first. One for the whole process, as Cedar's memory is. */
const STANDING = new Map<string, number>();

/** Names a set by content, once for all the times that it is evaluated. */
export function nameOfSet({ policies, schema }: Preparsed): string {
  return digestText("writ.policy.slot.v1", JSON.stringify([Object.entries(policies), schema]));
}

/** Where the set stands, parsed. Throws where Cedar does not take it. The answer holds until the next call. */
export function slotOf(name: string, set: Preparsed): Slot {
  const known = STANDING.get(name);
  if (known !== undefined) {
    STANDING.delete(name);
    STANDING.set(name, known);
    return slot(known);
  }
  const number = freeNumber();
  const made = slot(number);
  const schema = preparseSchema(made.schema, set.schema);
  if (schema.type === "failure")
    throw new Error(`the schema does not parse: ${schema.errors[0]?.message ?? ""}`);
  const policies = preparsePolicySet(made.policies, { staticPolicies: { ...set.policies } });
  if (policies.type === "failure")
    throw new Error(`the policies do not parse: ${policies.errors[0]?.message ?? ""}`);
  STANDING.set(name, number);
  return made;
}

function freeNumber(): number {
  if (STANDING.size < SLOTS_MAX) return lowestFree();
  const [oldest] = STANDING;
  if (oldest === undefined) return 0;
  STANDING.delete(oldest[0]);
  return oldest[1];
}

/** Where a set was not taken, its number is free and others beyond it are not. */
function lowestFree(): number {
  const taken = new Set(STANDING.values());
  for (let number = 0; number < SLOTS_MAX; number++) if (!taken.has(number)) return number;
  return 0;
}

function slot(number: number): Slot {
  return { policies: `set-${number}`, schema: `schema-${number}` };
}
