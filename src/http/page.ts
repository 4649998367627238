import { Type } from "typebox";

const PAGE_DEFAULT = 50;

export const PAGE_LIMIT = Type.Optional(
  Type.String({ pattern: "^(?:[1-9][0-9]?|100)$", description: "How many, 1 to 100; 50 without it." }),
);

export function sizeOf(limit: string | undefined): number {
  return limit === undefined ? PAGE_DEFAULT : Number(limit);
}

/** One page of what was read with one more than it shows. */
export function pageOf<Row extends { readonly id: string }>(
  found: readonly Row[],
  size: number,
): { readonly shown: readonly Row[]; readonly more: { readonly cursor?: string } } {
  const shown = found.slice(0, size);
  const last = found.length > size ? shown.at(-1) : undefined;
  return { shown, more: last === undefined ? {} : { cursor: last.id } };
}
