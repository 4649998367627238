import { OF_ASKING } from "./classes-of-asking.ts";
import { OF_IDENTITY } from "./classes-of-identity.ts";
import type { ContractClass } from "./contract-class.ts";

/** Every class of contracts that the model visits. */
export const CLASSES: readonly ContractClass[] = [...OF_IDENTITY, ...OF_ASKING];

export function classNamed(name: string): ContractClass {
  const found = CLASSES.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no class of contracts is called "${name}"`);
  return found;
}
