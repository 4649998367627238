import { ASKING } from "./mistakes-in-asking.ts";
import { IDENTITY } from "./mistakes-in-identity.ts";
import { RECORDING } from "./mistakes-in-recording.ts";
import { SENDING } from "./mistakes-in-sending.ts";
import { REAL, type Rules } from "./rules.ts";
import type { Variant } from "./variant.ts";

/** Every mistake that the model must see. One that it does not see makes the test fail: then the model is blind. */
export const VARIANTS: readonly Variant[] = [...SENDING, ...IDENTITY, ...ASKING, ...RECORDING];

export function rulesOf(variant: Variant): Rules {
  return { ...REAL, ...variant.rules };
}
