import { positiveOf, type Written } from "../core/written.ts";
import { type CommonSettings, commonOf } from "./provider-common.ts";
import { type Surroundings, secretOf } from "./secret.ts";

/** How to reach a PostgreSQL that is not the ledger's. Holds secrets: never printed, logged or answered. */
export interface MarkerProvider extends CommonSettings {
  readonly url: string;
  readonly connectMs?: number;
}

/** The settings of one; `database` is the reference to its connection string. */
export function markerOf(
  database: Written,
  given: Readonly<Record<string, Written>>,
  around: Surroundings,
): MarkerProvider {
  return {
    url: secretOf(database, around),
    ...(given.connect === undefined ? {} : { connectMs: positiveOf(given.connect) }),
    ...commonOf(given, around),
  };
}
